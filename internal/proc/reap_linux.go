package proc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// boot reads the boot id once; it cannot change while we live.
var boot = sync.OnceValue(func() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
})

// reapDelay is how long an unknown child must stay a zombie before it is reaped: a
// child that somebody else in this program started is waited for much sooner by its
// own starter.
const reapDelay = 500 * time.Millisecond

// longLife is the age from which a process counts as long-lived.
const longLife = time.Second

// reaper says when orphans have to be looked for. Being told of every child's end costs
// a short command some 30 µs, so signals are asked for only while something lives long:
// a process of ours, or an orphan. Orphans of a short command are found at its end.
type reaper struct {
	kick  chan struct{} // something has changed: look
	timer *time.Timer   // next look for long-lived processes; guarded by Starter.mu, as are the rest
	old   int           // known processes that are long-lived
}

// wake makes the reaper look.
func (s *Starter) wake() {
	select {
	case s.reaper.kick <- struct{}{}:
	default: // it will look anyway
	}
}

// watchAge arranges for a process that has been added to known to be noticed when it
// gets old. Callers hold mu.
func (s *Starter) watchAge() {
	if s.reaper.timer == nil {
		s.reaper.timer = time.AfterFunc(longLife, s.noticeAge)
	}
}

// noticeAge counts the processes that have become long-lived.
func (s *Starter) noticeAge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reaper.timer = nil
	now, young := sinceBoot(), false
	for _, p := range s.known {
		switch {
		case p.old:
		case now-p.ref.After >= longLife:
			p.old = true
			s.reaper.old++
		default:
			young = true
		}
	}
	if young {
		s.watchAge()
	}
	if s.reaper.old > 0 {
		s.wake()
	}
}

// reapOrphans reaps children that became ours when their parents died (we are a
// subreaper), so that no zombie stays. It looks at most twice a second.
func (s *Starter) reapOrphans(ctx context.Context) {
	chld := make(chan os.Signal, 1)
	defer signal.Stop(chld)
	armed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-chld:
		case <-s.reaper.kick:
		}
		for suspects := map[int]bool(nil); ; {
			if !armed { // before the look: what ends after it is told
				signal.Notify(chld, syscall.SIGCHLD)
				armed = true
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(reapDelay):
			}
			select { // signals that came meanwhile are covered by this look
			case <-chld:
			default:
			}
			var orphans int
			if suspects, orphans = s.reapOnce(suspects); len(suspects) > 0 {
				continue
			}
			s.mu.Lock()
			idle := s.reaper.old == 0 && orphans == 0
			s.mu.Unlock()
			if idle {
				signal.Stop(chld)
				armed = false
			}
			break
		}
	}
}

// reapOnce reaps the unknown zombies that were suspects already. It returns the new
// ones and how many orphans live.
func (s *Starter) reapOnce(suspects map[int]bool) (next map[int]bool, living int) {
	next = map[int]bool{}
	for _, pid := range s.orphans() {
		st, ok := readStat(pid)
		if !ok || !st.zombie() {
			living++
			continue
		}
		if !suspects[pid] {
			next[pid] = true
			continue
		}
		s.reapOrphan(pid)
	}
	return next, living
}

// reapOrphan reaps a zombie unless it is a child that has only just become known.
func (s *Starter) reapOrphan(pid int) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	_, ours := s.known[pid]
	s.mu.Unlock()
	if !ours {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// zombie reports whether a child of this process waits to be reaped.
func (s *Starter) zombie() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// orphans returns the children of this process that it did not start itself. The
// kernel gives an orphan to the subreaper's first living thread, which is the main
// one, so its list of children is enough; where that list is missing, /proc is walked.
func (s *Starter) orphans() []int {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	if errors.Is(err, unix.ECHILD) {
		return nil
	}
	pids := s.children()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := pids[:0]
	for _, pid := range pids {
		if _, ours := s.known[pid]; !ours {
			out = append(out, pid)
		}
	}
	return out
}

func (s *Starter) children() []int {
	self := os.Getpid()
	id := strconv.Itoa(self)
	data, err := os.ReadFile("/proc/self/task/" + id + "/children")
	if err != nil {
		var out []int
		dir, err := os.ReadDir("/proc")
		if err != nil {
			return nil
		}
		for _, e := range dir {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			if st, ok := readStat(pid); ok && st.ppid == self {
				out = append(out, pid)
			}
		}
		return out
	}
	var out []int
	for _, f := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(f); err == nil {
			out = append(out, pid)
		}
	}
	return out
}
