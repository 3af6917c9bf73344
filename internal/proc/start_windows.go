package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

const readSize = 64 << 10

type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}}
}

// Output is the reading end of a process's output. Reads cannot be interrupted on this
// system: they end when the last writer closes.
type Output struct {
	file *os.File
	bufs *buffers
}

func newOutput(f *os.File, bufs *buffers) (*Output, error) { return &Output{file: f, bufs: bufs}, nil }

// Read waits for output and gives it to sink, once. It returns io.EOF at the end.
func (o *Output) Read(sink func([]byte)) error {
	buf := o.bufs.pool.Get().(*[]byte)
	defer o.bufs.pool.Put(buf)
	n, err := o.file.Read(*buf)
	if n > 0 {
		sink((*buf)[:n])
	}
	if err != nil {
		return io.EOF
	}
	return nil
}

// Drain does nothing here.
func (o *Output) Drain(func([]byte)) bool { return false }

// Interrupt closes the reading end, which is the only way to end a waiting Read.
func (o *Output) Interrupt() { _ = o.file.Close() }

// Resume does nothing here.
func (o *Output) Resume() {}

// Close closes the reading end; nil has none.
func (o *Output) Close() error {
	if o == nil {
		return nil
	}
	return o.file.Close()
}

// Input is the writing end of a process's standard input.
type Input struct {
	mu     sync.Mutex
	file   *os.File
	closed bool
	pty    bool
}

// ErrInputClosed is returned by Input.Write after Input.Close.
var ErrInputClosed = errors.New("standard input is closed")

// ErrInputFull is never returned on this system.
var ErrInputFull = errors.New("the process does not read its input: the pipe is full")

// Write writes p; limit is not applied on this system.
func (in *Input) Write(p []byte, _ time.Duration) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return 0, ErrInputClosed
	}
	return in.file.Write(p)
}

// Close closes standard input.
func (in *Input) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	in.closed = true
	return in.file.Close()
}

func (in *Input) release() { _ = in.Close() }

func groupAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func (f *files) openTerminal(Size) error {
	return fmt.Errorf("%w: pseudo-consoles are not supported in this version", ErrNoPTY)
}

// Resize is not possible here.
func (p *Process) Resize(Size) error { return errors.New("not a terminal") }

func endGroup(_ int, proc *os.Process, _ bool) { _ = proc.Kill() }

func signalGroup(_ int, proc *os.Process, name string) error {
	if up := strings.ToUpper(name); up == "KILL" || up == "SIGKILL" || up == "TERM" || up == "SIGTERM" {
		return proc.Kill()
	}
	return fmt.Errorf("signal %s cannot be sent on this system; use kill", name)
}

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }

// Closed reports whether nothing can be written any more.
func (in *Input) Closed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}
