package gateway

import (
	"sync"
	"time"

	"openclaw/internal/protocol"
)

// hub knows the connected clients.
type hub struct {
	mu    sync.Mutex // guards conns
	conns map[*socketConn]struct{}
}

func newHub() *hub { return &hub{conns: map[*socketConn]struct{}{}} }

func (h *hub) add(c *socketConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[c] = struct{}{}
}

func (h *hub) remove(c *socketConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
}

func (h *hub) all() []*socketConn {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*socketConn, 0, len(h.conns))
	for c := range h.conns {
		out = append(out, c)
	}
	return out
}

// broadcast sends an event to the operators that hold a scope; "" = to everybody.
func (h *hub) broadcast(name, scope string, payload any, droppable bool) {
	for _, c := range h.all() {
		if scope == "" || c.role == "operator" && c.holds(scope) {
			c.event(name, payload, droppable)
		}
	}
}

// count is the number of clients that are signed in.
func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

// connected reports whether a device has a connection.
func (h *hub) connected(device string) bool {
	for _, c := range h.all() {
		if c.device == device {
			return true
		}
	}
	return false
}

// drop ends the connections of a device; role "" = all of them (protocol 1.7).
func (h *hub) drop(device, role string) {
	for _, c := range h.all() {
		if c.device == device && (role == "" || c.role == role) {
			c.cancel(&closeError{4001, "device removed"})
		}
	}
}

// tick keeps idle clients connected (protocol 1.6) until the gateway stops.
func (s *server) tick() {
	ticker := time.NewTicker(protocol.TickMs * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing.Done():
			return
		case now := <-ticker.C:
			s.hub.broadcast("tick", "", map[string]int64{"ts": now.UnixMilli()}, true)
		}
	}
}
