package proc

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Wait waits until the process has ended and returns how. What it left in its own
// process group is sent SIGTERM; group reports that some of it may still be
// there, so that the owner calls EndGroup. Wait is called once.
//
// The zombie is kept until the group has been signalled: as long as it is there its
// pid, which names the group, cannot be given to anybody else.
func (p *Process) Wait() (exit Exit, group bool) {
	p.mu.Lock()
	over := p.reaped // attach waits itself when it fails: the pid may be another's by now
	p.mu.Unlock()
	if over {
		return Exit{Code: -1}, false
	}
	p.awaitZombie()
	_ = syscall.Kill(-p.ref.Pid, syscall.SIGTERM)
	p.mu.Lock()
	var ws syscall.WaitStatus
	exit = Exit{Code: -1} // not known: somebody else has reaped it
	for {
		_, err := syscall.Wait4(p.ref.Pid, &ws, 0, nil)
		if err == nil {
			exit = exitOf(ws)
		}
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	p.reaped = true
	group = syscall.Kill(-p.ref.Pid, 0) == nil
	p.group = group
	p.mu.Unlock()
	p.starter.forget(p)
	p.leaveCgroup()
	if p.pidfd != nil {
		p.pidfd.Close()
	} else if p.pidRaw >= 0 {
		syscall.Close(p.pidRaw)
		p.pidRaw = -1
	}
	if p.In != nil {
		p.In.release()
	}
	return exit, group
}

func exitOf(ws syscall.WaitStatus) Exit {
	if ws.Signaled() {
		return Exit{Code: -1, Signal: signalName(ws.Signal())}
	}
	return Exit{Code: ws.ExitStatus()}
}

// awaitZombie returns when the process has ended, without reaping it. With a pidfd the
// runtime's poller waits; otherwise a thread does.
func (p *Process) awaitZombie() {
	if p.pidfd != nil {
		raw, err := p.pidfd.SyscallConn()
		if err == nil && raw.Read(func(uintptr) bool { return p.ended(unix.WNOHANG) }) == nil {
			return
		}
	}
	p.ended(0)
}

// ended reports whether the process is a zombie (or gone). Flag 0 waits for it.
func (p *Process) ended(flag int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.ref.Pid, &info, unix.WEXITED|unix.WNOWAIT|flag, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || info.Signo != 0
	}
}

// forget takes a process that has been reaped out of known.
func (s *Starter) forget(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.old {
		if s.reaper.old--; s.reaper.old == 0 {
			s.wake() // perhaps to look no more
		}
	}
	delete(s.known, p.ref.Pid)
	s.ends.add(span{p.ref.Before, sinceBoot()})
}

// Signal sends a signal, by name, to the process group.
func (p *Process) Signal(name string) error {
	sig, err := ParseSignal(name)
	if err != nil {
		return err
	}
	p.mu.Lock() // not between the reaping and a new owner of the pid
	defer p.mu.Unlock()
	if p.reaped {
		return errors.New("the process has ended")
	}
	return syscall.Kill(-p.ref.Pid, sig)
}

// killGrace is how long a process that got SIGKILL may take to go away before it is
// reported as left.
const killGrace = 2 * time.Second
