package event_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/event"
	"openclaw/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublishStamps(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	b := event.New(func() time.Time { return at }, "e1", 10)
	s := b.Subscribe(nil, "")
	defer s.Close()
	sent := b.Publish(protocol.Event{ID: "forged", Kind: protocol.EventFinished, AtMs: 1})
	if sent.ID != "e1-1" || sent.AtMs != at.UnixMilli() || sent.Kind != protocol.EventFinished {
		t.Errorf("Publish = %+v", sent)
	}
	if got := next(t, s); got != sent {
		t.Errorf("Next = %+v", got)
	}
	if got := b.Publish(protocol.Event{}); got.ID != "e1-2" {
		t.Errorf("second id %q", got.ID)
	}
}

func TestFilter(t *testing.T) {
	b := event.New(time.Now, "e", 10)
	mine := func(e protocol.Event) bool { return e.Agent == "a" }
	live := b.Subscribe(mine, "")
	defer live.Close()
	publish(b, "b", "a", "b", "a")
	replayed := b.Subscribe(mine, "e-0")
	defer replayed.Close()
	for _, s := range []*event.Subscription{live, replayed} {
		assertIDs(t, s, "e-2", "e-4")
	}
}

func TestReplayAfterLastEventID(t *testing.T) {
	for _, tt := range []struct {
		after string
		want  []string
		gap   bool
	}{
		{"", nil, false},
		{"e-7", nil, false},
		{"e-6", []string{"e-7"}, false},
		{"e-4", []string{"e-5", "e-6", "e-7"}, false},
		{"e-3", []string{"e-5", "e-6", "e-7"}, true}, // e-4 has gone
		{"e-0", []string{"e-5", "e-6", "e-7"}, true},
		{"e-8", []string{"e-5", "e-6", "e-7"}, true}, // never was
		{"e-06", []string{"e-5", "e-6", "e-7"}, true},
		{"e-x", []string{"e-5", "e-6", "e-7"}, true},
		{"old-6", []string{"e-5", "e-6", "e-7"}, true}, // another start of the daemon
		{"e-18446744073709551616", []string{"e-5", "e-6", "e-7"}, true},
	} {
		t.Run(tt.after, func(t *testing.T) {
			b := event.New(time.Now, "e", 3)
			publish(b, "a", "a", "a", "a", "a", "a", "a")
			s := b.Subscribe(nil, tt.after)
			defer s.Close()
			if s.Gap() != tt.gap {
				t.Errorf("Gap = %v", s.Gap())
			}
			publish(b, "a") // a live one follows the replay directly
			assertIDs(t, s, append(tt.want, "e-8")...)
		})
	}
}

func TestNoHistory(t *testing.T) {
	b := event.New(time.Now, "e", 0)
	publish(b, "a")
	s := b.Subscribe(nil, "e-0")
	defer s.Close()
	if !s.Gap() {
		t.Error("no gap, though e-1 is not kept")
	}
	publish(b, "a")
	assertIDs(t, s, "e-2")
}

// A slow listener gets all that was queued, then ErrSlow, and misses nothing by coming
// back with the last id.
func TestSlowListenerComesBack(t *testing.T) {
	b := event.New(time.Now, "e", 2*event.QueueSize)
	s := b.Subscribe(nil, "")
	defer s.Close()
	const total = event.QueueSize + 10
	for range total {
		b.Publish(protocol.Event{})
	}
	var last string
	for i := range event.QueueSize {
		last = next(t, s).ID
		if want := fmt.Sprintf("e-%d", i+1); last != want {
			t.Fatalf("got %s, want %s", last, want)
		}
	}
	for range 2 {
		if _, err := s.Next(t.Context()); !errors.Is(err, event.ErrSlow) {
			t.Fatalf("Next = %v", err)
		}
	}
	again := b.Subscribe(nil, last)
	defer again.Close()
	if again.Gap() {
		t.Error("gap")
	}
	for i := event.QueueSize; i < total; i++ {
		if got := next(t, again).ID; got != fmt.Sprintf("e-%d", i+1) {
			t.Fatalf("got %s", got)
		}
	}
}

