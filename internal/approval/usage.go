package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"openclaw/internal/policy"
)

const (
	usageDelay    = 1500 * time.Millisecond // from the first note to the write; A-4 wants it within 2 s
	usageMaxDelay = time.Minute             // between two tries that fail
	usageWait     = 10 * time.Second        // for the document's lock
)

// Usage notes which entries matched, and writes it into the document in batches. It
// may be used by many at once. Its goroutine ends with Close.
type Usage struct {
	file   *File
	report func(error)
	ctx    context.Context // ends the goroutine
	cancel context.CancelFunc
	wake   chan struct{} // holds a token when there is something to write
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards what follows
	pending map[usageKey]use
	closed  bool
}

// usageKey names an entry; one without an id is found by what it says.
type usageKey struct{ agent, id, pattern, argPattern string }

// use is the last match of an entry.
type use struct {
	atMs              int64 // Unix time in ms
	command, resolved string
}

// NewUsage starts to note the usage of the document's entries; the caller closes it. report
// gets what goes wrong with a write, which is tried again later; it may be nil.
func (f *File) NewUsage(report func(error)) *Usage {
	ctx, cancel := context.WithCancel(context.Background())
	u := &Usage{
		file: f, report: report, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), done: make(chan struct{}), pending: map[usageKey]use{},
	}
	go u.run()
	return u
}

// Note says that an entry matched: atMs is the Unix time in ms, resolvedPath the program's
// real path. Secrets in the command are masked before it is written. Note waits for nothing;
// after Close it does nothing.
func (u *Usage) Note(entry policy.EntryRef, atMs int64, command, resolvedPath string) {
	key := usageKey{strings.ToLower(entry.Agent), entry.ID, entry.Pattern, entry.ArgPattern}
	u.mu.Lock()
	if !u.closed && atMs >= u.pending[key].atMs {
		u.pending[key] = use{atMs, command, resolvedPath}
	}
	u.mu.Unlock()
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// Close writes what is noted, waiting for the document's lock until ctx ends. A second call
// does nothing.
func (u *Usage) Close(ctx context.Context) error {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.cancel()
	<-u.done
	return u.flush(ctx)
}

func (u *Usage) run() {
	defer close(u.done)
	delay := usageDelay
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-u.wake:
		}
		timer := time.NewTimer(delay)
		select {
		case <-u.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		ctx, cancel := context.WithTimeout(u.ctx, usageWait)
		err := u.flush(ctx)
		cancel()
		switch {
		case err == nil:
			delay = usageDelay
			continue
		case u.ctx.Err() != nil: // Close tries it again and tells
			return
		case u.report != nil:
			u.report(err)
		}
		delay = min(2*delay, usageMaxDelay)
		select {
		case u.wake <- struct{}{}: // what could not be written is still there
		default:
		}
	}
}

// flush merges what is noted into the document as it is then. After an error everything is
// noted still.
func (u *Usage) flush(ctx context.Context) error {
	u.mu.Lock()
	notes := u.pending
	u.pending = map[usageKey]use{}
	u.mu.Unlock()
	if len(notes) == 0 {
		return nil
	}
	err := u.file.edit(ctx, func(root *object) (bool, error) { return mergeUsage(root, notes), nil })
	if err == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, n := range notes {
		if n.atMs > u.pending[key].atMs {
			u.pending[key] = n
		}
	}
	return fmt.Errorf("usage of allowlist entries is kept for the next try: %w", err)
}

// mergeUsage writes notes to the entries that are still there as they were; a later note of
// another program stays.
func mergeUsage(root *object, notes map[usageKey]use) (changed bool) {
	eachEntry(root, func(agent string, e *object) {
		key := usageKey{strings.ToLower(agent), e.text("id"), e.text("pattern"), e.text("argPattern")}
		n, ok := notes[key]
		key.id = ""
		if old, found := notes[key]; found && (!ok || old.atMs > n.atMs) { // it had no id then
			n, ok = old, true
		}
		if last, _ := e.get("lastUsedAt").(json.Number); ok {
			if at, err := strconv.ParseInt(last.String(), 10, 64); err == nil && at >= n.atMs {
				return
			}
			e.set("lastUsedAt", json.Number(strconv.FormatInt(n.atMs, 10)))
			e.set("lastUsedCommand", shortCommand(n.command))
			e.set("lastResolvedPath", strings.ToValidUTF8(n.resolved, "\uFFFD"))
			changed = true
		}
	})
	return changed
}
