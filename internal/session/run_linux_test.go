package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

func TestX1_Foreground(t *testing.T) {
	table := openTable(t, Options{})
	tests := []struct {
		name, text string
		code       int
		signal     string
		check      func(string) bool
	}{
		{"pro-0002 last block before the exit", "seq 1 20000; exit 3", 3, "", func(s string) bool { return strings.HasSuffix(s, "\n20000\n") }},
		{"pro-0012 ends inside a character", `printf '\344\270'`, 0, "", func(s string) bool { return s == "\uFFFD\uFFFD" }},
		{"pro-0034 one long line", "printf '%0100000d' 0", 0, "", func(s string) bool { return s == strings.Repeat("0", 100_000) }},
		{"pro-0035 no input", "cat", 0, "", func(s string) bool { return s == "" }},
		{"pro-0038 signal", "kill -SEGV $$", 0, "SIGSEGV", func(s string) bool { return s == "" }},
		{"X-4 one order", "echo a; echo b >&2; echo c", 0, "", func(s string) bool { return s == "a\nb\nc\n" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := run(t, table, script(t, tt.text))
			if !tt.check(snap.Output) {
				t.Errorf("output of %d bytes, %.80q", len(snap.Output), snap.Output)
			}
			if tt.signal != "" {
				if snap.Signal != tt.signal || snap.ExitCode != nil {
					t.Errorf("signal %q, exit %s", snap.Signal, codeOf(snap.State))
				}
				return
			}
			exited(t, snap.State, protocol.StatusCompleted, tt.code)
		})
	}
}

