package session

import (
	"context"
	"time"

	"openclaw/internal/protocol"
)

// RunRequest asks to start a plan and to wait for it a while.
type RunRequest struct {
	Plan     Plan
	Yield    time.Duration // wait this long, then hand it to the background; 0 = at once, < 0 = never
	MaxChars int           // of Output
	TailTo   int           // characters of output returned when it still runs
}

// Run starts a plan and returns when it has ended or, after Yield, while it still
// runs. When ctx ends before that, everything it started is ended and the state says
// cancelled. Started is called with the first state once the command runs; it
// may be nil and must not block.
func (t *Table) Run(ctx context.Context, req RunRequest, started func(State)) (Snapshot, error) {
	return t.RunWatched(ctx, req, started, nil)
}

// RunWatched is Run that calls long, which may be nil and must not block, once the command
// has taken longer than a short one (20 ms) or is none by its plan. Until then ctx is not
// looked at.
func (t *Table) RunWatched(ctx context.Context, req RunRequest, started func(State), long func()) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, context.Cause(ctx)
	}
	s, err := t.start(req.Plan, true)
	if err != nil {
		return Snapshot{}, err
	}
	defer s.unclaim()
	if started != nil {
		started(s.state())
	}
	if s.quick {
		s.runQuick()
		if s.finished() {
			return s.final(req.MaxChars), nil
		}
	}
	if long != nil {
		long()
	}
	if req.Plan.Background && s.handOver() { // whatever becomes of the one who has started it
		return Snapshot{State: s.state(), Output: s.tail(req.TailTo)}, nil
	}
	var yield <-chan time.Time
	if req.Yield >= 0 {
		timer := time.NewTimer(req.Yield)
		defer timer.Stop()
		yield = timer.C
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		s.end(endCancelled, killGrace)
	case <-yield:
		if s.handOver() {
			return Snapshot{State: s.state(), Output: s.tail(req.TailTo)}, nil
		}
		<-s.done
	}
	return s.final(req.MaxChars), nil
}

// handOver marks a running session as a background one. It reports false when it has
// just ended: then the caller gets the result and nobody is told again. A command that
// is started in the background is handed over even if it was quicker.
func (s *session) handOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan.Background {
		return true
	}
	if s.status != protocol.StatusRunning {
		return false
	}
	s.background = true
	return true
}

// final is result, marked as such.
func (s *session) final(limit int) Snapshot {
	snap := s.result(limit)
	snap.Final = true
	return snap
}

// result is the end of a session that its caller waited for. What does not fit is kept
// like the output of a background session, since its owner may come back for it.
func (s *session) result(limit int) Snapshot {
	snap := s.window(0, limit)
	if snap.Omitted > 0 {
		s.mu.Lock()
		s.background = true
		s.mu.Unlock()
		snap.Background = true
		s.table.store.ended(s) // recorded before as a run whose caller has everything
	}
	for i, out := range []*string{&snap.Stdout, &snap.Stderr} {
		if l := s.streams[i]; l != nil {
			head, tail, omitted := l.text(0, l.extent().end, limit)
			*out = join(s.plan.ID, head, tail, omitted)
			snap.Omitted += omitted
		}
	}
	return snap
}

// window is the state with the output from an offset to the present end.
func (s *session) window(from int64, limit int) Snapshot {
	end := s.log.extent().end
	head, tail, omitted := s.log.text(from, end, limit)
	return Snapshot{State: s.state(), Output: join(s.plan.ID, head, tail, omitted), Omitted: omitted}
}
