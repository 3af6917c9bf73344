package session

import (
	"sort"
	"time"

	"openclaw/internal/protocol"
)

// pruneBatch is how many runs that returned everything to their caller may pile up
// before old ones are dropped: doing it for each would cost every short run a look at
// all that are kept.
const pruneBatch = 16

// pruneAfter prunes when the end of s makes it worth while.
func (t *Table) pruneAfter(s *session) {
	if !s.isBackground() {
		t.mu.Lock()
		t.unpruned[s.plan.Agent]++
		wait := t.unpruned[s.plan.Agent] < pruneBatch
		t.mu.Unlock()
		if wait {
			return
		}
	}
	t.prune(s.plan.Agent)
}

// prune drops finished sessions of an agent past the count and the age of S-5, oldest
// first; the newest stays whatever its age.
func (t *Table) prune(agent string) {
	t.mu.Lock()
	delete(t.unpruned, agent)
	t.mu.Unlock()
	var kept, quiet []*session
	for _, s := range t.all() {
		if s.plan.Agent != agent || !s.forgettable() {
			continue
		}
		if s.isBackground() {
			kept = append(kept, s)
		} else {
			quiet = append(quiet, s)
		}
	}
	now := time.Now()
	t.pruneList(kept, now, finishedPerAgent+t.lostUnseen(kept))
	t.pruneList(quiet, now, finishedPerAgent)
}

// lostUnseen counts the lost sessions that nobody has polled: however many a daemon's
// death ended, none of them goes before its age says so (S-8).
func (t *Table) lostUnseen(list []*session) (n int) {
	for _, s := range list {
		s.mu.Lock()
		if s.status == protocol.StatusLost && !s.exitSeen {
			n++
		}
		s.mu.Unlock()
	}
	return n
}

func (t *Table) pruneList(list []*session, now time.Time, most int) {
	sort.Slice(list, func(i, j int) bool { return list[i].endTime().After(list[j].endTime()) })
	next := time.Duration(-1)
	var gone []*session
	for i, s := range list {
		age := now.Sub(s.endTime())
		if i > 0 && (i >= most || age >= s.plan.Retain) {
			gone = append(gone, s)
			continue
		}
		if left := s.plan.Retain - age; i > 0 && (next < 0 || left < next) {
			next = left
		}
	}
	t.forget(gone...)
	if next >= 0 {
		t.pruneIn(next)
	}
}

// pruneIn arranges one look at all agents at the next expiry.
func (t *Table) pruneIn(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now().Add(d + expirySlack)
	if t.shut || t.expiry != nil && !at.Before(t.expireAt) {
		return
	}
	if t.expiry != nil {
		t.expiry.Stop()
	}
	t.expireAt = at
	t.expiry = time.AfterFunc(d+expirySlack, t.expire)
}

// expirySlack lets one look find what expires close together.
const expirySlack = time.Second

// expire looks at all agents. Close waits for it, or it sees that there is nothing more
// to do.
func (t *Table) expire() {
	t.mu.Lock()
	if t.shut {
		t.mu.Unlock()
		return
	}
	t.running.Add(1)
	defer t.running.Done()
	t.expiry = nil
	agents := map[string]bool{}
	for _, s := range t.sessions {
		agents[s.plan.Agent] = true
	}
	t.mu.Unlock()
	for agent := range agents {
		t.prune(agent)
	}
}

// finishedState is finished as soon as the end is stored.
func (s *session) finishedState() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status != protocol.StatusRunning
}

func (s *session) isBackground() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.background || s.listed
}

func (s *session) endTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// reclaim keeps all logs together within the limit: finished sessions go,
// oldest first, then the oldest output of the one that grows, then that of the others.
//
// It is called by a reader, between two reads. Forgetting a session waits for its own
// reader, so a session never forgets itself, and only one forgets others at a time.
func (t *Table) reclaim(growing *session) {
	if t.logUsed.Load() < t.nextGC.Load() || !t.reclaiming.TryLock() {
		return
	}
	defer t.reclaiming.Unlock()
	t.mu.Lock()
	list := make([]*session, 0, len(t.sessions))
	for _, s := range t.sessions {
		if s != growing && s.finished() && s.forgettable() {
			list = append(list, s)
		}
	}
	t.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].endTime().Before(list[j].endTime()) })
	for _, s := range list {
		if t.logUsed.Load() < t.logTotal.Load() {
			break
		}
		t.forget(s)
	}
	t.squeeze(growing)
	next := t.logTotal.Load()
	if used := t.logUsed.Load(); used >= next {
		next = used + 1<<20 // a total that cannot be reached must not cost a look for every write
	}
	t.nextGC.Store(next)
}

// squeeze drops output of running sessions until the total fits again: of the one that
// grows, then of the largest logs.
func (t *Table) squeeze(growing *session) {
	type sized struct {
		log  *outlog
		held int64
	}
	var logs []sized
	for _, s := range append(t.all(), growing) {
		for _, l := range []*outlog{s.log, s.streams[0], s.streams[1]} {
			if l == nil {
				continue
			}
			e := l.extent()
			held := sized{l, e.end - e.start}
			if s == growing {
				held.held += 1 << 62 // first
			}
			logs = append(logs, held)
		}
	}
	sort.Slice(logs, func(i, j int) bool { return logs[i].held > logs[j].held })
	for _, l := range logs {
		over := t.logUsed.Load() - t.logTotal.Load()
		if over < 0 {
			return
		}
		e := l.log.extent()
		l.log.trim(max(0, e.end-e.start-over))
	}
}
