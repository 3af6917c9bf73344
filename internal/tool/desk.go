package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
)

// desk is where people are asked. It is opened by the first that needs it, since most
// commands ask nobody.
type desk struct {
	store   func(context.Context) (approval.Store, func() error, error)
	options approval.Options

	mu     sync.Mutex // guards what follows; held while the store is opened
	reg    *approval.Registry
	close  func() error
	closed bool
}

// registry gives the requests, and opens them if need be.
func (d *desk) registry(ctx context.Context) (*approval.Registry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reg != nil {
		return d.reg, nil
	}
	if d.closed {
		return nil, errors.New("shutting down")
	}
	store, closeStore, err := d.store(ctx)
	if err != nil {
		return nil, err
	}
	opt := d.options
	opt.Store = store
	reg, err := approval.OpenRegistry(ctx, opt)
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	d.reg, d.close = reg, closeStore
	return reg, nil
}

// shut ends the asking: what is pending stays so.
func (d *desk) shut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.reg == nil {
		return nil
	}
	d.reg.Close()
	return d.close()
}

// Approvals gives the requests to surfaces that show them. An error says why they cannot
// be kept: then nothing is asked, and nothing runs that would have to be.
func (s *Service) Approvals(ctx context.Context) (*approval.Registry, error) {
	reg, err := s.desk.registry(ctx)
	if err != nil {
		return nil, fmt.Errorf("approvals cannot be kept: %w", err)
	}
	s.resumed.Do(func() { s.resume(reg) })
	return reg, nil
}

// resume deals with what an earlier program had allowed and not ended: a command
// that runs on, or whose end is known, is that; one that had not started never does.
func (s *Service) resume(reg *approval.Registry) {
	ctx := context.Background()
	for _, rec := range reg.Unfinished() {
		s.keepPromise(ctx, reg, &rec)
		if rec.Run != nil && rec.Run.SessionID != "" {
			if st, err := s.table.Get(ctx, rec.Request.Agent, rec.Run.SessionID); err == nil {
				if st.Finished() {
					s.setRun(ctx, reg, rec.ID, ranTo(st))
				}
				continue
			}
		}
		s.setRun(ctx, reg, rec.ID, approval.Run{State: approval.RunCancelled, Reason: approval.ReasonRestart})
	}
}

func (s *Service) setRun(ctx context.Context, reg *approval.Registry, id string, run approval.Run) {
	if err := reg.SetRun(ctx, id, run); err != nil && !errors.Is(err, approval.ErrResolved) {
		s.log.Warn("what became of an approved command is not kept", "approval", id, "err", err)
	}
}

// flight is one question with those who wait for what comes of it. All of them get the
// same.
type flight struct {
	id   string
	done chan struct{} // closed when res and err are set
	res  *protocol.ToolResult
	err  error

	// guarded by flights.mu
	waiters  int
	detached bool                    // somebody comes back for it: it goes on without waiters
	gone     bool                    // all have left: nobody joins it any more
	stopped  bool                    // its command is not to start
	cancel   context.CancelFunc      // of its command; nil before
	watch    func(protocol.Progress) // of the first waiter; nil when it has gone
}

// flights are the questions whose callers may wait, by approval id.
type flights struct {
	mu sync.Mutex
	m  map[string]*flight
}

func newFlights() *flights { return &flights{m: map[string]*flight{}} }

// begin makes the flight of a new question, for its first caller.
func (fs *flights) begin(id string, watch func(protocol.Progress)) *flight {
	f := &flight{id: id, done: make(chan struct{}), waiters: 1, watch: watch}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.m[id] = f
	return f
}

// join adds a caller to a question that was pending, also one of an earlier program. gone:
// its callers have left, and it ends.
func (fs *flights) join(rec *approval.Record, watch func(protocol.Progress)) (f *flight, gone bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f = fs.m[rec.ID]
	switch {
	case f == nil:
		f = &flight{id: rec.ID, done: make(chan struct{}), detached: rec.Detached, watch: watch}
		fs.m[rec.ID] = f
	case f.gone:
		return nil, true
	}
	f.waiters++
	return f, false
}

// drop takes a caller away that gets its answer otherwise.
func (fs *flights) drop(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiters--; f.waiters == 0 && fs.m[f.id] == f {
		delete(fs.m, f.id)
	}
}

// of gives the flight of a question that has become final; one of an earlier program has
// nobody who waits.
func (fs *flights) of(id string) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.m[id]
	if f == nil {
		f = &flight{id: id, done: make(chan struct{}), detached: true}
		fs.m[id] = f
	}
	return f
}

func (fs *flights) get(id string) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.m[id]
}

// stop keeps a command that was allowed from starting, if it has not yet, and waits until
// that is settled.
func (fs *flights) stop(ctx context.Context, id string) {
	fs.mu.Lock()
	f := fs.m[id]
	if f == nil {
		fs.mu.Unlock()
		return
	}
	f.stopped = true
	if f.cancel != nil {
		f.cancel()
	}
	fs.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
	}
}

// detach says that somebody comes back.
func (fs *flights) detach(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.detached = true
	f.waiters--
	f.watch = nil
}

// attend brings output to a waiter that has begun to wait, unless another gets it.
func (fs *flights) attend(f *flight, watch func(protocol.Progress)) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.watch == nil {
		f.watch = watch
	}
}

// leave takes a caller away and reports whether nobody is left who wants the result.
func (fs *flights) leave(f *flight) (abandoned bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.waiters--
	f.watch = nil
	if f.waiters > 0 || f.detached {
		return false
	}
	f.gone = true
	if f.cancel != nil {
		f.cancel()
	}
	return true
}

// running notes how the command is ended when all callers go; waited says that somebody
// waits for its end.
func (fs *flights) running(f *flight, cancel context.CancelFunc) (waited bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.cancel = cancel
	if f.stopped || f.waiters <= 0 && !f.detached {
		cancel()
	}
	return f.waiters > 0
}

// progress brings output to the first waiter while it is there.
func (fs *flights) progress(f *flight) func(protocol.Progress) {
	return func(p protocol.Progress) {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if f.watch != nil {
			f.watch(p)
		}
	}
}

// finish gives everybody the result.
func (fs *flights) finish(f *flight, res *protocol.ToolResult, err error) {
	fs.mu.Lock()
	delete(fs.m, f.id)
	f.watch = nil
	fs.mu.Unlock()
	f.res, f.err = res, err
	close(f.done)
}
