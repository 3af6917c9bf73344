package session

import (
	"fmt"
	"sync"
	"time"
)

const (
	// quickLimit is how long a foreground command is waited for on the caller's own
	// goroutine before it gets goroutines of its own.
	quickLimit = 20 * time.Millisecond
	// quickMax is how many commands are waited for in this way at once, since each
	// holds a thread.
	quickMax = 32
)

// mayBeQuick reports whether a plan is waited for in the short way first, and counts it.
func (t *Table) mayBeQuick(p *Plan) bool {
	if p.Background || p.PTY || p.Stdin {
		return false
	}
	if t.quick.Add(1) > quickMax {
		t.quick.Add(-1)
		return false
	}
	return true
}

// runQuick waits for a command that is probably short. One that is not goes on like
// any other.
func (s *session) runQuick() {
	t := s.table
	sinks := [2]func([]byte){s.sink(s.streams[0]), s.sink(s.streams[1])}
	limit := quickLimit
	if s.plan.Timeout > 0 {
		limit = min(limit, s.plan.Timeout)
	}
	ended, err := s.proc.Quick(limit, func(stream int, b []byte) { sinks[stream](b) })
	t.quick.Add(-1)
	if err != nil {
		s.warn(fmt.Sprintf("its output could not be read: %v", err))
	}
	if !ended {
		s.limitLife()
		go func() { // Close waits for it: start counted it
			defer t.running.Done()
			s.run()
		}()
		return
	}
	exit, group := s.proc.Wait()
	s.conclude(s.startReaders(), exit, group)
	t.settleLater(s)
	t.running.Done()
}

// settleDelay is how late the end of a quick command is recorded at most.
const settleDelay = 50 * time.Millisecond

// settleLater leaves the record of an end for the next command to write while it runs,
// or for a timer: done at once it would compete with the answer that is on its way to
// the caller.
func (t *Table) settleLater(s *session) {
	t.later.mu.Lock()
	defer t.later.mu.Unlock()
	t.later.ended = append(t.later.ended, s)
	if !t.later.timed {
		t.later.timed = true
		time.AfterFunc(settleDelay, func() {
			t.later.mu.Lock()
			t.later.timed = false
			t.later.mu.Unlock()
			t.settleNow()
		})
	}
}

// settleNow writes what settleLater left. It returns when that is done, also what
// another call is at.
func (t *Table) settleNow() {
	t.later.work.Lock()
	defer t.later.work.Unlock()
	t.settleKept()
}

// settleIdle is settleNow unless another call is at it: a start does not wait for the
// writing of other commands' records.
func (t *Table) settleIdle() {
	if t.later.work.TryLock() {
		defer t.later.work.Unlock()
		t.settleKept()
	}
}

// settleKept settles what is kept. Callers hold work.
func (t *Table) settleKept() {
	t.later.mu.Lock()
	ended := t.later.ended
	t.later.ended = nil
	t.later.mu.Unlock()
	for _, s := range ended {
		t.settle(s)
	}
}

// later is what settleLater keeps.
type later struct {
	work  sync.Mutex // one settles at a time; taken before mu
	mu    sync.Mutex // guards the rest
	ended []*session
	timed bool // a timer will settle what is kept then
}
