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
		if s.plan.Agent != agent || !s.finishedState() {
			continue
		}
		if s.isBackground() {
			kept = append(kept, s)
		} else {
			quiet = append(quiet, s)
		}
	}
	now := time.Now()
	t.pruneList(kept, now)
	t.pruneList(quiet, now)
}

func (t *Table) pruneList(list []*session, now time.Time) {
	sort.Slice(list, func(i, j int) bool { return list[i].endTime().After(list[j].endTime()) })
	next := time.Duration(-1)
	var gone []*session
	for i, s := range list {
		age := now.Sub(s.endTime())
		if i > 0 && (i >= finishedPerAgent || age >= s.plan.Retain) {
			gone = append(gone, s)
			continue
		}
		if i > 0 {
			next = s.plan.Retain - age
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
	if t.shut || t.expiry != nil {
		return
	}
	t.expiry = time.AfterFunc(d+time.Second, func() {
		t.mu.Lock()
		t.expiry = nil
		agents := map[string]bool{}
		for _, s := range t.sessions {
			agents[s.plan.Agent] = true
		}
		shut := t.shut
		t.mu.Unlock()
		for agent := range agents {
			if !shut {
				t.prune(agent)
			}
		}
	})
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
	return s.background
}

func (s *session) endTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// reclaim keeps all logs together within the limit: finished sessions go,
// oldest first, then the oldest output of the one that grows.
func (t *Table) reclaim(growing *session) {
	if t.logUsed.Load() < t.nextGC.Load() {
		return
	}
	t.mu.Lock()
	list := make([]*session, 0, len(t.sessions))
	for _, s := range t.sessions {
		if s.finished() {
			list = append(list, s)
		}
	}
	t.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].endTime().Before(list[j].endTime()) })
	for _, s := range list {
		if t.logUsed.Load() < t.opt.LogTotalBytes {
			break
		}
		t.forget(s)
	}
	if over := t.logUsed.Load() - t.opt.LogTotalBytes; over >= 0 {
		e := growing.log.extent()
		growing.log.trim(max(0, e.end-e.start-over))
	}
	// Look again after another MiB at the earliest: a total that cannot be reached must
	// not cost a look for every write.
	t.nextGC.Store(max(t.opt.LogTotalBytes, t.logUsed.Load()+1<<20))
}
