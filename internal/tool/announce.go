package tool

import (
	"context"
	"fmt"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// ended is called for every session that has ended, also for those of an earlier daemon
// (S-8). It is told of when its event is with the bus and its record is written; an end
// that comes again, because a daemon died before it could say so, leaves no second one.
func (s *Service) ended(e session.End) {
	s.mu.Lock()
	early := s.early != nil
	if early { // sessions that are taken over end before Open has returned
		s.early = append(s.early, e)
	}
	s.mu.Unlock()
	if early {
		return
	}
	if id := readOrigin(e).Approval; id != "" {
		s.approvedEnded(id, e)
		return
	}
	s.conclude(e)
}

// approvedEnded keeps the end of an approved command with its approval before anything
// else is told of it. It is work for the disk, so it is done beside.
func (s *Service) approvedEnded(id string, e session.End) {
	s.ending.Go(func() {
		if reg, err := s.Approvals(context.Background()); err == nil {
			s.setRun(context.Background(), reg, id, ranTo(e.State))
		}
		s.conclude(e)
	})
}

// conclude tells of an end and records it.
func (s *Service) conclude(e session.End) {
	key := e.State.Key
	if e.State.Status == protocol.StatusLost && !e.Again {
		s.log.Warn("command lost with the program that ran it", "session", e.State.ID, "agent", e.State.Agent)
	}
	if e.Announce && s.events != nil && !(e.Again && s.events.Has(key)) {
		s.events.Publish(finished(e))
	}
	if e.Again && s.record.has(key) {
		s.table.Told(key)
		return
	}
	s.record.end(e)
}

// begin deals with what has ended before the service was whole.
func (s *Service) begin() {
	s.mu.Lock()
	ends := s.early
	s.early = nil
	s.mu.Unlock()
	for _, e := range ends {
		s.ended(e)
	}
}

// finished is the system event of a background session whose end its owner does not know
// yet; it asks for a wake.
func finished(e session.End) protocol.Event {
	st := e.State
	run := st.ID
	if id := readOrigin(e).Approval; id != "" { // in all events of it
		run = id
	}
	return protocol.Event{
		Kind: protocol.EventFinished, Key: st.Key, Agent: st.Agent, SessionKey: st.SessionKey, RunID: run, SessionID: st.ID,
		Host: st.Host, Command: st.Command, Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal,
		TimedOut: st.TimedOut, DurationMs: ms(duration(st)), Tail: e.Tail, Wake: true,
		Text: fmt.Sprintf("Exec finished (%s) %s\n%s", st.ID, stateLine(st), e.Tail),
	}
}
