package supervisor

import (
	"sync"
	"time"

	"openclaw/internal/session"
)

// owedMax is how many ends are kept for clients that do not come, in memory.
const owedMax = 20000

// hub sees to it that every end reaches one client and is given again when that client
// goes before it has it safe. A run's end goes with its answer to the client that
// waits for it; all others are sent unasked, to a gateway before any other.
type hub struct {
	told func(keys ...string) // records that ends are safe

	mu      sync.Mutex // guards the rest
	clients map[*served]bool
	pending map[string]*pending // by key
	changed chan struct{}       // closed when an end is told of; nil = nobody waits
}

// pending is a session whose end somebody is to get.
type pending struct {
	holder  *served      // has it, or will with the answer of its run; nil = nobody
	waiting bool         // holder gets it with the answer of its run
	end     *session.End // nil while it runs
	told    bool         // acknowledged before the table told us of it
}

func newHub() *hub {
	return &hub{clients: map[*served]bool{}, pending: map[string]*pending{}}
}

// join makes a client one that gets ends, and gives it those that nobody has.
func (h *hub) join(c *served) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = true
	for _, p := range h.pending {
		if p.end != nil && p.holder == nil {
			h.give(p)
		}
	}
}

// leave takes a client out. What it may or may not have safe goes to another one.
func (h *hub) leave(c *served) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	for _, p := range h.pending {
		if p.holder != c {
			continue
		}
		p.holder, p.waiting = nil, false
		if p.end != nil {
			p.end.Again = true
			h.give(p)
		}
	}
}

// expect says that the end of a session goes to c with the answer of its run. It
// reports false when the end has been sent by itself already.
func (h *hub) expect(key string, c *served) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pending[key]
	if p != nil && p.end != nil {
		return false
	}
	if p == nil {
		p = &pending{}
		h.pending[key] = p
	}
	p.holder, p.waiting = c, true
	return true
}

// goesOn says that a run was answered before its end: that is sent by itself.
func (h *hub) goesOn(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pending[key]
	if p == nil || !p.waiting {
		return
	}
	p.holder, p.waiting = nil, false
	if p.end != nil {
		h.give(p)
	}
}

// ended takes the end of a session.
func (h *hub) ended(e session.End) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pending[e.State.Key]
	if p == nil {
		p = &pending{}
		h.pending[e.State.Key] = p
	}
	if p.told {
		delete(h.pending, e.State.Key)
		return
	}
	if p.end = &e; !p.waiting {
		h.give(p)
	}
	h.trim()
}

// give sends an end to a client that wants ends. Callers hold mu.
func (h *hub) give(p *pending) {
	for c := range h.clients {
		if p.holder == nil || c.gateway && !p.holder.gateway {
			p.holder = c
		}
	}
	if p.holder != nil {
		p.holder.send(kindEnd, *p.end)
	}
}

// acknowledge takes note that ends are safe.
func (h *hub) acknowledge(keys []string) {
	h.mu.Lock()
	for _, key := range keys {
		p := h.pending[key]
		switch {
		case p == nil:
		case p.end == nil:
			p.told = true
		default:
			delete(h.pending, key)
		}
	}
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	h.mu.Unlock()
	h.told(keys...)
}

// trim forgets the oldest ends when too many are owed. They stay in the record on disk
// and come up again with the next supervisor. Callers hold mu.
func (h *hub) trim() {
	if len(h.pending) <= owedMax {
		return
	}
	oldest := ""
	for key, p := range h.pending {
		if p.end != nil && p.holder == nil && (oldest == "" || p.end.State.Ended.Before(h.pending[oldest].end.State.Ended)) {
			oldest = key
		}
	}
	if oldest != "" {
		delete(h.pending, oldest)
	}
}

// drain waits until clients have all ends safe that were given to them, at most limit.
func (h *hub) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		h.mu.Lock()
		given := false
		for _, p := range h.pending {
			given = given || p.holder != nil && p.end != nil
		}
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		if !given {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		}
	}
}
