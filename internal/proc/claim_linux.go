package proc

import "time"

// span is the life of a process, in time since boot.
type span struct{ from, to time.Duration }

// ends remembers the lives of the processes that ended last.
type ends struct {
	ring [64]span
	n    int // ends so far
}

func (e *ends) add(s span) {
	e.ring[e.n%len(e.ring)] = s
	e.n++
}

// claims reports whether an orphan that hides its marker can only have come from p
// it cleared its environment, and no other process of ours lived when it was
// started. When another did, it is left alone: ending another command's child would be
// the worse fault.
func (p *Process) claims(orphan stat) bool {
	tick := time.Second / ticksPerSecond
	at := time.Duration(orphan.start) * tick // somewhere in the tick that begins here
	if at+tick < p.ref.Before || markerOf(orphan.pid) != "" {
		return false
	}
	s := p.starter
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ours := s.known[orphan.pid]; ours {
		return false
	}
	for _, q := range s.known {
		if q != p && q.ref.Before <= at+tick {
			return false
		}
	}
	oldest := max(0, s.ends.n-len(s.ends.ring))
	for i := oldest; i < s.ends.n; i++ {
		q := s.ends.ring[i%len(s.ends.ring)]
		if q.from != p.ref.Before && q.from <= at+tick && at <= q.to {
			return false
		}
	}
	// Of processes that are no longer remembered nothing can be said.
	return oldest == 0 || s.ends.ring[oldest%len(s.ends.ring)].to < at
}
