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

// reapOrphans reaps children that became ours when their parents died (we are a
// subreaper), so that no zombie stays. It works only after a SIGCHLD, at most
// twice a second.
func (s *Starter) reapOrphans(ctx context.Context) {
	chld := make(chan os.Signal, 1)
	signal.Notify(chld, syscall.SIGCHLD)
	defer signal.Stop(chld)
	var suspects map[int]bool
	for {
		if len(suspects) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-chld:
			}
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
		suspects = s.reapOnce(suspects)
	}
}

// reapOnce reaps the unknown zombies that were suspects already and returns the new ones.
func (s *Starter) reapOnce(suspects map[int]bool) map[int]bool {
	next := map[int]bool{}
	for _, pid := range s.orphans() {
		st, ok := readStat(pid)
		if !ok || !st.zombie() {
			continue
		}
		if !suspects[pid] {
			next[pid] = true
			continue
		}
		s.reapOrphan(pid)
	}
	return next
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
