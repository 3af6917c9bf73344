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
	defer p.starter.wake() // orphans have been made
	left := p.end(ctx, grace, table.tree)
	p.killCgroup()
	return left
}

// EndGroup ends what is left of the process group of a process that has been waited
// for, and nothing else: children that made a session of their own stay.
func (p *Process) EndGroup(ctx context.Context, grace time.Duration) []Left {
	defer p.starter.wake() // orphans have been made
	return p.end(ctx, grace, table.group)
}

func (p *Process) end(ctx context.Context, grace time.Duration, whom func(table, target) map[int]stat) []Left {
	left := ending{
		look:    p.starter.looks.table,
		collect: func(t table) map[int]stat { return whom(t, p.target(t)) },
		pgid:    p.ref.Pid,
		group:   p.signalGroup,
		hangup:  p.terminal != nil,
	}.run(ctx, grace)
	if len(left) == 0 {
		p.mu.Lock()
		p.group = false // from now on the pid may name another group
		p.mu.Unlock()
		p.leaveCgroup()
	}
	return left
}

func (p *Process) target(t table) target {
	want := target{ref: p.ref, pinned: p.pinned(t), others: p.starter.pids()}
	if p.ref.Cgroup == "" {
		want.claims = p.claims
		return want
	}
	want.members = map[int]bool{}
	for _, pid := range p.members() {
		want.members[pid] = true
	}
	return want
}

func (s *Starter) pids() map[int]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[int]bool, len(s.known))
	for pid := range s.known {
		out[pid] = true
	}
	return out
}

// signalGroup sends signals to the whole group, each in one step: a shell must not go
// on with its next command because its child got a signal first, and a program that
// forks faster than we look cannot outrun it. It reports false when the group may be
// another's by now.
func (p *Process) signalGroup(t table, sigs ...unix.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.pinnedLocked(t) {
		return false
	}
	for _, sig := range sigs {
		_ = syscall.Kill(-p.ref.Pid, sig)
	}
	return true
}

// pinned reports whether the pid still names our process group: until it is reaped,
// and afterwards as long as members of the group are left, unless a new process has the
// pid.
func (p *Process) pinned(t table) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pinnedLocked(t)
}

func (p *Process) pinnedLocked(t table) bool {
	_, recycled := t.procs[p.ref.Pid]
	return !p.reaped || p.group && !recycled
}

// Leftovers returns what is still there of a process that has been waited for:
// children that made a session of their own (the rest of the group is being ended). It
// costs a system call or two when the process had a cgroup or this one has no other
// child.
func (p *Process) Leftovers() []Left {
	p.mu.Lock()
	group := p.group
	p.mu.Unlock()
	if group { // a member that is on its way out may still hide its own children
		t := p.starter.looks.table()
		return t.leftovers(p.target(t))
	}
	if p.ref.Cgroup != "" {
		if p.starter.zombie() {
			p.starter.wake()
		}
		if !p.inCgroup() {
			return nil // nothing was in it when it was given back, and nothing hides from it
		}
		p.starter.wake()
		t := p.starter.looks.table()
		return t.leftovers(p.target(t))
	}
	var out []Left
	orphans := p.starter.orphans()
	if len(orphans) > 0 {
		p.starter.wake()
	}
	for _, pid := range orphans {
		st, ok := readStat(pid)
		if ok && !st.zombie() && st.pgrp != p.ref.Pid && (hasMarker(pid, p.ref.Marker) || p.claims(st)) {
			out = append(out, Left{Pid: pid, Name: describe(pid, st)})
		}
	}
	return out
}

// leftovers returns the tops of the target's tree outside its process group.
func (t table) leftovers(want target) []Left {
	set := t.tree(want)
	out := map[int]stat{}
	for pid, st := range set {
		parent, inside := set[st.ppid]
		if st.pgrp != want.ref.Pid && (!inside || parent.pgrp == want.ref.Pid) {
			out[pid] = st
		}
	}
	return survivors(out)
}

// Lost ends what is left of processes that another, dead process of ours had started
// (S-8): found by cgroup, by marker, by pid with the time of its start, and by process
// group within the session it was started in. Stray, which may be nil, picks further
// ones by their marker. It returns what could not be ended, and how many it found.
func Lost(ctx context.Context, refs []Ref, stray func(marker string) bool, grace time.Duration) (found int, left []Left) {
	seen := map[int]bool{}
	left = ending{look: readTable, hangup: true, collect: func(t table) map[int]stat {
		set := t.trees(refs, stray)
		for pid := range set {
			seen[pid] = true
		}
		return set
	}}.run(ctx, grace)
	return len(seen), left
}

// ending says whom to end and how.
type ending struct {
	look    func() table
	collect func(table) map[int]stat
	pgid    int                              // with group: whose group it is
	group   func(table, ...unix.Signal) bool // signals the group as a whole; may be nil
	hangup  bool
}

// polite is what asks a process to leave.
func (e ending) polite() []unix.Signal {
	if e.hangup { // an interactive shell ignores SIGTERM but leaves when its terminal goes
		return []unix.Signal{unix.SIGHUP, unix.SIGTERM, unix.SIGCONT}
	}
	return []unix.Signal{unix.SIGTERM, unix.SIGCONT} // a stopped process acts on nothing else
}

// run signals what collect finds, again and again, until nothing is found.
func (e ending) run(ctx context.Context, grace time.Duration) []Left {
	deadline := time.Now().Add(grace)
	var giveUp time.Time     // set when killing begins
	told := map[int]uint64{} // pid to start time: got the polite signals already
	for {
		t := e.look()
		set := e.collect(t)
		if len(set) == 0 {
			if e.group != nil { // a look can miss one that forks all the time
				e.group(t, unix.SIGKILL)
			}
			return nil
		}
		until := deadline
		kill := ctx.Err() != nil || !time.Now().Before(deadline)
		if kill {
			if giveUp.IsZero() {
				giveUp = time.Now().Add(killGrace)
			} else if time.Now().After(giveUp) {
				return survivors(set)
			}
			until = time.Now().Add(killGrace / 8)
		}
		held := hold(set)
		e.signal(t, held, kill, told)
		awaitExit(ctx, held, until, kill)
		for _, h := range held {
			h.close()
		}
	}
}

func (e ending) signal(t table, procs []held, kill bool, told map[int]uint64) {
	sigs := e.polite()
	if kill {
		sigs = []unix.Signal{unix.SIGKILL}
	}
	grouped := e.group != nil && (kill || len(told) == 0) && e.group(t, sigs...)
	for _, h := range procs {
		again := told[h.st.pid] == h.st.start
		told[h.st.pid] = h.st.start
		if !kill && (again || grouped && h.st.pgrp == e.pgid) {
			continue
		}
		for _, sig := range sigs {
			h.signal(sig)
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

// hold returns the processes that are still there, parents before their children.
func hold(set map[int]stat) []held {
	out := make([]held, 0, len(set))
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
		out = append(out, held{fd: fd, st: st})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i].st, out[j].st
		return a.start < b.start || a.start == b.start && a.pid < b.pid
	})
	return out
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
func awaitExit(ctx context.Context, procs []held, until time.Time, kill bool) {
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

func anyPidfd(procs []held) bool {
	for _, h := range procs {
		if h.fd >= 0 {
			return true
		}
	}
	return false
}
