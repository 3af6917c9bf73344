package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// flights are the requests of one stdio session that are not answered yet, whichever way
// they go. It settles which of them are answered at all: the protocol wants no answer to
// a request that its client has cancelled.
type flights struct {
	mu    sync.Mutex
	all   map[jsonrpc.ID]*flight
	ended bool
}

type flight struct {
	cancel     context.CancelCauseFunc // nil: the SDK has the call and ends it
	initialize bool
	cancelled  bool
}

// enter begins a request; it is not ok when one with this id is in flight.
func (f *flights) enter(id jsonrpc.ID, one flight) (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[id] != nil {
		return false
	}
	if f.all == nil {
		f.all = map[jsonrpc.ID]*flight{}
	}
	f.all[id] = &one
	return true
}

// has reports whether a request is in flight.
func (f *flights) has(id jsonrpc.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[id] != nil
}

// cancel takes a client's cancellation. It reports whether the SDK has the call, which
// is then to be told. An id that is not in flight is fine: the answer has crossed it.
func (f *flights) cancel(id jsonrpc.ID) (sdkHas bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.all[id]
	if one == nil {
		return false
	}
	one.cancelled = true
	if one.cancel == nil {
		return true
	}
	one.cancel(errCancelled)
	return false
}

// finish ends a request whose result is there and reports whether to send it.
func (f *flights) finish(id jsonrpc.ID) (one flight, send bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.all[id]
	if found == nil {
		return one, false
	}
	delete(f.all, id) // before the answer is out, as its client may use the id again
	return *found, !found.cancelled && !f.ended
}

// end is the end of the session: nothing is answered any more.
func (f *flights) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
}
