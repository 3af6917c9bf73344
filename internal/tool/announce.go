package tool

import (
	"fmt"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// ended is called by the session table for every session that has ended.
func (s *Service) ended(st session.State) { s.record.end(st) }

// exited is called for a background session whose end its owner does not know yet
// it becomes a system event that asks for a wake.
func (s *Service) exited(st session.State, tail string) {
	if s.events == nil {
		return
	}
	s.events.Publish(protocol.Event{
		Kind: protocol.EventFinished, Agent: st.Agent, SessionKey: st.SessionKey, RunID: st.ID, SessionID: st.ID,
		Host: st.Host, Command: st.Command, Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal,
		TimedOut: st.TimedOut, DurationMs: ms(duration(st)), Tail: tail, Wake: true,
		Text: fmt.Sprintf("Exec finished (%s) %s\n%s", st.ID, stateLine(st), tail),
	})
}
