package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"openclaw/internal/state"
)

// Resolve records a decision. Of several that come at once one wins, by the store; who
// repeats it gets applied false and no error, another one gets the record as it is and
// ErrResolved. The id may be an unambiguous beginning. Other errors: ErrUnknown,
// ErrNotOffered, the store's: then nothing was decided.
func (r *Registry) Resolve(ctx context.Context, id string, d Decision, by Resolver) (rec Record, applied bool, err error) {
	e, err := r.find(id)
	if err != nil {
		return Record{}, false, err
	}
	rec, applied, err = r.finish(ctx, e, func(rec *Record) error {
		if !rec.Offers(d) {
			return fmt.Errorf("%s %w", d, ErrNotOffered)
		}
		rec.Decision, rec.Reason, rec.Resolver = d, ReasonUser, &by
		if rec.Status = Denied; d.Allows() {
			rec.Status = Allowed
		}
		return nil
	})
	if err != nil || applied {
		return rec, applied, err
	}
	if rec.Decision != d {
		return rec, false, fmt.Errorf("%w: %s", ErrResolved, describe(&rec))
	}
	return rec, false, nil
}

// describe says how a request ended.
func describe(rec *Record) string {
	text := string(rec.Status)
	if rec.Decision != "" {
		text = string(rec.Decision)
	}
	if by := rec.Resolver; by != nil {
		name := by.Name
		if name == "" {
			name = by.Kind + ":" + by.ID
		}
		text += " by " + name
	}
	if rec.Reason != "" && rec.Reason != ReasonUser {
		text += " (" + rec.Reason + ")"
	}
	return text
}

// Refuse ends a pending request as denied for a reason of the system's: nobody can answer
// it any more.
func (r *Registry) Refuse(ctx context.Context, id, reason string) (Record, bool, error) {
	return r.end(ctx, id, func(rec *Record) { rec.Status, rec.Decision, rec.Reason = Denied, DenyIt, reason })
}

// Cancel ends a pending request whose caller has gone.
func (r *Registry) Cancel(ctx context.Context, id, reason string) (Record, bool, error) {
	return r.end(ctx, id, func(rec *Record) { rec.Status, rec.Reason = Cancelled, reason })
}

func (r *Registry) end(ctx context.Context, id string, set func(*Record)) (Record, bool, error) {
	e, err := r.find(id)
	if err != nil {
		return Record{}, false, err
	}
	return r.finish(ctx, e, func(rec *Record) error { set(rec); return nil })
}

// find gives the entry of an id or of an unambiguous beginning of one.
func (r *Registry) find(id string) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.all[id]; e != nil && e.rev != 0 {
		return e, nil
	}
	low := strings.ToLower(id)
	var found *entry
	for full, e := range r.all {
		if len(low) < 4 || e.rev == 0 || !strings.HasPrefix(strings.TrimPrefix(full, "plugin:"), low) && !strings.HasPrefix(full, low) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: %q is the beginning of several; give more of it", ErrUnknown, id)
		}
		found = e
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	return found, nil
}

// finish makes a pending request final: durable first, then everybody is told. It reports
// false, with the record as it is, when it was final already or its time is up.
func (r *Registry) finish(ctx context.Context, e *entry, set func(*Record) error) (Record, bool, error) {
	if err := e.take(ctx); err != nil {
		return Record{}, false, err
	}
	defer e.release()
	r.mu.Lock()
	rec, rev := e.rec, e.rev
	r.mu.Unlock()
	late := rec.ExpiresMs <= r.opt.Now().UnixMilli()
	switch {
	case rec.Final():
		return rec, false, nil
	case late:
		rec.Status, rec.Reason = Expired, ReasonTimeout
	default:
		if err := set(&rec); err != nil {
			return rec, false, err
		}
	}
	rec.ResolvedMs = r.opt.Now().UnixMilli()
	next, err := r.put(ctx, &rec, rev)
	if err != nil {
		return Record{}, false, fmt.Errorf("keep the decision: %w", err)
	}
	r.became(e, rec, next)
	return rec, !late, nil
}

// put keeps a record. It does not end with ctx: the store may make a change whose caller has
// gone, and then what is known here would not be what is kept.
func (r *Registry) put(ctx context.Context, rec *Record, rev int64) (int64, error) {
	data, err := json.Marshal(rec)
	if err != nil {
		return 0, err
	}
	return r.opt.Store.Put(context.WithoutCancel(ctx), bucketRequests, rec.ID, data, rev)
}

