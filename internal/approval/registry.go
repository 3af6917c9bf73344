package approval

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"openclaw/internal/state"
)

// Limits.
const (
	DefaultTimeout = 30 * time.Minute
	MaxTimeout     = 24 * time.Hour
	maxPending     = 1000
	maxOfSession   = 50
	// keepDecided is how long a decided request answers by its id after it is over.
	keepDecided = 3 * time.Hour
)

// Buckets of the store.
const (
	bucketRequests = "approval"      // pending ones, and decided ones that are still asked for
	bucketPlans    = "approval.plan" // what would run, with values of the environment
	bucketHistory  = "approval.past" // by time and id
)

// Store is what the registry needs of the durable store.
type Store interface {
	Get(ctx context.Context, bucket, key string) (state.Item, error)
	Put(ctx context.Context, bucket, key string, value []byte, rev int64) (int64, error)
	Delete(ctx context.Context, bucket, key string, rev int64) error
	Forget(ctx context.Context, bucket, key string) error
	Scan(ctx context.Context, bucket, after string, limit int) ([]state.Item, error)
	ScanBack(ctx context.Context, bucket, before string, limit int) ([]state.Item, error)
}

// Event tells of a request that was asked or has become final.
type Event struct {
	Record Record
	Final  bool
}

// Options of a registry. Store is required.
type Options struct {
	Store       Store
	Now         func() time.Time // nil = time.Now
	HistoryDays int              // 0 = 30

	// OnFinal is called once for every request that becomes final while the registry is
	// open, on a goroutine of its own that Close waits for.
	OnFinal func(context.Context, Record)
}

// Registry is all requests of this gateway (A-10..A-16). Its owner calls Close.
type Registry struct {
	opt  Options
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows; nothing is read or written while it is held
	all     map[string]*entry
	digests map[string]string // of pending requests: digest to id
	pending int
	shows   int // who is there to answer
	subs    map[*Subscription]struct{}
	timer   *time.Timer
	closed  bool
}

type entry struct {
	rec   Record
	rev   int64         // 0 = not durable yet: nobody sees it but who joins it
	final chan struct{} // closed when rec is final
	turn  chan struct{} // holds a token while somebody changes the record in the store
}

func newEntry() *entry { return &entry{final: make(chan struct{}), turn: make(chan struct{}, 1)} }

// take waits for the turn to change a record; the caller gives it back by release.
func (e *entry) take(ctx context.Context) error {
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *entry) release() { <-e.turn }

// Errors that callers tell apart.
var (
	ErrUnknown    = errors.New("unknown or expired approval id")
	ErrResolved   = errors.New("approval already resolved")
	ErrNotOffered = errors.New("is unavailable for this command")
	ErrLimit      = errors.New("too many approvals are pending")
	ErrTaken      = errors.New("approval id already pending")
)

