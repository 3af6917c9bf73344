package tool

import (
	"sync"
	"time"
)

// notices are things to be said later. Its owner calls stop.
type notices struct {
	mu      sync.Mutex // guards the rest
	timers  map[*time.Timer]struct{}
	stopped bool
	running sync.WaitGroup
}

// after calls do once, unless the notices are stopped first.
func (n *notices) after(d time.Duration, do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped {
		return
	}
	if n.timers == nil {
		n.timers = map[*time.Timer]struct{}{}
	}
	n.running.Add(1)
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		defer n.running.Done()
		n.mu.Lock()
		delete(n.timers, t)
		n.mu.Unlock()
		do()
	})
	n.timers[t] = struct{}{}
}

// stop drops what has not been said and waits for what is being said.
func (n *notices) stop() {
	n.mu.Lock()
	n.stopped = true
	for t := range n.timers {
		if t.Stop() {
			n.running.Done()
		}
	}
	n.timers = nil
	n.mu.Unlock()
	n.running.Wait()
}