// became makes a final state known, once it is durable.
func (r *Registry) became(e *entry, rec Record, rev int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.rec, e.rev = rec, rev
	r.pending--
	if r.digests[rec.Request.Digest] == rec.ID {
		delete(r.digests, rec.Request.Digest)
	}
	close(e.final)
	r.publish(Event{Record: rec, Final: true})
	if r.closed {
		return
	}
	r.work.Go(func() {
		r.remember(r.ctx, rec)
		if !rec.Decision.Allows() {
			r.dropPlan(r.ctx, rec.ID)
		}
		if r.opt.OnFinal != nil {
			r.opt.OnFinal(r.ctx, rec)
		}
	})
}

// schedule sets the timer for the next request that expires, or decided one that is
// forgotten, no sooner than least. Callers hold mu.
func (r *Registry) schedule(least time.Duration) {
	if r.closed {
		return
	}
	next := int64(0)
	for _, e := range r.all {
		at := e.rec.ExpiresMs
		if e.rec.Final() {
			at = e.rec.ResolvedMs + keepDecided.Milliseconds()
		}
		if next == 0 || at < next {
			next = at
		}
	}
	if next == 0 {
		return
	}
	in := max(time.UnixMilli(next).Sub(r.opt.Now())+time.Millisecond, least)
	if r.timer == nil {
		r.timer = time.AfterFunc(in, r.tick)
		return
	}
	r.timer.Reset(in)
}

// tick expires what is due and forgets what nobody asks for any more.
func (r *Registry) tick() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	now := r.opt.Now().UnixMilli()
	var due, old []*entry
	for _, e := range r.all {
		switch {
		case !e.rec.Final() && e.rev != 0 && e.rec.ExpiresMs <= now:
			due = append(due, e)
		case e.rec.Final() && e.rec.ResolvedMs+keepDecided.Milliseconds() <= now:
			old = append(old, e)
		}
	}
	r.work.Add(1)
	r.mu.Unlock()
	defer r.work.Done()
	again := time.Millisecond
	for _, e := range due {
		_, _, err := r.finish(r.ctx, e, func(rec *Record) error {
			rec.Status, rec.Reason = Expired, ReasonTimeout
			return nil
		})
		if err != nil { // a full disk, perhaps: tried again, but not without a pause
			again = time.Second
		}
	}
	for _, e := range old {
		r.forget(r.ctx, e)
	}
	r.mu.Lock()
	r.schedule(again)
	r.mu.Unlock()
}

// forget drops a decided request that is over; its history stays.
func (r *Registry) forget(ctx context.Context, e *entry) {
	r.mu.Lock()
	rec, rev := e.rec, e.rev
	r.mu.Unlock()
	if rec.Run != nil && !rec.Run.Over() {
		r.mu.Lock()
		e.rec.ResolvedMs = r.opt.Now().UnixMilli() // a long command: looked at again later
		r.mu.Unlock()
		return
	}
	r.dropPlan(ctx, rec.ID)
	if err := r.opt.Store.Delete(ctx, bucketRequests, rec.ID, rev); err != nil && !errors.Is(err, state.ErrNotFound) {
		return
	}
	_ = r.opt.Store.Forget(ctx, bucketRequests, rec.ID)
	r.mu.Lock()
	delete(r.all, rec.ID)
	r.mu.Unlock()
}

// Get gives a request by its id or an unambiguous beginning of one, or ErrUnknown.
func (r *Registry) Get(id string) (Record, error) {
	e, err := r.find(id)
	if err != nil {
		return Record{}, err
	}
	return r.copyOf(e), nil
}

// Wait returns the request once it is final, or as it is when ctx ends.
func (r *Registry) Wait(ctx context.Context, id string) (Record, error) {
	r.mu.Lock()
	e := r.all[id]
	r.mu.Unlock()
	if e == nil {
		return Record{}, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	var err error
	select {
	case <-e.final:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-r.ctx.Done():
		err = errors.New("shutting down")
	}
	return r.copyOf(e), err
}

// Pending lists the pending requests, the oldest first.
func (r *Registry) Pending() []Record {
	r.mu.Lock()
	out := make([]Record, 0, r.pending)
	for _, e := range r.all {
		if !e.rec.Final() && e.rev != 0 {
			out = append(out, e.rec)
		}
	}
	r.mu.Unlock()
	slices.SortFunc(out, func(a, b Record) int {
		if a.CreatedMs != b.CreatedMs {
			return int(a.CreatedMs - b.CreatedMs)
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// Unfinished lists the allowed requests whose command is not over, as an earlier program
// left them.
func (r *Registry) Unfinished() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Record
	for _, e := range r.all {
		if e.rec.Decision.Allows() && e.rec.Request.Kind == KindExec && e.rec.Request.Asker == "" && !e.rec.Run.Over() {
			out = append(out, e.rec)
		}
	}
	return out
}
