//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const readSize = 64 << 10

// buffers hands out read buffers only while there is something to read, so that a
// thousand idle outputs hold none.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}}
}

// Output is the reading end of a process's output. One goroutine reads; Interrupt and
// Close may be called from others.
type Output struct {
	file *os.File
	raw  syscall.RawConn
	bufs *buffers
}

func newOutput(f *os.File, bufs *buffers) (*Output, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &Output{file: f, raw: raw, bufs: bufs}, nil
}

// Read waits for output and gives it to sink, once; the bytes are valid only during
// the call. It returns io.EOF when nobody can write any more and ErrInterrupted after
// Interrupt.
func (o *Output) Read(sink func([]byte)) error {
	var readErr error
	err := o.raw.Read(func(fd uintptr) bool {
		var again bool
		again, readErr = o.readOnce(fd, sink)
		return !again
	})
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return ErrInterrupted
		}
		return io.EOF
	}
	return readErr
}

// readOnce reads what is there; again says that nothing was.
func (o *Output) readOnce(fd uintptr, sink func([]byte)) (again bool, err error) {
	buf := o.bufs.pool.Get().(*[]byte)
	defer o.bufs.pool.Put(buf)
	for {
		n, err := syscall.Read(int(fd), *buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return true, nil
		case err != nil || n <= 0: // a PTY's end is EIO
			return false, io.EOF
		}
		sink((*buf)[:n])
		return false, nil
	}
}

// Drain gives sink what was written before the call, without waiting. It reports
// whether the end was reached. What something left running writes meanwhile is not
// waited for: it could write for ever, and push the command's own last words out of the
// result.
func (o *Output) Drain(sink func([]byte)) (eof bool) {
	err := o.raw.Control(func(fd uintptr) {
		left := pending(int(fd))
		count := func(p []byte) {
			left -= len(p)
			sink(p)
		}
		for left > 0 || hungUp(int(fd)) {
			again, err := o.readOnce(fd, count)
			if again {
				return
			}
			if err != nil {
				eof = true
				return
			}
		}
	})
	return eof || err != nil
}

// hungUp reports whether nobody can write to fd any more.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&unix.POLLHUP != 0
}

// Interrupt makes a waiting Read, and every later one, return ErrInterrupted.
func (o *Output) Interrupt() { _ = o.file.SetReadDeadline(time.Unix(1, 0)) }

// Resume undoes Interrupt.
func (o *Output) Resume() { _ = o.file.SetReadDeadline(time.Time{}) }

// Close closes the reading end; nil has none. A process that still writes gets SIGPIPE.
func (o *Output) Close() error {
	if o == nil {
		return nil
	}
	return o.file.Close()
}

// Input is the writing end of a process's standard input or of its terminal.
type Input struct {
	mu     sync.Mutex // serialises writers: bytes of two writes never mix
	file   *os.File
	closed atomic.Bool
	pty    bool
}

// ErrInputClosed is returned by Input.Write after Input.Close or when the process has
// closed its standard input.
var ErrInputClosed = errors.New("standard input is closed")

// ErrInputFull is returned by Input.Write with the count of bytes that went in when
// the process did not read the rest in time.
var ErrInputFull = errors.New("the process does not read its input: the pipe is full")

// Write writes p and returns how many bytes went in; it waits at most limit for a
// reader that is slow (S-7).
func (in *Input) Write(p []byte, limit time.Duration) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed.Load() {
		return 0, ErrInputClosed
	}
	return in.writeLocked(p, limit)
}

func (in *Input) writeLocked(p []byte, limit time.Duration) (int, error) {
	n, err := 0, in.file.SetWriteDeadline(time.Now().Add(limit))
	if in.closed.Load() { // released meanwhile: its deadline is overwritten
		return 0, ErrInputClosed
	}
	if err == nil {
		n, err = in.file.Write(p)
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, ErrInputFull
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO), errors.Is(err, os.ErrClosed):
		return n, ErrInputClosed
	default:
		return n, err
	}
}

// Close closes standard input: the process reads end of file. For a terminal it sends
// the end-of-file character (C-d) instead, since a terminal cannot be half closed.
func (in *Input) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed.Load() {
		return nil
	}
	if in.pty {
		_, err := in.writeLocked([]byte{4}, time.Second)
		return err
	}
	if in.closed.Swap(true) {
		return nil
	}
	return in.file.Close()
}

// release closes the file when the process is over; a terminal's file belongs to
// Output. A write that waits for a reader is let go first.
func (in *Input) release() {
	open := !in.closed.Swap(true) // before the deadline: no later write sets another
	_ = in.file.SetWriteDeadline(time.Unix(1, 0))
	in.mu.Lock()
	defer in.mu.Unlock()
	if open && !in.pty {
		_ = in.file.Close()
	}
}

// Closed reports whether nothing can be written any more.
func (in *Input) Closed() bool { return in.closed.Load() }
