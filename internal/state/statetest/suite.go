// Package statetest holds what every implementation of the durable store has to keep.
package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"openclaw/internal/state"
)

// Store is what an implementation offers.
type Store interface {
	Get(ctx context.Context, bucket, key string) (state.Item, error)
	Put(ctx context.Context, bucket, key string, value []byte, rev int64) (int64, error)
	Delete(ctx context.Context, bucket, key string, rev int64) error
	Scan(ctx context.Context, bucket, after string, limit int) ([]state.Item, error)
	ScanBack(ctx context.Context, bucket, before string, limit int) ([]state.Item, error)
	Append(ctx context.Context, log string, atMs int64, data []byte) (int64, error)
	Read(ctx context.Context, log string, after int64, limit int) ([]state.Record, error)
	ReadBack(ctx context.Context, log string, before int64, limit int) ([]state.Record, error)
	Trim(ctx context.Context, log string, beforeMs int64) (int, error)
	Close() error
}

// Run holds an implementation against the rules. Open opens the store of one place; a
// second call, after Close, has to find what was there.
func Run(t *testing.T, open func(t *testing.T) func() Store) {
	for name, test := range map[string]func(*testing.T, func() Store){
		"compare and set": compareAndSet, "delete": deleting, "scan": scanning, "logs": logs, "one winner": oneWinner,
		"survives closing": survives, "limits": limits, "names": names,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func compareAndSet(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	if _, err := s.Get(ctx, "b", "k"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("a key that is not there: %v", err)
	}
	rev := must(s.Put(ctx, "b", "k", []byte("one"), 0))(t)
	if _, err := s.Put(ctx, "b", "k", []byte("x"), 0); !errors.Is(err, state.ErrConflict) {
		t.Errorf("made twice: %v", err)
	}
	next := must(s.Put(ctx, "b", "k", []byte("two\x00\xff"), rev))(t)
	if next <= rev {
		t.Errorf("revision %d after %d", next, rev)
	}
	if _, err := s.Put(ctx, "b", "k", []byte("x"), rev); !errors.Is(err, state.ErrConflict) {
		t.Errorf("set with an old revision: %v", err)
	}
	it := must(s.Get(ctx, "b", "k"))(t)
	if it.Rev != next || string(it.Value) != "two\x00\xff" {
		t.Errorf("%+v", it)
	}
	if _, err := s.Get(ctx, "other", "k"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("another bucket: %v", err)
	}
}

// must gives a call's value when there is no error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func deleting(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	rev := must(s.Put(ctx, "b", "k", []byte("v"), 0))(t)
	if err := s.Delete(ctx, "b", "k", rev+1); !errors.Is(err, state.ErrConflict) {
		t.Errorf("with another revision: %v", err)
	}
	if err := s.Delete(ctx, "b", "k", rev); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, "b", "k", rev); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if _, err := s.Get(ctx, "b", "k"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if _, err := s.Put(ctx, "b", "k", []byte("x"), rev); !errors.Is(err, state.ErrConflict) {
		t.Errorf("an old revision revived it: %v", err)
	}
	if again := must(s.Put(ctx, "b", "k", []byte("v"), 0))(t); again <= rev {
		t.Errorf("revision %d after %d was deleted", again, rev)
	}
}

func scanning(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	var want []string
	for i := range 25 {
		k := fmt.Sprintf("k%02d", i)
		rev := must(s.Put(ctx, "b", k, []byte(k), 0))(t)
		if i%5 == 0 {
			if err := s.Delete(ctx, "b", k, rev); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want = append(want, k)
	}
	must(s.Put(ctx, "c", "other", nil, 0))(t)
	var got []string
	for after := ""; ; {
		page := must(s.Scan(ctx, "b", after, 7))(t)
		if len(page) == 0 {
			break
		}
		for _, it := range page {
			got = append(got, it.Key)
			if !bytes.Equal(it.Value, []byte(it.Key)) {
				t.Errorf("%s has %q", it.Key, it.Value)
			}
		}
		after = got[len(got)-1]
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got = nil
	for before := ""; ; before = got[len(got)-1] {
		page := must(s.ScanBack(ctx, "b", before, 7))(t)
		for _, it := range page {
			got = append(got, it.Key)
		}
		if len(page) < 7 {
			break
		}
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("from behind %v, want %v", got, want)
	}
}

func logs(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	for i := range 10 {
		if seq := must(s.Append(ctx, "l", int64(i*100), []byte{byte(i)}))(t); seq != int64(i+1) {
			t.Errorf("number %d, want %d", seq, i+1)
		}
	}
	if seq := must(s.Append(ctx, "m", 0, nil))(t); seq != 1 {
		t.Errorf("another log begins with %d", seq)
	}
	page := must(s.Read(ctx, "l", 3, 2))(t)
	if len(page) != 2 || page[0].Seq != 4 || page[1].Data[0] != 4 || page[0].AtMs != 300 {
		t.Errorf("%+v", page)
	}
	back := must(s.ReadBack(ctx, "l", 0, 2))(t)
	if len(back) != 2 || back[0].Seq != 10 || back[1].Seq != 9 {
		t.Errorf("%+v", back)
	}
	if back = must(s.ReadBack(ctx, "l", 9, 100))(t); len(back) != 8 || back[0].Seq != 8 {
		t.Errorf("%+v", back)
	}
	if n := must(s.Trim(ctx, "l", 10_000))(t); n != 10 {
		t.Errorf("%d trimmed", n)
	}
	if seq := must(s.Append(ctx, "l", 1, nil))(t); seq != 11 {
		t.Errorf("a number was used again: %d", seq)
	}
}

// oneWinner: of many who set a key at once with one revision, one does.
func oneWinner(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	rev := must(s.Put(ctx, "b", "k", []byte("v"), 0))(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 50 {
		wg.Go(func() {
			_, err := s.Put(ctx, "b", "k", fmt.Append(nil, i), rev)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, state.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d winners", won)
	}
}

func survives(t *testing.T, open func() Store) {
	s := open()
	ctx := t.Context()
	rev := must(s.Put(ctx, "b", "k", []byte("v"), 0))(t)
	must(s.Append(ctx, "l", 5, []byte("r")))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, "b", "k", nil, rev); !errors.Is(err, state.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	s = open()
	defer s.Close()
	if it := must(s.Get(ctx, "b", "k"))(t); it.Rev != rev || string(it.Value) != "v" {
		t.Errorf("%+v", it)
	}
	if r := must(s.Read(ctx, "l", 0, 10))(t); len(r) != 1 || string(r[0].Data) != "r" {
		t.Errorf("%+v", r)
	}
}

func limits(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	long := string(bytes.Repeat([]byte("k"), state.MaxKey+1))
	for _, err := range []error{
		fault(s.Put(ctx, "", "k", nil, 0)), fault(s.Put(ctx, "b", long, nil, 0)), fault(s.Put(ctx, "b", "k", make([]byte, state.MaxValue+1), 0)),
		fault(s.Append(ctx, "", 0, nil)), fault(s.Append(ctx, "l", 0, make([]byte, state.MaxValue+1))),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	big := make([]byte, state.MaxValue)
	must(s.Put(ctx, "b", "k", big, 0))(t)
	if it := must(s.Get(ctx, "b", "k"))(t); len(it.Value) != len(big) {
		t.Errorf("%d bytes", len(it.Value))
	}
}

// fault gives a call's error.
func fault[T any](_ T, err error) error { return err }

// names: any bytes are a name, kept apart and in the order of bytes; a limit that asks for
// nothing gets nothing.
func names(t *testing.T, open func() Store) {
	s := open()
	defer s.Close()
	ctx := t.Context()
	want := []string{"\x00", "\x00a", "A", "a", "a\x00", "a\x00b", "a ", "a/b", "aB", "ab", "\u00fc", "\xff", "\xff\xff"}
	slices.Sort(want)
	for i, key := range want {
		must(s.Put(ctx, "a", key, []byte(key), 0))(t)
		must(s.Append(ctx, key, int64(i), []byte(key)))(t)
	}
	must(s.Put(ctx, "a\x00", "b", nil, 0))(t)
	must(s.Put(ctx, "A", "b", nil, 0))(t)
	var got []string
	for _, it := range must(s.Scan(ctx, "a", "", 100))(t) {
		got = append(got, it.Key)
		if one := must(s.Get(ctx, "a", it.Key))(t); string(one.Value) != it.Key || string(it.Value) != it.Key {
			t.Errorf("%q holds %q and %q", it.Key, one.Value, it.Value)
		}
		if r := must(s.Read(ctx, it.Key, 0, 100))(t); len(r) != 1 || string(r[0].Data) != it.Key {
			t.Errorf("log %q holds %+v", it.Key, r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, limit := range []int{0, -1} {
		all := len(must(s.Scan(ctx, "a", "", limit))(t)) + len(must(s.ScanBack(ctx, "a", "", limit))(t)) +
			len(must(s.Read(ctx, "a", 0, limit))(t)) + len(must(s.ReadBack(ctx, "a", 0, limit))(t))
		if all != 0 {
			t.Errorf("limit %d gave %d", limit, all)
		}
	}
}
