//go:build unix

package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// realRunner keeps Runner's contract with os/exec.
func realRunner(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout = env, dir, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	read := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(r, int64(limit)))
		_, _ = io.Copy(io.Discard, r)
		read <- b
	}()
	waitErr := cmd.Wait()
	_ = r.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // a child left behind may hold the pipe
	return <-read, waitErr
}

// counting wraps a runner and counts its runs.
func counting(run Runner, n *atomic.Int32) Runner {
	return func(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
		n.Add(1)
		return run(ctx, argv, env, dir, limit)
	}
}

// needShell is the path of a shell these tests run for real.
func needShell(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if strings.Contains(os.Getenv("OPENCLAW_TEST_REQUIRE"), "shells") {
			t.Fatalf("%s is missing", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// machine is a home directory, a state directory and a Local on them.
type machine struct {
	*Local
	t       testing.TB
	home    string
	state   string
	environ []string
	clock   *atomic.Int64 // seconds added to the time
	runs    *atomic.Int32
}

func newMachine(t testing.TB, shell string, files map[string]string, more ...string) *machine {
	t.Helper()
	m := &machine{t: t, home: t.TempDir(), state: t.TempDir(), clock: new(atomic.Int64), runs: new(atomic.Int32)}
	for name, text := range files {
		m.write(name, text)
	}
	m.environ = append([]string{"SHELL=" + shell, "HOME=" + m.home, "LANG=C"}, more...)
	m.reopen(realRunner, 0)
	t.Cleanup(func() { m.Close() })
	return m
}

func (m *machine) reopen(run Runner, limit time.Duration) {
	if m.Local != nil {
		m.Close()
	}
	m.Local = New(Options{
		StateDir: m.state, Environ: m.environ, Run: counting(run, m.runs), CaptureLimit: limit,
		Now: func() time.Time { return time.Now().Add(time.Duration(m.clock.Load()) * time.Second) },
	})
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	path := m.home + "/" + name
	if err := os.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// run prepares and runs a command for real and returns what it printed, stderr too.
func (m *machine) run(r Request) (string, *Launch) {
	m.t.Helper()
	if r.DefaultDir == "" {
		r.DefaultDir = m.home
	}
	launch, err := m.Prepare(context.Background(), r)
	if err != nil {
		m.t.Fatalf("Prepare(%q): %v", r.Command, err)
	}
	return start(m.t, launch), launch
}

func start(t testing.TB, launch *Launch) string {
	t.Helper()
	cmd := exec.Command(launch.Argv[0], launch.Argv[1:]...)
	cmd.Env, cmd.Dir = launch.Env, launch.Dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("start %q: %v", launch.Argv, err)
		}
	}
	return out.String()
}

func (m *machine) path(prepend ...string) ([]string, []string) {
	m.t.Helper()
	path, warnings, err := m.Path(context.Background(), prepend)
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(path, ":"), warnings
}

func wantEntries(t testing.TB, path []string, entries ...string) {
	t.Helper()
	at := -1
	for _, entry := range entries {
		i := slices.Index(path, entry)
		if i <= at {
			t.Fatalf("PATH %q: want %q, in this order", path, entries)
		}
		at = i
	}
}
