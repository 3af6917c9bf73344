package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/safefile"
)

// usedEntry is an entry as it stands in the document.
type usedEntry struct {
	ID, Pattern, LastUsedCommand, LastResolvedPath string
	LastUsedAt                                     int64
}

// entries are an agent's.
func (p *paper) entries(agent string) []usedEntry {
	p.t.Helper()
	var d struct {
		Agents map[string]struct{ Allowlist []usedEntry }
	}
	if err := json.Unmarshal([]byte(p.text()), &d); err != nil {
		p.t.Fatal(err)
	}
	return d.Agents[agent].Allowlist
}

// eventually waits for what a goroutine does.
func eventually(t *testing.T, limit time.Duration, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in time")
		}
	}
}

func TestA4_ThousandNotesOneWrite(t *testing.T) {
	p := newPaper(t, "")
	id := p.add("main", "rg")
	everybodys := p.add("*", "git")
	hash := p.hash()
	u := p.NewUsage(func(err error) { t.Error(err) })
	first, err := os.Stat(p.Path())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for w := range 10 {
		wg.Go(func() {
			for i := range 100 {
				at := int64(1000 + 100*w + i)
				u.Note(policy.EntryRef{ID: id, Pattern: "rg", Agent: "main"}, at, fmt.Sprintf("rg --token=hunter2hunter2 %d", at), "/usr/bin/rg")
				u.Note(policy.EntryRef{ID: everybodys, Pattern: "git", Agent: "*"}, at, "git", "/usr/bin/git")
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); took > time.Second {
		t.Errorf("2000 notes took %v", took)
	}
	var writes int
	info := first
	eventually(t, 2*time.Second, func() bool { // at the latest
		now, err := os.Stat(p.Path())
		if err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(info, now) {
			writes, info = writes+1, now
		}
		return writes > 0
	})
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if now, err := os.Stat(p.Path()); err != nil || !os.SameFile(info, now) {
		t.Errorf("it was written more than once: %v", err)
	}
	rg, git := p.entries("main")[0], p.entries("*")[0]
	if rg.LastUsedAt != 1999 || rg.LastResolvedPath != "/usr/bin/rg" || !strings.HasSuffix(rg.LastUsedCommand, " 1999") {
		t.Errorf("entry %+v", rg)
	}
	if strings.Contains(p.text(), "hunter2") {
		t.Error("a secret is in the document")
	}
	if git.LastUsedAt != 1999 {
		t.Errorf("everybody's entry %+v", git)
	}
	if p.hash() != hash {
		t.Error("usage changed the hash")
	}
}

// whoever read before the usage was written can save.
func TestA4_HashCoversWhatPeopleEdit(t *testing.T) {
	ctx := t.Context()
	const hand = `// by hand
	{agents: {default: {allowlist: ["x", {pattern: "y"}, null]}, other: null}}`
	p := newPaper(t, hand)
	hash := p.hash()
	u := p.NewUsage(nil)
	u.Note(policy.EntryRef{Pattern: "x", Agent: "main"}, 7, "x", "/usr/bin/x") // as Parse reads an entry without id
	if err := u.Close(ctx); err != nil {
		t.Fatal(err)
	}
	list := p.entries("main")
	if len(list) != 2 || list[0].LastUsedAt != 7 || list[0].ID == "" || list[1].LastUsedAt != 0 {
		t.Fatalf("entries %+v", list)
	}
	if p.hash() != hash {
		t.Error("usage changed the hash")
	}
	if bak, err := os.ReadFile(p.Path() + ".bak"); err != nil || string(bak) != hand {
		t.Errorf("kept %q %v", bak, err)
	}
	p.add("main", "z")
	if p.hash() == hash {
		t.Error("an edit did not change the hash")
	}
	if _, err := p.Replace(ctx, hash, []byte(`{}`), false); !errors.Is(err, ErrStale) {
		t.Errorf("saved over an edit: %v", err)
	}
	for _, edit := range []string{
		`{version: 1, agents: {main: {allowlist: ["x", "z"]}}}`, `{agents: {main: {allowlist: ["x", {pattern: "y", argPattern: "^$"}]}}}`,
		`{agents: {main: {ask: "off", allowlist: ["x", "y"]}}}`, `{agents: {main: {allowlist: ["x", "y"]}}, later: 1}`,
	} {
		if q := newPaper(t, edit); q.hash() == hash {
			t.Errorf("%s has the same hash", edit)
		}
	}
}

func TestA4_MergedIntoTheDocumentAsItIs(t *testing.T) {
	ctx := t.Context()
	p := newPaper(t, `{"version":1,"agents":{"main":{"allowlist":[
		{"id":"gone","pattern":"gone"},{"id":"edited","pattern":"edited"},{"id":"later","pattern":"later","lastUsedAt":50},{"id":"odd","pattern":"odd","lastUsedAt":"x"}]}}}`)
	u := p.NewUsage(nil)
	for _, id := range []string{"gone", "edited", "later", "odd"} {
		u.Note(policy.EntryRef{ID: id, Pattern: id, Agent: "main"}, 40, id, "/"+id)
	}
	u.Note(policy.EntryRef{ID: "odd", Pattern: "odd", Agent: "other"}, 99, "other", "/other")
	p.put(`{"version":1,"agents":{"main":{"allowlist":[
		{"id":"new","pattern":"new"},{"id":"edited","pattern":"wider"},{"id":"later","pattern":"later","lastUsedAt":50},{"id":"odd","pattern":"odd","lastUsedAt":"x"}]}}}`)
	if err := u.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.entries("main") {
		got = append(got, fmt.Sprint(e.ID, e.LastUsedAt))
	}
	if s := strings.Join(got, " "); s != "new0 edited0 later50 odd40" {
		t.Errorf("entries %s", s)
	}
	before := p.text()
	u.Note(policy.EntryRef{ID: "odd", Pattern: "odd", Agent: "main"}, 100, "odd", "/odd")
	if err := u.Close(ctx); err != nil || p.text() != before {
		t.Errorf("after Close: %v", err)
	}
}

// What cannot be written is kept, told of, and written later.
func TestA4_FailedWriteIsKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := newPaper(t, "")
	id := p.add("main", "rg")
	good := p.text()
	told := make(chan error, 10)
	u := p.NewUsage(func(err error) { told <- err })
	p.put("{")
	u.Note(policy.EntryRef{ID: id, Pattern: "rg", Agent: "main"}, 5, "rg", "/usr/bin/rg")
	select {
	case err := <-told:
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, want damaged", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the failure was not told")
	}
	if p.text() != "{" {
		t.Error("the damaged document was changed")
	}
	p.put(good)
	eventually(t, 10*time.Second, func() bool { return p.entries("main")[0].LastUsedAt == 5 })
	if err := u.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Close does not wait longer than its caller does.
func TestA4_CloseWhileLocked(t *testing.T) {
	t.Parallel()
	p := newPaper(t, "")
	id := p.add("main", "rg")
	lock, err := safefile.Lock(t.Context(), p.Path()+".lock")
	if err != nil {
		t.Fatal(err)
	}
	u := p.NewUsage(func(err error) { t.Errorf("told of %v", err) })
	u.Note(policy.EntryRef{ID: id, Pattern: "rg", Agent: "main"}, 5, "rg", "/usr/bin/rg")
	time.Sleep(usageDelay + 100*time.Millisecond) // its own write waits for the lock now
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := u.Close(ctx); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("%v, want locked", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if e := p.entries("main")[0]; e.LastUsedAt != 5 {
		t.Errorf("entry %+v", e)
	}
}

func BenchmarkNote(b *testing.B) {
	u := NewFile(b.TempDir()).NewUsage(nil)
	b.Cleanup(func() { _ = u.Close(context.Background()) })
	ref := policy.EntryRef{ID: "1", Pattern: "rg", Agent: "main"}
	b.ReportAllocs()
	for i := range b.N {
		u.Note(ref, int64(i), "rg", "/usr/bin/rg")
	}
}

// BenchmarkFlush is one write of usage into a document of 10,000 entries.
func BenchmarkFlush(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, `{id:"%d",pattern:"/usr/local/lib/programs/%d"},`, i, i)
	}
	f := NewFile(b.TempDir())
	if err := os.WriteFile(f.Path(), []byte(`{agents:{main:{allowlist:[`+text.String()+`]}}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	u := f.NewUsage(nil)
	b.Cleanup(func() { _ = u.Close(context.Background()) })
	for i := range b.N {
		u.Note(policy.EntryRef{ID: "7", Pattern: "/usr/local/lib/programs/7", Agent: "main"}, int64(i+1), "7", "/usr/local/lib/programs/7")
		if err := u.flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
