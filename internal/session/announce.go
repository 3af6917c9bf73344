package session

import (
	"time"

	"openclaw/internal/protocol"
)

// newsDelay is how long an exit waits for a poller that is at work: an exit that a
// poll has returned is not announced again.
const newsDelay = time.Second

// announceTail is how many characters of output an exit event carries.
const announceTail = 2000

// announce tells OnExit of the end of a background session.
func (t *Table) announce(s *session) {
	s.mu.Lock()
	wanted := t.opt.OnExit != nil && s.news && s.plan.Notify && s.reason != endKilled && s.reason != endShutdown
	polling := s.polling > 0 || time.Since(s.lastPoll) < 5*time.Second
	if s.reason == 0 && s.exitCode != nil && *s.exitCode == 0 && !s.plan.NotifySilent && s.log.extent().end == 0 {
		wanted = false
	}
	s.mu.Unlock()
	if !wanted {
		return
	}
	if !polling {
		t.opt.OnExit(s.state(), s.tail(announceTail))
		return
	}
	t.running.Go(func() {
		timer := time.NewTimer(newsDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.closing.Done():
		}
		if !s.wasSeen() {
			t.opt.OnExit(s.state(), s.tail(announceTail))
		}
	})
}

func (s *session) wasSeen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exitSeen
}

// tail returns the last output, at most limit characters.
func (s *session) tail(limit int) string {
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
