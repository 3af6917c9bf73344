package approval

import (
	"context"
	"errors"
)

// queueMax is how many events wait for a listener; one that falls further behind is ended
// and lists the pending requests anew.
const queueMax = 2048

// ErrSlow ends a subscription that fell behind: list the pending requests and subscribe
// again.
var ErrSlow = errors.New("listener too slow: list the pending approvals and listen again")

// Subscription is one listener's queue. Next is for one goroutine at a time; the listener
// calls Close.
type Subscription struct {
	reg   *Registry
	shows bool
	ready chan struct{} // holds a token after the fields below changed

	// guarded by reg.mu
	queue []Event
	over  bool
	slow  bool
}

// Subscribe listens to all requests from now on. Shows says that the listener shows them
// to somebody who can answer.
func (r *Registry) Subscribe(shows bool) *Subscription {
	s := &Subscription{reg: r, shows: shows, ready: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		s.over = true
		return s
	}
	r.subs[s] = struct{}{}
	if shows {
		r.shows++
	}
	return s
}

// Reachable reports whether somebody is there who can answer.
func (r *Registry) Reachable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shows > 0
}

// publish queues an event for every listener. Callers hold mu.
func (r *Registry) publish(e Event) {
	for s := range r.subs {
		if len(s.queue) >= queueMax {
			s.slow = true
			s.end()
			continue
		}
		s.queue = append(s.queue, e)
		s.wake()
	}
}

// end takes the listener off. Callers hold mu.
func (s *Subscription) end() {
	if s.over {
		return
	}
	s.over = true
	delete(s.reg.subs, s)
	if s.shows {
		s.reg.shows--
	}
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Close ends the subscription; a second call does nothing.
func (s *Subscription) Close() {
	s.reg.mu.Lock()
	defer s.reg.mu.Unlock()
	s.end()
}

// errOver ends a subscription that was closed.
var errOver = errors.New("approval subscription closed")

// Next returns the next event, waiting for it until ctx ends.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		s.reg.mu.Lock()
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			s.reg.mu.Unlock()
			return e, nil
		}
		over, slow := s.over, s.slow
		s.reg.mu.Unlock()
		switch {
		case slow:
			return Event{}, ErrSlow
		case over:
			return Event{}, errOver
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}
