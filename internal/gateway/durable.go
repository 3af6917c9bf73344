package gateway

import (
	"context"
	"errors"
	"sync"

	"openclaw/internal/pairing"
	"openclaw/internal/state"
)

// durable is the store, opened by the first that needs it: an open that fails is tried
// again by the next.
type durable struct {
	path string

	mu     sync.Mutex // guards what follows; held while the store is opened
	store  *state.Store
	paired *pairing.Registry
	closed bool
}

func (d *durable) open(ctx context.Context) (*state.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("the gateway is stopping")
	}
	if d.store == nil {
		st, err := state.Open(ctx, d.path)
		if err != nil {
			return nil, err
		}
		d.store, d.paired = st, pairing.New(st, nil)
	}
	return d.store, nil
}

// devices gives the paired devices.
func (d *durable) devices(ctx context.Context) (*pairing.Registry, error) {
	if _, err := d.open(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paired, nil
}

func (d *durable) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}
