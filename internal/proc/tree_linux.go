package proc

import (
	"context"
	"errors"
	"sort"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// End ends everything the process started: SIGTERM to its process group and to
// every descendant, also in sessions of their own; what is still there after grace
// gets SIGKILL. It returns what could not be ended. The caller still calls Wait. A
// cancelled ctx ends the grace period, never the killing.
func (p *Process) End(ctx context.Context, grace time.Duration) []Left {
	return endAll(ctx, grace, p.terminal != nil, func(t table) map[int]stat {
		return t.tree(target{ref: p.ref, pinned: p.pinned(t)})
	})
}

// pinned reports whether the pid still names our process group: until it is reaped,
// and afterwards as long as members of the group are left, unless a new process has the
// pid.
func (p *Process) pinned(t table) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, recycled := t[p.ref.Pid]
	return !p.reaped || p.group && !recycled
}

// Leftovers returns what is still there of a process that has been waited for:
// children that made a session of their own (the rest of the group is being ended). It costs one system call when this
// process has no other child.
func (p *Process) Leftovers() []Left {
	orphans := p.starter.orphans()
	var out []Left
	for _, pid := range orphans {
		if st, ok := readStat(pid); ok && !st.zombie() && st.pgrp != p.ref.Pid && hasMarker(pid, p.ref.Marker) {
			out = append(out, Left{Pid: pid, Name: describe(pid, st)})
		}
	}
	return out
}

// Lost ends what is left of processes that another, dead process of ours had started,
// found by marker and by pid with the time of its start (S-8). It returns for each ref
// what could not be ended, and how many processes it found in all.
func Lost(ctx context.Context, refs []Ref, grace time.Duration) (found int, left []Left) {
	seen := map[int]bool{}
	left = endAll(ctx, grace, true, func(t table) map[int]stat {
		set := map[int]stat{}
		for pid, st := range t.trees(refs) {
			set[pid] = st
			seen[pid] = true
		}
		return set
	})
	return len(seen), left
}

// endAll signals what collect finds, again and again, until nothing is found.
func endAll(ctx context.Context, grace time.Duration, hangup bool, collect func(table) map[int]stat) []Left {
	deadline := time.Now().Add(grace)
	killRounds := 0
	told := map[int]uint64{} // pid to start time: got the polite signals already
	for {
		set := collect(readTable())
		if len(set) == 0 {
			return nil
		}
		kill := ctx.Err() != nil || !time.Now().Before(deadline)
		held := hold(set)
		until := deadline
		if kill {
			killRounds++
			until = time.Now().Add(killGrace / 8)
		}
		for pid, h := range held {
			h.send(kill, hangup, told[pid] == h.st.start)
			told[pid] = h.st.start
		}
		awaitExit(ctx, held, until, kill)
		for _, h := range held {
			h.close()
		}
		if killRounds > 8 {
			return survivors(collect(readTable()))
		}
	}
}

func survivors(set map[int]stat) []Left {
	var out []Left
	for pid, st := range set {
		out = append(out, Left{Pid: pid, Name: describe(pid, st)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Pid < out[j].Pid })
	return out
}

// held is a process that cannot be confused with a later one of the same pid.
type held struct {
	fd int // pidfd, or -1 on a kernel without
	st stat
}

func hold(set map[int]stat) map[int]held {
	out := make(map[int]held, len(set))
	for pid, st := range set {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			fd = -1
		}
		if now, ok := readStat(pid); !ok || now.start != st.start {
			if fd >= 0 {
				unix.Close(fd)
			}
			continue
		}
		out[pid] = held{fd: fd, st: st}
	}
	return out
}

func (h held) send(kill, hangup, again bool) {
	if kill {
		h.signal(unix.SIGKILL)
		return
	}
	if again {
		return
	}
	if hangup { // an interactive shell ignores SIGTERM but leaves when its terminal goes
		h.signal(unix.SIGHUP)
	}
	h.signal(unix.SIGTERM)
	h.signal(unix.SIGCONT) // a stopped process acts on nothing else
}

func (h held) signal(sig unix.Signal) {
	if h.fd >= 0 {
		_ = unix.PidfdSendSignal(h.fd, sig, nil, 0)
		return
	}
	_ = syscall.Kill(h.st.pid, sig)
}

func (h held) close() {
	if h.fd >= 0 {
		unix.Close(h.fd)
	}
}

// awaitExit waits until all have ended, the time is up, or, while still polite, ctx is
// done.
func awaitExit(ctx context.Context, procs map[int]held, until time.Time, kill bool) {
	open := make([]unix.PollFd, 0, len(procs))
	for _, h := range procs {
		if h.fd >= 0 {
			open = append(open, unix.PollFd{Fd: int32(h.fd), Events: unix.POLLIN})
		}
	}
	for len(open) > 0 {
		wait := time.Until(until)
		if wait <= 0 || (!kill && ctx.Err() != nil) {
			return
		}
		// Short slices, since poll does not see ctx; a normal end needs one.
		slice := min(wait, 200*time.Millisecond)
		_, err := unix.Poll(open, int(slice.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		rest := open[:0]
		for _, p := range open {
			if p.Revents == 0 {
				rest = append(rest, p)
			}
		}
		open = rest
	}
	if len(procs) > 0 && len(open) == 0 && !anyPidfd(procs) {
		time.Sleep(min(time.Until(until), 20*time.Millisecond))
	}
}

func anyPidfd(procs map[int]held) bool {
	for _, h := range procs {
		if h.fd >= 0 {
			return true
		}
	}
	return false
}
