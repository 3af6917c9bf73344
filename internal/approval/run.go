package approval

import (
	"context"
	"fmt"
)

// Plan is what Ask was given with the request; it is gone once the command has ended or
// was denied.
func (r *Registry) Plan(ctx context.Context, id string) ([]byte, error) {
	it, err := r.opt.Store.Get(ctx, bucketPlans, id)
	if err != nil {
		return nil, fmt.Errorf("the plan of approval %s: %w", id, err)
	}
	return it.Value, nil
}

func (r *Registry) dropPlan(ctx context.Context, id string) {
	it, err := r.opt.Store.Get(ctx, bucketPlans, id)
	if err != nil {
		return
	}
	if r.opt.Store.Delete(ctx, bucketPlans, id, it.Rev) == nil {
		_ = r.opt.Store.Forget(ctx, bucketPlans, id)
	}
}

// SetRun records what becomes of an allowed command; it is durable when SetRun returns. A
// command that is over stays so: the error then wraps ErrResolved. A second RunStarting is
// refused, too: nothing runs twice.
func (r *Registry) SetRun(ctx context.Context, id string, run Run) error {
	return r.amend(ctx, id, func(rec *Record) error {
		switch {
		case !rec.Decision.Allows():
			return fmt.Errorf("%w: it was not allowed", ErrResolved)
		case rec.Run.Over(), run.State == RunStarting && rec.Run != nil:
			return fmt.Errorf("%w: its command was started", ErrResolved)
		}
		if run.SessionID == "" && rec.Run != nil {
			run.SessionID = rec.Run.SessionID
		}
		if run.Over() && run.EndedMs == 0 {
			run.EndedMs = r.opt.Now().UnixMilli()
		}
		rec.Run = &run
		return nil
	})
}

// SetStored records that the entries of allow-always are in the document.
func (r *Registry) SetStored(ctx context.Context, id string) error {
	return r.amend(ctx, id, func(rec *Record) error { rec.Stored = true; return nil })
}

// Detach records that the caller was answered approval-pending: the request stays when the
// caller goes.
func (r *Registry) Detach(ctx context.Context, id string) error {
	return r.amend(ctx, id, func(rec *Record) error { rec.Detached = true; return nil })
}

// amend changes what is no decision of a record, durably.
func (r *Registry) amend(ctx context.Context, id string, change func(*Record) error) error {
	r.mu.Lock()
	e := r.all[id]
	r.mu.Unlock()
	if e == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.release()
	r.mu.Lock()
	rec, rev := e.rec, e.rev
	r.mu.Unlock()
	if rev == 0 {
		return fmt.Errorf("%w: %q could not be kept", ErrUnknown, id)
	}
	if err := change(&rec); err != nil {
		return err
	}
	next, err := r.put(ctx, &rec, rev)
	if err != nil {
		return fmt.Errorf("keep the approval %s: %w", id, err)
	}
	r.mu.Lock()
	e.rec, e.rev = rec, next
	r.mu.Unlock()
	if rec.Run.Over() {
		ctx = context.WithoutCancel(ctx)
		r.remember(ctx, rec)
		r.dropPlan(ctx, id)
	}
	return nil
}
