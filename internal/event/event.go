// Package event hands system events from those who publish to those who
// listen, in order, without ever waiting for a listener.
//
// No event may be dropped silently: an agent that misses the end of its run waits for
// ever. So every queue has a bound, and a listener that falls behind gets what it has
// and then ErrSlow. It comes back with the id of the last event it saw and is given
// what it missed from the history; where the history no longer reaches, Gap says so.
// The history can be kept in a file, so that it outlives the program. The package starts
// no goroutine.
package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"openclaw/internal/protocol"
)

// QueueSize is how many events wait for a listener before it counts as slow.
const QueueSize = 256

// Why a Subscription ended.
var (
	// ErrSlow: the listener fell behind. Subscribe again after the last event seen.
	ErrSlow = errors.New("listener too slow: subscribe again after the last event seen")
	// ErrClosed: the Bus or the Subscription was closed.
	ErrClosed = errors.New("event subscription closed")
)

// Bus passes events on. It is safe for concurrent use. Make one with New.
type Bus struct {
	now   func() time.Time
	epoch string
	keep  int

	publishing sync.Mutex // one Publish at a time, since it writes to the file; taken before mu
	file       *file      // nil = the history is kept in memory only; guarded by publishing

	mu      sync.Mutex // guards all below and the fields of every Subscription that say so
	seq     uint64     // of the newest event; the first is 1
	history []protocol.Event
	subs    map[*Subscription]struct{}
	closed  bool
}

// New makes a Bus. The epoch tells this start of the daemon from others in event ids;
// history is how many events are kept for listeners that come back, at least QueueSize
// if a slow one shall miss nothing.
func New(now func() time.Time, epoch string, history int) *Bus {
	return &Bus{now: now, epoch: epoch, keep: history, subs: map[*Subscription]struct{}{}}
}

// Publish stamps an event with its id and time and queues it for every listener that
// wants it. It never blocks on one. The returned value is what they get; what its
// pointers lead to must not change any more. With a file the event is in it before
// anybody gets it; a disk that refuses keeps nobody from getting it. After Close it only
// stamps.
func (b *Bus) Publish(e protocol.Event) protocol.Event {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	b.mu.Lock()
	next, closed := b.seq+1, b.closed
	b.mu.Unlock()
	e.ID = b.epoch + "-" + strconv.FormatUint(next, 10)
	e.AtMs = b.now().UnixMilli()
	if !closed {
		b.file.write(e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq = next // with the history, so that the two always fit
	if closed {
		return e
	}
	if b.keep > 0 {
		if len(b.history) >= b.keep {
			b.history = b.history[1:] // append moves the rest to a new array now and then
		}
		b.history = append(b.history, e)
	}
	for s := range b.subs {
		if s.filter == nil || s.filter(e) {
			s.push(e)
		}
	}
	return e
}

// Subscribe listens to the events that filter accepts; nil accepts all. The filter is
// called while the Bus is locked: it must be quick and not call the Bus. With after =
// "" only new events come; else first those of the history behind the event with that
// id. If that event is unknown or too old, all of the history comes and Gap is true.
// The caller closes the Subscription.
func (b *Bus) Subscribe(filter func(protocol.Event) bool, after string) *Subscription {
	s := &Subscription{bus: b, filter: filter, ready: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if after != "" {
		var missed []protocol.Event
		missed, s.gap = b.since(after)
		for _, e := range missed {
			if filter == nil || filter(e) {
				s.queue = append(s.queue, e)
			}
		}
	}
	s.limit = len(s.queue) + QueueSize
	if b.closed {
		s.end = ErrClosed
		return s
	}
	b.subs[s] = struct{}{}
	return s
}

// Has reports whether an event with that key is in the history.
func (b *Bus) Has(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.history, func(e protocol.Event) bool { return e.Key == key })
}

// Close ends every Subscription with ErrClosed, after the events it still has.
func (b *Bus) Close() {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	b.file.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		s.stop(ErrClosed)
	}
}

// since returns the part of the history behind an event, and whether events between
// the two may be missing. The caller holds mu.
func (b *Bus) since(after string) (missed []protocol.Event, gap bool) {
	seq, err := b.parse(after)
	oldest := b.seq - uint64(len(b.history)) // the one before the history's first
	if err != nil || seq < oldest || seq > b.seq {
		return b.history, true
	}
	return b.history[seq-oldest:], false
}

// parse reads the number in an id of this epoch. Only the form that Publish writes is
// one.
func (b *Bus) parse(id string) (uint64, error) {
	num, ok := strings.CutPrefix(id, b.epoch+"-")
	if !ok {
		return 0, errors.New("event id of another epoch")
	}
	seq, err := strconv.ParseUint(num, 10, 64)
	if err != nil || strconv.FormatUint(seq, 10) != num {
		return 0, fmt.Errorf("event id %.80q: not a number behind the epoch", id)
	}
	return seq, nil
}

// Subscription is one listener's queue. Next is for one goroutine at a time; Close may
// be called from any.
type Subscription struct {
	bus    *Bus
	filter func(protocol.Event) bool
	gap    bool
	ready  chan struct{} // holds a token after queue or end changed

	// Guarded by bus.mu.
	queue []protocol.Event
	limit int   // of queue: its bound, and room for what was replayed
	end   error // why no more will come
}

// Gap says that events between the id given to Subscribe and the first one returned
// may be missing.
func (s *Subscription) Gap() bool { return s.gap }

// Next returns the next event, waiting for it until ctx ends. When no more will come
// it returns ErrSlow or ErrClosed, again and again.
func (s *Subscription) Next(ctx context.Context) (protocol.Event, error) {
	for {
		if ctx.Err() != nil {
			return protocol.Event{}, context.Cause(ctx)
		}
		if e, ok, err := s.take(); ok || err != nil {
			return e, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
		}
	}
}

// Close ends the Subscription and forgets what it still has. A second call does nothing.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.queue = nil
	if s.end == nil {
		s.stop(ErrClosed)
	}
}

// take returns the oldest queued event, or why there will be none.
func (s *Subscription) take() (protocol.Event, bool, error) {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	if len(s.queue) == 0 {
		return protocol.Event{}, false, s.end
	}
	e := s.queue[0]
	s.queue[0] = protocol.Event{} // lets go of its strings
	s.queue = s.queue[1:]
	s.limit = max(QueueSize, s.limit-1) // what was replayed leaves no room behind
	return e, true, nil
}

// push queues an event or, without room, ends the Subscription. The caller holds bus.mu.
func (s *Subscription) push(e protocol.Event) {
	if len(s.queue) >= s.limit {
		s.stop(ErrSlow)
		return
	}
	s.queue = append(s.queue, e)
	s.wake()
}

// stop takes the Subscription off the Bus. The caller holds bus.mu.
func (s *Subscription) stop(why error) {
	s.end = why
	delete(s.bus.subs, s)
	s.wake()
}

// wake leaves a token for Next; one is enough for any number of changes.
func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