// OpenRegistry reads what an earlier program left: pending requests stay, those whose time
// is up expire.
func OpenRegistry(ctx context.Context, opt Options) (*Registry, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.HistoryDays <= 0 {
		opt.HistoryDays = 30
	}
	r := &Registry{opt: opt, all: map[string]*entry{}, digests: map[string]string{}, subs: map[*Subscription]struct{}{}}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	for after := ""; ; {
		page, err := opt.Store.Scan(ctx, bucketRequests, after, 200)
		if err != nil {
			r.stop()
			return nil, fmt.Errorf("read the approvals: %w", err)
		}
		for _, it := range page {
			e := newEntry()
			e.rev = it.Rev
			if err := json.Unmarshal(it.Value, &e.rec); err != nil {
				r.stop()
				return nil, fmt.Errorf("read the approvals: %s: %w", it.Key, err)
			}
			r.add(e)
			after = it.Key
		}
		if len(page) < 200 {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schedule(time.Millisecond)
	for _, e := range r.all {
		if rec := e.rec; rec.Final() { // the one before may have died before it wrote this
			r.work.Go(func() { r.remember(r.ctx, rec) })
		}
	}
	return r, nil
}

// add puts an entry into the maps.
func (r *Registry) add(e *entry) {
	r.all[e.rec.ID] = e
	if e.rec.Final() {
		close(e.final)
		return
	}
	r.pending++
	if d := e.rec.Request.Digest; d != "" {
		r.digests[d] = e.rec.ID
	}
}

// Close waits for what is under way. Pending requests stay pending.
func (r *Registry) Close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	for s := range r.subs {
		s.end()
	}
	r.mu.Unlock()
	r.stop()
	r.work.Wait()
}

// Ask makes a request durable and tells of it; plan is what would run, kept beside it
// until it has ended. When an identical one is pending, that one is returned and joined is
// true. A timeout of 0 is 30 minutes. Errors wrap ErrLimit, ErrTaken or the store's.
func (r *Registry) Ask(ctx context.Context, id string, req Request, plan []byte, timeout time.Duration) (rec Record, joined bool, err error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	timeout = min(timeout, MaxTimeout)
	if id == "" {
		id = NewID(req.Kind)
	}
	now := r.opt.Now()
	e := newEntry()
	e.rec = Record{
		ID: id, Slug: slugOf(id), Request: req, Status: Pending,
		CreatedMs: now.UnixMilli(), ExpiresMs: now.Add(timeout).UnixMilli(),
	}
	e.turn <- struct{}{} // who joins it changes nothing before it is kept
	defer e.release()
	if other, err := r.reserve(e); err != nil || other != nil {
		return r.copyOf(other), other != nil, err
	}
	ctx = context.WithoutCancel(ctx) // see put
	if len(plan) > 0 {
		_, err = r.opt.Store.Put(ctx, bucketPlans, id, plan, 0)
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(e.rec)
	}
	var rev int64
	if err == nil {
		rev, err = r.opt.Store.Put(ctx, bucketRequests, id, data, 0)
	}
	if err != nil {
		r.abandon(e)
		r.dropPlan(ctx, id)
		return Record{}, false, fmt.Errorf("keep the approval request: %w", err)
	}
	r.mu.Lock()
	e.rev = rev
	rec = e.rec
	r.schedule(time.Millisecond)
	r.publish(Event{Record: rec})
	r.mu.Unlock()
	return rec, false, nil
}

// copyOf is an entry's record as it is now.
func (r *Registry) copyOf(e *entry) Record {
	if e == nil {
		return Record{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.rec
}

// reserve takes the place of a new request under the limits, or finds the one it joins.
func (r *Registry) reserve(e *entry) (other *entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	req := &e.rec.Request
	if id, ok := r.digests[req.Digest]; ok && req.Digest != "" {
		return r.all[id], nil
	}
	if r.closed {
		return nil, errors.New("shutting down: nothing new is asked")
	}
	if r.all[e.rec.ID] != nil {
		return nil, ErrTaken
	}
	if r.pending >= maxPending {
		return nil, fmt.Errorf("%w: %d of at most %d; decide some with openclaw approvals", ErrLimit, r.pending, maxPending)
	}
	of := 0
	for _, o := range r.all {
		if !o.rec.Final() && o.rec.Request.Agent == req.Agent && o.rec.Request.SessionKey == req.SessionKey {
			of++
		}
	}
	if of >= maxOfSession {
		return nil, fmt.Errorf("%w: %d of this session, at most %d; wait for their decisions", ErrLimit, of, maxOfSession)
	}
	r.add(e)
	return nil, nil
}

// abandon takes back a request that could not be kept.
func (r *Registry) abandon(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, e.rec.ID)
	r.pending--
	if r.digests[e.rec.Request.Digest] == e.rec.ID {
		delete(r.digests, e.rec.Request.Digest)
	}
	e.rec.Status, e.rec.Reason = Cancelled, ReasonAborted
	close(e.final)
}

// NewID makes the id of a new request.
func NewID(kind Kind) string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	id := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	if kind == KindPlugin {
		return "plugin:" + id
	}
	return id
}

// slugOf is the short form of an id that people type: any unambiguous beginning will do.
func slugOf(id string) string {
	short := id
	if len(id) > 7 && id[:7] == "plugin:" {
		short = id[7:]
	}
	return short[:min(8, len(short))]
}