// A long replay does not make the listener slow at once, nor give it more room later.
func TestReplayLongerThanQueue(t *testing.T) {
	const old = 3 * event.QueueSize
	b := event.New(time.Now, "e", old)
	for range old {
		b.Publish(protocol.Event{})
	}
	s := b.Subscribe(nil, "e-0")
	defer s.Close()
	b.Publish(protocol.Event{})
	for range old + 1 {
		next(t, s)
	}
	for range event.QueueSize + 1 {
		b.Publish(protocol.Event{})
	}
	for range event.QueueSize {
		next(t, s)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, event.ErrSlow) {
		t.Errorf("Next = %v", err)
	}
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := event.New(time.Now, "e", 10)
		s := b.Subscribe(nil, "")
		done := make(chan error, 1)
		go func() {
			_, err := s.Next(t.Context())
			done <- err
		}()
		synctest.Wait()
		publish(b, "a")
		if err := <-done; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("caller gone"))
		defer cancel()
		if _, err := s.Next(ctx); err == nil || err.Error() != "caller gone" {
			t.Errorf("Next = %v", err)
		}
		go func() {
			_, err := s.Next(t.Context())
			done <- err
		}()
		synctest.Wait()
		s.Close()
		if err := <-done; !errors.Is(err, event.ErrClosed) {
			t.Errorf("Next after Close = %v", err)
		}
		s.Close()
	})
}

func TestBusClose(t *testing.T) {
	b := event.New(time.Now, "e", 10)
	s := b.Subscribe(nil, "")
	publish(b, "a")
	b.Close()
	publish(b, "a")
	assertIDs(t, s, "e-1")
	if _, err := s.Next(t.Context()); !errors.Is(err, event.ErrClosed) {
		t.Errorf("Next = %v", err)
	}
	late := b.Subscribe(nil, "e-0")
	assertIDs(t, late, "e-1")
	if _, err := late.Next(t.Context()); !errors.Is(err, event.ErrClosed) {
		t.Errorf("Next of a late one = %v", err)
	}
	late.Close()
	b.Close()
}

// Many publishers, listeners that keep coming back: each sees every event once, in order.
func TestConcurrent(t *testing.T) {
	const publishers, each, listeners = 4, 500, 4
	b := event.New(time.Now, "e", publishers*each)
	var wg sync.WaitGroup
	for range listeners {
		wg.Go(func() {
			last := "e-0"
			for n := 0; n < publishers*each; {
				s := b.Subscribe(nil, last)
				if s.Gap() {
					t.Error("gap")
				}
				for n < publishers*each {
					e, err := s.Next(t.Context())
					if errors.Is(err, event.ErrSlow) {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
					n++
					if want := fmt.Sprintf("e-%d", n); e.ID != want {
						t.Errorf("got %s, want %s", e.ID, want)
						return
					}
					last = e.ID
				}
				s.Close()
			}
		})
	}
	for range publishers {
		wg.Go(func() {
			for range each {
				b.Publish(protocol.Event{})
			}
		})
	}
	wg.Wait()
}

func BenchmarkPublish(b *testing.B) {
	bus := event.New(time.Now, "e", 1000)
	subs := make([]*event.Subscription, 10)
	for i := range subs {
		subs[i] = bus.Subscribe(nil, "")
		defer subs[i].Close()
	}
	for b.Loop() {
		bus.Publish(protocol.Event{})
		for _, s := range subs {
			if _, err := s.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func publish(b *event.Bus, agents ...string) {
	for _, a := range agents {
		b.Publish(protocol.Event{Agent: a})
	}
}

func next(t *testing.T, s *event.Subscription) protocol.Event {
	t.Helper()
	e, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// assertIDs reads as many events as ids are given.
func assertIDs(t *testing.T, s *event.Subscription, ids ...string) {
	t.Helper()
	for _, want := range ids {
		if got := next(t, s).ID; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
