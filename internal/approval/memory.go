package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"openclaw/internal/state"
)

// Memory is a Store that ends with the program: for one command run without a gateway,
// whose caller waits for the answer itself.
type Memory struct {
	mu    sync.Mutex // guards items and revs
	items map[string]state.Item
	revs  map[string]int64
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{items: map[string]state.Item{}, revs: map[string]int64{}} }

var _ Store = (*Memory)(nil)

// Get is state.Store's.
func (m *Memory) Get(_ context.Context, bucket, key string) (state.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.items[bucket+"\x00"+key]
	if !ok {
		return state.Item{}, fmt.Errorf("%s/%s: %w", bucket, key, state.ErrNotFound)
	}
	return it, nil
}

// Put is state.Store's.
func (m *Memory) Put(_ context.Context, bucket, key string, value []byte, rev int64) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	full := bucket + "\x00" + key
	if it, ok := m.items[full]; ok != (rev != 0) || ok && it.Rev != rev {
		return 0, fmt.Errorf("%s/%s: %w", bucket, key, state.ErrConflict)
	}
	m.revs[full]++
	m.items[full] = state.Item{Key: key, Value: value, Rev: m.revs[full]}
	return m.revs[full], nil
}

// Delete is state.Store's.
func (m *Memory) Delete(_ context.Context, bucket, key string, rev int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	full := bucket + "\x00" + key
	it, ok := m.items[full]
	switch {
	case !ok:
		return fmt.Errorf("%s/%s: %w", bucket, key, state.ErrNotFound)
	case it.Rev != rev:
		return fmt.Errorf("%s/%s: %w", bucket, key, state.ErrConflict)
	}
	delete(m.items, full)
	m.revs[full]++
	return nil
}

// Forget is state.Store's.
func (m *Memory) Forget(_ context.Context, bucket, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if full := bucket + "\x00" + key; m.items[full].Rev == 0 {
		delete(m.revs, full)
	}
	return nil
}

// Scan is state.Store's.
func (m *Memory) Scan(_ context.Context, bucket, after string, limit int) ([]state.Item, error) {
	all := m.bucket(bucket, func(key string) bool { return key > after })
	return all[:min(limit, len(all))], nil
}

// ScanBack is state.Store's.
func (m *Memory) ScanBack(_ context.Context, bucket, before string, limit int) ([]state.Item, error) {
	all := m.bucket(bucket, func(key string) bool { return before == "" || key < before })
	slices.Reverse(all)
	return all[:min(limit, len(all))], nil
}

func (m *Memory) bucket(bucket string, want func(key string) bool) []state.Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Item
	for full, it := range m.items {
		if strings.HasPrefix(full, bucket+"\x00") && want(it.Key) {
			out = append(out, it)
		}
	}
	slices.SortFunc(out, func(a, b state.Item) int { return strings.Compare(a.Key, b.Key) })
	return out
}
