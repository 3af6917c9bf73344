package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// deadline bounds every wait of these tests; a loaded machine needs most of a second
// for things that take a millisecond.
const deadline = 30 * time.Second

// helperEnv makes the test binary play another program of ours.
const helperEnv = "PROC_TEST_HELPER"

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

func newStarter(t testing.TB) *Starter {
	t.Helper()
	s, err := NewStarter()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newPlainStarter is newStarter without cgroups: one that waits for its next command is
// a descriptor.
func newPlainStarter(t testing.TB) *Starter {
	t.Helper()
	s, err := newStarterIn("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func lookPath(t testing.TB, name string) string {
	t.Helper()
	if name == "python3" { // the system's own: one found on PATH may be a slow shim
		if _, err := os.Stat("/usr/bin/python3"); err == nil {
			return "/usr/bin/python3"
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("these tests need %s: %v", name, err)
	}
	return path
}

// testMarker is a marker that no other run of these tests uses.
func testMarker(t testing.TB) string {
	return strings.ReplaceAll(t.Name(), "/", "-") + "." + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(time.Now().UnixNano(), 36)
}

func script(t testing.TB, text string) Spec {
	t.Helper()
	path := lookPath(t, "bash")
	return Spec{Path: path, Argv: []string{path, "-c", text}, Env: testEnv(), Dir: t.TempDir(), Marker: testMarker(t)}
}

func python(t testing.TB, text string) Spec {
	t.Helper()
	path := lookPath(t, "python3")
	return Spec{Path: path, Argv: []string{path, "-c", text}, Env: testEnv(), Dir: t.TempDir(), Marker: testMarker(t)}
}

func testEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "LC_ALL=C.UTF-8"} }

// command is a started process with readers for its output.
type command struct {
	*Process
	t       testing.TB
	out     sink
	err     sink
	readers sync.WaitGroup
	waited  bool
}

func start(t testing.TB, s *Starter, spec Spec) *command {
	t.Helper()
	p, err := s.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := &command{Process: p, t: t}
	c.readers.Go(func() { c.out.readAll(p.Out) })
	if p.Err != nil {
		c.readers.Go(func() { c.err.readAll(p.Err) })
	}
	t.Cleanup(c.stop)
	return c
}

// wait returns how the process ended, and reads its output to the end.
func (c *command) wait() (Exit, bool) {
	c.t.Helper()
	c.waited = true
	type result struct {
		exit  Exit
		group bool
	}
	got := make(chan result, 1)
	go func() {
		exit, group := c.Wait()
		got <- result{exit, group}
	}()
	select {
	case r := <-got:
		return r.exit, r.group
	case <-time.After(deadline):
		c.t.Fatalf("pid %d has not ended", c.ref.Pid)
		return Exit{}, false
	}
}

func (c *command) stop() {
	c.End(c.t.Context(), 0)
	if !c.waited {
		c.wait()
	}
	c.Out.Interrupt()
	if c.Err != nil {
		c.Err.Interrupt()
	}
	c.readers.Wait()
	c.Out.Close()
	if c.Err != nil {
		c.Err.Close()
	}
}

// output waits for the process and everybody else that holds its output.
func (c *command) output() string {
	c.t.Helper()
	if !c.waited {
		c.wait()
	}
	c.readers.Wait()
	return c.out.String()
}

// sink collects output.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) readAll(o *Output) {
	for o.Read(s.add) == nil {
	}
	o.Drain(s.add)
}

func (s *sink) add(p []byte) {
	s.mu.Lock()
	s.buf.Write(p)
	s.mu.Unlock()
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
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

// waitOutput waits until the output contains text.
func (c *command) waitOutput(text string) {
	c.t.Helper()
	waitFor(c.t, fmt.Sprintf("output %q", text), func() bool { return strings.Contains(c.out.String(), text) })
}

// waitPid waits until a file in dir holds a pid and returns that process.
func waitPid(t testing.TB, dir, name string) stat {
	t.Helper()
	var st stat
	waitFor(t, "a pid in "+name, func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		text, whole := strings.CutSuffix(string(data), "\n")
		pid, err := strconv.Atoi(text)
		if !whole || err != nil {
			return false
		}
		var ok bool
		st, ok = readStat(pid)
		return ok
	})
	return st
}

// alive reports whether st is still that process and not a zombie.
func alive(st stat) bool {
	now, ok := readStat(st.pid)
	return ok && now.start == st.start && !now.zombie()
}

func waitGone(t testing.TB, st stat) {
	t.Helper()
	waitFor(t, fmt.Sprintf("the end of pid %d (%s)", st.pid, st.comm), func() bool { return !alive(st) })
}

// openFiles counts this process's descriptors.
func openFiles(t testing.TB) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
