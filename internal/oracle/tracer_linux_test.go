package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// started is one program start as the kernel made it. It is read from /proc while the new
// program stands before its first instruction, so that it does not matter by which path,
// link or descriptor it was started: what strace prints is what was asked for, and
// /proc/self/fd/7 says nothing.
type started struct {
	exe, cwd  string
	argv, env []string
	before    *started // what the process, or the one that it is a fork of, ran before
}

// run says what to trace.
type run struct {
	path, dir string
	argv, env []string
	files     []uintptr
	limit     time.Duration
	starts    int // after this many all is killed
}

// tracer follows one program and all that comes of it. It belongs to one OS thread, as
// ptrace does.
type tracer struct {
	list []*started

	mu   sync.Mutex       // guards what is below
	pids map[int]*started // what each runs
	held map[int]bool     // children that were seen before their parent told of them
	over bool
}

// trace runs a program to its end and returns every start, the program's own first. cut
// says that a limit ended it.
func trace(r run) (list []*started, cut bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(r.path, r.argv, &syscall.ProcAttr{
		Dir: r.dir, Env: r.env, Files: r.files, Sys: &syscall.SysProcAttr{Ptrace: true, Setsid: true},
	})
	if err != nil {
		return nil, false, fmt.Errorf("start %s: %w", r.path, err)
	}
	t := &tracer{held: map[int]bool{}, pids: map[int]*started{}}
	var ws syscall.WaitStatus
	if _, err := wait(pid, &ws); err != nil || !ws.Stopped() {
		return nil, false, fmt.Errorf("%s did not stop at its start: %w", r.path, err)
	}
	const options = syscall.PTRACE_O_TRACEEXEC | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACECLONE | 0x100000 // EXITKILL
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = wait(pid, &ws)
		return nil, false, fmt.Errorf("trace %s: %w", r.path, err)
	}
	t.exec(pid)
	t.resume(pid, 0)
	stop := time.AfterFunc(r.limit, t.kill)
	defer stop.Stop()
	for {
		pid, err := wait(-1, &ws)
		switch {
		case errors.Is(err, syscall.ECHILD):
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.list, t.over, nil
		case err != nil:
			return nil, false, fmt.Errorf("wait for what is traced: %w", err)
		case !ws.Stopped():
			t.mu.Lock()
			delete(t.pids, pid)
			t.mu.Unlock()
		default:
			t.stopped(pid, ws)
		}
		if len(t.list) > r.starts {
			t.kill()
		}
	}
}

// wait waits for children of this thread only: other tests have theirs.
func wait(pid int, ws *syscall.WaitStatus) (int, error) {
	for {
		got, err := syscall.Wait4(pid, ws, syscall.WALL|syscall.WNOTHREAD, nil)
		if !errors.Is(err, syscall.EINTR) {
			return got, err
		}
	}
}

// kill ends all that is traced.
func (t *tracer) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for pid := range t.pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for pid := range t.held {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// stopped handles one stop of one process or thread.
func (t *tracer) stopped(pid int, ws syscall.WaitStatus) {
	t.mu.Lock()
	_, known := t.pids[pid]
	wait := !known && !t.over // new, and its parent has not told of it yet
	if wait {
		t.held[pid] = true
	}
	t.mu.Unlock()
	sig := ws.StopSignal()
	switch cause := ws.TrapCause(); {
	case wait:
		return
	case sig == syscall.SIGTRAP && cause == syscall.PTRACE_EVENT_EXEC:
		t.exec(pid)
		sig = 0
	case sig == syscall.SIGTRAP && cause > 0:
		if child, err := syscall.PtraceGetEventMsg(pid); err == nil {
			t.born(pid, int(child))
		}
		sig = 0
	case sig == syscall.SIGSTOP: // a new one's first
		sig = 0
	}
	t.resume(pid, sig)
}

// born notes a child under what its parent runs.
func (t *tracer) born(parent, child int) {
	t.mu.Lock()
	t.pids[child] = t.pids[parent]
	waits := t.held[child]
	delete(t.held, child)
	t.mu.Unlock()
	if waits {
		t.resume(child, 0)
	}
}

func (t *tracer) resume(pid int, sig syscall.Signal) {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if over {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = syscall.PtraceCont(pid, int(sig)) // it may be gone already
}

// exec notes what a process has become.
func (t *tracer) exec(pid int) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	s := &started{argv: zeroEnded(proc + "/cmdline"), env: zeroEnded(proc + "/environ")}
	s.exe, _ = os.Readlink(proc + "/exe") // "" is named by no judgement
	s.cwd, _ = os.Readlink(proc + "/cwd")
	t.mu.Lock()
	s.before = t.pids[pid]
	t.pids[pid] = s
	t.mu.Unlock()
	t.list = append(t.list, s)
}

func zeroEnded(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}
