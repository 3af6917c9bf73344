package session

import (
	"strings"
	"time"

	"openclaw/internal/protocol"
)

// newsDelay is how long an exit waits for a poller that is at work: an exit that a
// poll has returned is not announced again.
const newsDelay = 400 * time.Millisecond

// announceTail is how many characters of output an End carries.
const announceTail = 2000

// deliver records the end of a session and tells OnEnd of it.
func (t *Table) deliver(s *session) {
	wanted, polled := s.newsworthy()
	s.mu.Lock()
	s.announce = wanted
	s.told = s.told || t.opt.OnEnd == nil
	s.mu.Unlock()
	t.store.ended(s)
	switch {
	case t.opt.OnEnd == nil:
		return
	case !wanted || !polled:
		t.opt.OnEnd(s.endOf())
		return
	}
	t.running.Go(func() {
		timer := time.NewTimer(newsDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.closing.Done():
		}
		s.mu.Lock()
		s.announce = !s.exitSeen
		s.mu.Unlock()
		t.opt.OnEnd(s.endOf())
	})
}

// newsworthy reports whether the owner of a session that has ended in the background
// wants to know, and whether somebody polls it and may know by that.
func (s *session) newsworthy() (wanted, polled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted = s.news && s.plan.Notify && s.reason != endKilled && s.reason != endShutdown
	if s.reason == 0 && s.exitCode != nil && *s.exitCode == 0 && !s.plan.NotifySilent && s.log.extent().end == 0 {
		wanted = false
	}
	return wanted, s.polling > 0 || time.Since(s.lastPoll) < 5*time.Second
}

// endOf is the End of a session.
func (s *session) endOf() End {
	e := End{State: s.state(), Record: s.plan.Record}
	s.mu.Lock()
	e.Announce = s.announce
	s.mu.Unlock()
	if e.Announce {
		e.Tail = s.tail(announceTail)
	}
	return e
}

// Told says that the Ends of sessions, by State.Key, are safe: they are not given to a
// later program again.
func (t *Table) Told(keys ...string) {
	var kept []record
	forgotten := map[string]bool{}
	for _, key := range keys {
		s := t.byKey(key)
		if s == nil {
			forgotten[key] = true
			continue
		}
		s.mu.Lock()
		s.told = true // perhaps before its end is recorded: then it is recorded with that
		s.mu.Unlock()
		kept = append(kept, record{ID: s.plan.ID, StartedMs: s.started.UnixMilli()})
	}
	t.store.told(kept, forgotten)
}

// byKey finds a session that is not forgotten; nil = none.
func (t *Table) byKey(key string) *session {
	_, id, _ := strings.Cut(key, ".")
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[id]; s != nil && s.key == key {
		return s
	}
	for _, s := range t.sessions { // of an earlier program, under another id
		if s.key == key {
			return s
		}
	}
	return nil
}

// tail returns the last output, at most limit characters.
func (s *session) tail(limit int) string {
	if limit <= 0 {
		return ""
	}
	e := s.log.extent()
	from := max(e.start, e.end-int64(limit)*4)
	_, b := s.log.read(from, int(e.end-from))
	if from > e.start {
		b = b[continuation(b):]
	}
	if s.statusNow() == protocol.StatusRunning {
		b = b[:len(b)-incomplete(b)]
	}
	return decode(lastRunes(b, limit))
}

func (s *session) statusNow() protocol.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}
