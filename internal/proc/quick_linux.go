package proc

import (
	"errors"
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Quick waits up to limit for a program that has been begun, on this thread, and gives
// sink what it prints (of stream 0, standard output or both, or 1, standard error). It
// reports whether the program has ended and everything it had written by then was read;
// the caller then calls Wait, which returns at once. Out and Err are nil afterwards
// unless the stream is still open: the program goes on, or something it left holds it.
//
// A short command is over before the runtime's poller would have paid. One at a time
// gains nothing; with eight in flight on two cores a tenth more of them run in a second.
func (p *Process) Quick(limit time.Duration, sink func(stream int, b []byte)) (ended bool, err error) {
	if p.terminal == nil && p.pidRaw >= 0 {
		ended = p.pollQuick(time.Now().Add(limit), sink)
	}
	if ended {
		for i := range p.pipes {
			if fd := p.pipes[i]; fd >= 0 {
				p.readNow(i, pending(fd), sink)
				if fd := p.pipes[i]; fd >= 0 && hungUp(fd) {
					p.readNow(i, math.MaxInt, sink)
				}
			}
		}
		if p.pipes[0] < 0 && p.pipes[1] < 0 {
			return true, nil
		}
	}
	return ended, p.attach()
}

// pollQuick reads until the program has ended (true) or the time is up.
func (p *Process) pollQuick(deadline time.Time, sink func(int, []byte)) bool {
	for {
		fds := [3]unix.PollFd{
			{Fd: int32(p.pidRaw), Events: unix.POLLIN},
			{Fd: int32(p.pipes[0]), Events: unix.POLLIN}, // a negative one is passed over
			{Fd: int32(p.pipes[1]), Events: unix.POLLIN},
		}
		wait := time.Until(deadline)
		if wait <= 0 {
			return false
		}
		n, err := unix.Poll(fds[:], int(wait.Milliseconds())+1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return false
		}
		for i := range p.pipes {
			if fds[i+1].Revents != 0 {
				p.readNow(i, readSize, sink)
			}
		}
		if fds[0].Revents != 0 {
			return true
		}
	}
}

// readNow gives sink what can be read from a pipe without waiting, some limit bytes of
// it, and closes the pipe at its end.
func (p *Process) readNow(i, limit int, sink func(int, []byte)) {
	for total := 0; p.pipes[i] >= 0 && total < limit; {
		buf := p.starter.bufs.pool.Get().(*[]byte)
		n, err := syscall.Read(p.pipes[i], *buf)
		if n > 0 {
			sink(i, (*buf)[:n])
			total += n
		}
		p.starter.bufs.pool.Put(buf)
		switch {
		case n > 0, err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return
		default:
			syscall.Close(p.pipes[i])
			p.pipes[i] = -1
		}
	}
}
