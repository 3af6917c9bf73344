package proc

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 22 333 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 4711 1 2"
	for _, c := range []struct {
		line, comm string
		ok         bool
	}{
		{"9 (sleep)" + rest, "sleep", true},
		{"9 (a b)" + rest, "a b", true},
		{"9 (x) S 9 (y)" + rest, "x) S 9 (y", true},
		{"9 (line\nbreak)" + rest, "line\nbreak", true},
		{"9 ()" + rest, "", true},
		{"", "", false},
		{"9 )(" + rest, "", false},
		{"9 (sleep) S 1 2", "", false},
		{"9 (sleep)" + strings.Replace(rest, "4711", "x", 1), "", false},
	} {
		st, ok := parseStat(9, []byte(c.line))
		want := stat{pid: 9, state: 'S', ppid: 1, pgrp: 22, sid: 333, threads: 3, start: 4711, comm: c.comm}
		if ok != c.ok || ok && st != want {
			t.Errorf("%q: %+v, %v", c.line, st, ok)
		}
	}
}

func TestZombie(t *testing.T) {
	for st, want := range map[stat]bool{
		{state: 'S', threads: 1}: false,
		{state: 'Z', threads: 1}: true,
		{state: 'Z', threads: 0}: true,
		{state: 'Z', threads: 2}: false, // the first thread has ended, another runs
		{state: 'X', threads: 2}: true,
	} {
		if st.zombie() != want {
			t.Errorf("%c with %d threads: %v", st.state, st.threads, !want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	if data, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(data)
	}
	f.Add([]byte("9 (x) S"))
	f.Add([]byte("9 (x)  S 1 22 333 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 4711"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if st, ok := parseStat(5, data); ok && (st.pid != 5 || st.state == 0) {
			t.Errorf("%+v", st)
		}
	})
}

func TestDescribe(t *testing.T) {
	s := newStarter(t)
	path := lookPath(t, "sleep")
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"sleep", "300"}, "sleep 300"},
		{[]string{"a\nb\xff", "300"}, "a\nb? 300"},
		{[]string{"sleep", "300" + strings.Repeat("0", 20)}, "sleep 300" + strings.Repeat("0", 20)},
		{append([]string{strings.Repeat("é", 60)}, "300"), strings.Repeat("é", 38) + "..."},
	} {
		p := start(t, s, Spec{Path: path, Argv: c.argv, Dir: "/"})
		var name string
		waitFor(t, "exec", func() bool {
			st, ok := readStat(p.ref.Pid)
			name = describe(p.ref.Pid, st)
			return ok && name == c.want // comm and the command line change one after the other
		})
		if name != c.want || len(name) > 80 || !utf8.ValidString(name) {
			t.Errorf("%q, want %q", name, c.want)
		}
		p.stop()
	}
	if got := describe(1<<30, stat{comm: "gone"}); got != "gone" {
		t.Errorf("%q", got)
	}
}