// pro-0032: a large output is capped, says so, and does not fill the memory.
func TestX5_LargeOutput(t *testing.T) {
	table := openTable(t, Options{})
	const size = 50_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	snap, err := table.Run(context.Background(), RunRequest{
		Plan:  script(t, "head -c 50000000 /dev/zero | tr '\\0' x", func(p *Plan) { p.LogMaxBytes = 32 << 20 }),
		Yield: -1, MaxChars: 200_000,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 4<<20 {
		t.Errorf("%d bytes of memory are held", got)
	}
	if snap.Bytes != size || snap.Dropped == 0 || snap.Bytes-snap.Dropped > 32<<20+64<<10 {
		t.Errorf("%d bytes, %d dropped", snap.Bytes, snap.Dropped)
	}
	if shown := int64(strings.Count(snap.Output, "x")); shown+snap.Omitted != size+int64(strings.Count(note(snap), "x")) {
		t.Errorf("%d shown and %d left out are not %d", shown, snap.Omitted, size)
	}
	if !snap.Background {
		t.Error("a cut result cannot be asked for again")
	}
}

// note is the line that says what is missing.
func note(snap Snapshot) string {
	_, rest, ok := strings.Cut(snap.Output, "[")
	line, _, _ := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return line
}

// pro-0045: a missing folder is an error, and nothing is left in the table.
func TestRun_MissingFolder(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "echo ran")
	p.Dir = filepath.Join(p.Dir, "missing")
	if _, err := table.Run(context.Background(), RunRequest{Plan: p}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	if n, _ := table.Counts(context.Background()); n != (Counts{}) {
		t.Errorf("%+v", n)
	}
	p.Dir = t.TempDir()
	run(t, table, p) // the id is free again
}

// pro-0005, pro-0006: a time-out ends the tree, children with sessions of their own too.
func TestX6_Timeout(t *testing.T) {
	table := openTable(t, Options{})
	for _, text := range []string{
		"sleep 300 & echo $! >pid; wait",
		"setsid bash -c 'echo $$ >pid; exec sleep 300' & wait",
		"trap '' TERM; bash -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 300; done'",
	} {
		p := script(t, text, func(p *Plan) { p.Timeout = 1500 * time.Millisecond })
		snap := run(t, table, p)
		if !snap.TimedOut || snap.Status != protocol.StatusFailed {
			t.Errorf("%s: %s, timed out %t", text, snap.Status, snap.TimedOut)
		}
		waitGone(t, pidIn(t, p.Dir, "pid"))
	}
}

// pro-0028: no limit.
func TestX6_NoTimeout(t *testing.T) {
	table := openTable(t, Options{})
	if snap := run(t, table, script(t, "sleep 0.3; echo done")); snap.Output != "done\n" || snap.TimedOut {
		t.Errorf("output %q, timed out %t", snap.Output, snap.TimedOut)
	}
}

func TestX7_Cancel(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "setsid bash -c 'echo $$ >pid; exec sleep 300' & echo started; wait")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		pidIn(t, p.Dir, "pid")
		cancel()
	}()
	snap, err := table.Run(ctx, RunRequest{Plan: p, Yield: -1, MaxChars: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Status != protocol.StatusCancelled || snap.Output != "started\n" {
		t.Errorf("%s, output %q", snap.Status, snap.Output)
	}
	waitGone(t, pidIn(t, p.Dir, "pid"))

	p = script(t, "cat", background) // in the background it goes on
	ctx, cancel = context.WithCancel(context.Background())
	if _, err := table.Run(ctx, RunRequest{Plan: p}, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	if st, _ := table.Get(context.Background(), agent, p.ID); st.Finished() {
		t.Errorf("ended as %s with its caller", st.Status)
	}
	if _, err := table.Run(ctx, RunRequest{Plan: script(t, "echo never")}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled caller starts a command: %v", err)
	}
}

// pro-0025: yield, then poll.
func TestX2_Yield(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "echo early; until [ -e go ]; do sleep 0.02; done; echo late")
	snap, err := table.Run(context.Background(), RunRequest{Plan: p, Yield: 200 * time.Millisecond, TailTo: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Status != protocol.StatusRunning || snap.Pid == 0 || !snap.Background {
		t.Fatalf("state %+v", snap.State)
	}
	if err := os.WriteFile(filepath.Join(p.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, st := pollAll(t, table, p.ID)
	if out != "early\nlate\n" {
		t.Errorf("output %q", out)
	}
	exited(t, st, protocol.StatusCompleted, 0)
}

// pro-0026: handed over at once, even if it is quicker.
func TestX2_Background(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "echo quick", background)
	snap, err := table.Run(context.Background(), RunRequest{Plan: p, TailTo: 100}, nil)
	if err != nil || snap.ID != p.ID || !snap.Background {
		t.Fatalf("%+v, %v", snap.State, err)
	}
	out, st := pollAll(t, table, p.ID)
	if out != "quick\n" {
		t.Errorf("output %q", out)
	}
	exited(t, st, protocol.StatusCompleted, 0)
}

func TestX4_Streams(t *testing.T) {
	table := openTable(t, Options{})
	snap := run(t, table, script(t, "for i in 1 2 3; do echo o$i; echo e$i >&2; done", func(p *Plan) { p.Streams = true }))
	if snap.Stdout != "o1\no2\no3\n" || snap.Stderr != "e1\ne2\ne3\n" || len(snap.Output) != 18 {
		t.Errorf("stdout %q, stderr %q, output %q", snap.Stdout, snap.Stderr, snap.Output)
	}
	chunk, err := table.Read(context.Background(), ReadRequest{Agent: agent, ID: snap.ID, Stream: "stderr", Offset: 3, Max: 100})
	if err != nil || string(chunk.Data) != "e2\ne3\n" || !chunk.End {
		t.Errorf("read %+v, %v", chunk, err)
	}
}

// pro-0029: each call has a terminal of its own.
func TestRun_TwoTerminals(t *testing.T) {
	table := openTable(t, Options{})
	pty := func(p *Plan) { p.PTY = true }
	one, two := run(t, table, script(t, "tty; echo one", pty)), run(t, table, script(t, "tty; echo two", pty))
	if strings.Contains(two.Output, "one") || !strings.HasSuffix(two.Output, "two\r\n") || !strings.HasPrefix(one.Output, "/dev/") {
		t.Errorf("outputs %q and %q", one.Output, two.Output)
	}
}

// pro-0009, pro-0049: nothing of the pipes is left.
func TestX6_NoZombies(t *testing.T) {
	table := openTable(t, Options{})
	for range 5 {
		run(t, table, script(t, "ps aux | grep nosuchthing | grep -v grep; for i in 1 2 3 4 5; do sleep 0.05 & done; exit 0"))
	}
	waitFor(t, "no child", func() bool { return len(children(t)) == 0 })
}

// children returns the pids of this program's children, zombies included.
func children(t testing.TB) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		out = append(out, strings.Fields(string(data))...)
	}
	return out
}

func TestX22_Limits(t *testing.T) {
	table := openTable(t, Options{MaxRunning: 3})
	two := func(p *Plan) { p.MaxRunning = 2 }
	first := start(t, table, script(t, "cat", background, two))
	start(t, table, script(t, "cat", background, two))
	var limit *LimitError
	if _, err := table.Start(script(t, "cat", background, two)); !errors.As(err, &limit) || limit.Max != 2 || limit.Agent != agent {
		t.Errorf("third of an agent: %v", err)
	}
	start(t, table, script(t, "cat", background, two, func(p *Plan) { p.Agent = "other" }))
	if _, err := table.Start(script(t, "cat", background, func(p *Plan) { p.Agent = "another" })); !errors.As(err, &limit) || limit.Max != 3 || limit.Agent != "" {
		t.Errorf("fourth of all: %v", err)
	}
	if _, err := table.Start(script(t, "cat", func(p *Plan) { p.ID = first.ID })); !errors.Is(err, ErrDuplicate) {
		t.Errorf("an id twice: %v", err)
	}
	if _, _, err := table.Kill(context.Background(), agent, first.ID); err != nil {
		t.Fatal(err)
	}
	start(t, table, script(t, "cat", background, two))
}
