package oracle

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

// TestOracleSees: the oracle itself notices what it is there for. A walk is held against a
// judgement that was changed in one place.
func TestOracleSees(t *testing.T) {
	y := newYard(t)
	for name, c := range map[string]struct {
		command, want string
		change        func(p *shell.Plan, list []want)
	}{
		"nothing":        {"git a; nice -n 1 ls b | sh -c 'cat; ./tool'; ./say x", "", func(*shell.Plan, []want) {}},
		"another file":   {"git a; ls b", "nothing like it", func(_ *shell.Plan, l []want) { l[1].steps[0].exe = y.bin + "/id" }},
		"a word":         {"git a b", "its words are", func(_ *shell.Plan, l []want) { l[0].steps[0].argv[2] = "c" }},
		"a word more":    {"git a", "its words are", func(_ *shell.Plan, l []want) { l[0].steps[0].argv = append(l[0].steps[0].argv, "c") }},
		"first words":    {"ls a $HOME", "its words are", func(_ *shell.Plan, l []want) { l[0].steps[0].argv[1] = "c" }},
		"directory":      {"ls; git a", "its directory is", func(_ *shell.Plan, l []want) { l[0].dir = y.dir }},
		"inside nice":    {"nice git a", "nothing like it", func(_ *shell.Plan, l []want) { l[0].steps[1].exe = y.bin + "/id" }},
		"under a noop":   {"nice git a", "nothing like it", func(_ *shell.Plan, l []want) { l[0].steps = l[0].steps[:1] }},
		"once too often": {"git a; git a", "more often", func(_ *shell.Plan, l []want) { l[1] = l[0]; l[1].steps = []step{{exe: "x"}} }},
		"the script":     {"./say x", "nothing like it", func(_ *shell.Plan, l []want) { l[0].steps[0].exe = y.work + "/say" }},
		"the environment": {"LANG=C git; git", "in its environment", func(*shell.Plan, []want) {
			y.env = append(y.env, "NOT=judged")
		}},
	} {
		env := y.env
		d := y.judge(c.command)
		if d.Plan == nil {
			t.Errorf("%s: %q: %s", name, c.command, d.Reason)
			continue
		}
		list := wants(d.Plan)
		c.change(d.Plan, list)
		w, err := y.walk(d.Plan, c.command, hangs)
		must(t, err)
		y.env = env
		if why := y.startFault(w, list, false); (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q: %q, want %q", name, c.command, why, c.want)
		}
	}
}

// TestModelRefuses: the second opinion is one.
func TestModelRefuses(t *testing.T) {
	y := newYard(t)
	for path, ok := range map[string]bool{
		y.bin + "/git": true, y.bin + "/id": false, y.work + "/tool": true, y.work + "/git": false, "/usr/bin/head": true, "/usr/bin/id": false, "/usr/bin/env": false,
		y.work + "/sub/tool": false, "/usr/bin/find": false, "/usr/bin/sh": false, y.bin + "/head": false,
	} {
		w := want{steps: []step{{exe: path, real: path, path: path, argv: []string{"x"}, exact: true}}}
		if why := y.model.refuses(&w); (why == "") != ok {
			t.Errorf("%s: %q", path, why)
		}
		w.steps = append([]step{{real: y.bin + "/git"}}, w.steps...)
		if y.model.refuses(&w) == "" {
			t.Errorf("%s may be started by git", path)
		}
		if w.steps[0].real = "/usr/bin/nice"; (y.model.refuses(&w) == "") != ok {
			t.Errorf("%s by nice: %q", path, y.model.refuses(&w))
		}
	}
}

// TestTraceSeesAll: programs, what they fork and start, and what runs on when they end.
func TestTraceSeesAll(t *testing.T) {
	y := newYard(t)
	text := "git a & (ls b; setsid cat c &) ; x=$(id); exec ./work/tool d"
	r := run{path: "/bin/sh", argv: []string{"sh", "-c", text}, env: y.env, dir: y.dir, limit: hangs, starts: maxStarts, files: []uintptr{y.null.Fd(), y.null.Fd(), y.null.Fd()}}
	list, cut, err := trace(r)
	must(t, err)
	got := map[string]string{}
	for _, s := range list {
		got[s.exe] = strings.Join(s.argv, " ")
		if s.cwd != y.dir {
			t.Errorf("%s in %s", s.exe, s.cwd)
		}
	}
	want := map[string]string{y.bin + "/git": "git a", y.bin + "/ls": "ls b", "/usr/bin/setsid": "setsid cat c", y.bin + "/cat": "cat c", y.bin + "/id": "id", y.work + "/tool": "./work/tool d"}
	for exe, argv := range want {
		if got[exe] != argv {
			t.Errorf("%s: %q, want %q", exe, got[exe], argv)
		}
	}
	if len(list) != len(want)+1 || cut {
		t.Errorf("%d starts, want %d; cut %v", len(list), len(want)+1, cut)
	}
}

// TestTraceEnds: what goes on for ever is ended, with all that came of it.
func TestTraceEnds(t *testing.T) {
	y := newYard(t)
	r := run{path: "/bin/sh", env: y.env, dir: y.dir, limit: 300 * time.Millisecond, starts: 20, files: []uintptr{y.null.Fd(), y.null.Fd(), y.null.Fd()}}
	for _, text := range []string{"while :; do :; done", "while :; do git & done", "setsid /usr/bin/sleep 60 & wait", "/usr/bin/sleep 60 & /usr/bin/sleep 60"} {
		r.argv = []string{"sh", "-c", text}
		begun := time.Now()
		if _, cut, err := trace(r); err != nil || !cut || time.Since(begun) > 10*time.Second {
			t.Errorf("%q: cut %v, %v, after %v", text, cut, err, time.Since(begun))
		}
	}
	if _, _, err := trace(run{path: y.dir + "/none", argv: []string{"none"}, limit: hangs}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestMinimise: what is left is what fails, and nothing can be taken out of it.
func TestMinimise(t *testing.T) {
	fails := func(s string) bool { return strings.Contains(s, "id") && strings.Contains(s, ";") }
	if got := minimise("git status -la && ls 'a b'; nice -n 5 id --x | head", fails); got != ";id" {
		t.Errorf("%q", got)
	}
	if got := minimise("é\xff; \u200bid", fails); got != ";id" {
		t.Errorf("%q", got)
	}
}

// TestSameWalk: spellings of one walk are one, other walks are not.
func TestSameWalk(t *testing.T) {
	y := newYard(t)
	plan := func(s string) *shell.Plan {
		d := y.judge(s)
		if d.Outcome != policy.OutcomeAllow {
			t.Fatalf("%q: %s", s, d.Reason)
		}
		return d.Plan
	}
	for other, same := range map[string]bool{"git  'a' | ls": true, "git \\\n$'a'|ls # x": true, "git a | cat": false, "git b | ls": false, "git a; ls": false, "git a |& ls": false} {
		if (sameWalk(y, plan("git a | ls")) == sameWalk(y, plan(other))) != same {
			t.Errorf("%q: want the same: %v", other, same)
		}
	}
}
