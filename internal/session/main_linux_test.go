package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/protocol"
)

// deadline bounds every wait of these tests; a loaded machine needs seconds for things
// that take a millisecond.
const deadline = 60 * time.Second

// agent owns the sessions of these tests unless they say otherwise.
const agent = "tester"

// helperEnv makes the test binary play another program of ours.
const helperEnv = "SESSION_TEST_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		if err := helper(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// openTable opens a table and closes it when the test ends. There is one at a time in a
// program: two would reap each other's children.
func openTable(t testing.TB, opt Options) *Table {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	table, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTable(t, table) })
	return table
}

func closeTable(t testing.TB, table *Table) {
	t.Helper()
	within(t, "the end of Close", func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
}

// script is a plan that runs text in bash.
func script(t testing.TB, text string, change ...func(*Plan)) Plan {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("these tests need bash: %v", err)
	}
	p := Plan{
		ID: NewID() + "-" + strconv.FormatInt(time.Now().UnixNano(), 36), Agent: agent, Host: "gateway", Command: text,
		Steps: []Step{{Path: bash, Argv: []string{"bash", "-c", text}}},
		Dir:   t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "LC_ALL=C.UTF-8", "TERM=xterm-256color"},
		Retain: time.Hour, IdleInput: time.Hour, LogMaxBytes: 64 << 20,
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func background(p *Plan) { p.Background, p.Stdin = true, true }
func onTerminal(p *Plan) { p.PTY, p.Background = true, true }
func notify(p *Plan)     { p.Background, p.Notify = true, true }

func start(t testing.TB, table *Table, p Plan) State {
	t.Helper()
	st, err := table.Start(p)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// run runs a plan in the foreground to its end.
func run(t testing.TB, table *Table, p Plan) Snapshot {
	t.Helper()
	var snap Snapshot
	within(t, "the end of "+p.Command, func() {
		var err error
		if snap, err = table.Run(context.Background(), RunRequest{Plan: p, Yield: -1, MaxChars: 200_000}, nil); err != nil {
			t.Error(err)
		}
	})
	return snap
}

// ended waits for the end of a session.
func ended(t testing.TB, table *Table, id string) State {
	t.Helper()
	st, err := table.Wait(context.Background(), AnyAgent, id, deadline)
	if err != nil {
		t.Fatal(err)
	}
	if !st.Finished() {
		t.Fatalf("%s (%s) has not ended", id, st.Command)
	}
	return st
}

// poll polls once.
func poll(t testing.TB, table *Table, id string, wait time.Duration) Snapshot {
	t.Helper()
	snap, err := table.Poll(context.Background(), agent, id, wait, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// pollUntil polls until the output together contains text.
func pollUntil(t testing.TB, table *Table, id, text string) string {
	t.Helper()
	var out string
	for end := time.Now().Add(deadline); !strings.Contains(out, text); {
		snap := poll(t, table, id, time.Second)
		out += snap.Output
		if snap.Finished() && snap.Output == "" || time.Now().After(end) {
			t.Fatalf("no %q in the output %q (%s)", text, out, snap.Status)
		}
	}
	return out
}

// pollAll polls to the end and returns all that came.
func pollAll(t testing.TB, table *Table, id string) (string, State) {
	t.Helper()
	var out string
	for end := time.Now().Add(deadline); time.Now().Before(end); {
		snap := poll(t, table, id, time.Second)
		out += snap.Output
		if snap.Finished() {
			return out, snap.State
		}
	}
	t.Fatalf("%s has not ended; output so far %q", id, out)
	return "", State{}
}

// whole is the output as the log has it.
func whole(t testing.TB, table *Table, id string) string {
	t.Helper()
	page, err := table.Log(context.Background(), AnyAgent, id, 0, 0, 10_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return page.Output
}

// waitFor waits until cond is true.
func waitFor(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// within fails when f has not returned in time: a hang must not look like a slow test.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(deadline):
		buf := make([]byte, 1<<20)
		t.Fatalf("waited in vain for %s\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// exited checks the exit code.
func exited(t testing.TB, st State, status protocol.Status, code int) {
	t.Helper()
	if st.Status != status || st.ExitCode == nil || *st.ExitCode != code {
		t.Errorf("%s: status %s, exit %s, signal %q; want %s and %d", st.Command, st.Status, codeOf(st), st.Signal, status, code)
	}
}

func codeOf(st State) string {
	if st.ExitCode == nil {
		return "none"
	}
	return strconv.Itoa(*st.ExitCode)
}

// pidIn waits for a file with a pid and returns that pid.
func pidIn(t testing.TB, dir, name string) int {
	t.Helper()
	pid := 0
	waitFor(t, "a pid in "+name, func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		text, whole := strings.CutSuffix(string(data), "\n")
		n, err := strconv.Atoi(text)
		pid = n
		return whole && err == nil
	})
	return pid
}

// lives reports whether a process is there and not a zombie.
func lives(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(data), ") ")
	return ok && rest[0] != 'Z' && rest[0] != 'X'
}

func waitGone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		waitFor(t, fmt.Sprintf("the end of pid %d", pid), func() bool { return !lives(pid) })
	}
}

// endLater ends what a test leaves running.
func endLater(t testing.TB, pid int) {
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// listed is the list of an agent's sessions.
func listed(t testing.TB, table *Table, of string) []Listed {
	t.Helper()
	rows, err := table.List(context.Background(), of, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
