package session

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// S-5: at most 50 finished background sessions an agent, the oldest go first.
func TestS5_Count(t *testing.T) {
	table := openTable(t, Options{})
	var ids []string
	for i := range finishedPerAgent + 5 {
		p := script(t, fmt.Sprint("echo ", i), background)
		start(t, table, p)
		ended(t, table, p.ID)
		ids = append(ids, p.ID)
	}
	other := script(t, "true", background, func(p *Plan) { p.Agent = "other" })
	start(t, table, other)
	waitFor(t, "the oldest to go", func() bool { return len(listed(t, table, agent)) == finishedPerAgent })
	for i, id := range ids {
		if _, err := table.Get(context.Background(), agent, id); (err == nil) != (i >= 5) {
			t.Errorf("session %d: %v", i, err)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(table.opt.Dir, "*.log"))
	if len(logs) != finishedPerAgent {
		t.Errorf("%d logs", len(logs))
	}
	ended(t, table, other.ID)
}

// S-5: runs whose callers have everything are dropped in batches, and are not counted
// with those that an agent may come back for.
func TestS5_Foreground(t *testing.T) {
	table := openTable(t, Options{})
	kept := script(t, "echo kept", background)
	start(t, table, kept)
	ended(t, table, kept.ID)
	for range 2 * finishedPerAgent {
		run(t, table, script(t, "echo x"))
	}
	waitFor(t, "old runs to go", func() bool {
		n, _ := table.Counts(context.Background())
		return n.Finished <= finishedPerAgent+pruneBatch+1
	})
	if len(listed(t, table, agent)) != 1 {
		t.Errorf("list %+v", listed(t, table, agent))
	}
}

// S-5: what is too old goes by itself, the newest stays; the shortest time counts, not
// the first.
func TestS5_Age(t *testing.T) {
	table := openTable(t, Options{})
	long := script(t, "true", background)
	soon := script(t, "true", background, func(p *Plan) { p.Retain = 50 * time.Millisecond })
	last := script(t, "true", background, func(p *Plan) { p.Retain = 50 * time.Millisecond })
	for _, p := range []Plan{long, soon, last} {
		start(t, table, p)
		ended(t, table, p.ID)
	}
	waitFor(t, "what is too old to go", func() bool { _, err := table.Get(context.Background(), agent, soon.ID); return err != nil })
	for _, id := range []string{long.ID, last.ID} {
		if _, err := table.Get(context.Background(), agent, id); err != nil {
			t.Error(err)
		}
	}
}

// all logs together stay within their total; finished ones go first, then the
// oldest output of what grows.
func TestX22_LogTotal(t *testing.T) {
	const total = 1 << 20
	table := openTable(t, Options{LogTotalBytes: total})
	var ids []string
	for range 6 {
		p := script(t, "head -c 300000 /dev/zero | tr '\\0' x", background)
		start(t, table, p)
		ended(t, table, p.ID)
		ids = append(ids, p.ID)
	}
	if got := table.logUsed.Load(); got > total+64<<10 {
		t.Errorf("%d bytes of at most %d", got, total)
	}
	if _, err := table.Get(context.Background(), agent, ids[5]); err != nil {
		t.Error(err)
	}
	if _, err := table.Get(context.Background(), agent, ids[0]); err == nil {
		t.Error("the oldest is still there")
	}
	p := script(t, "head -c 5000000 /dev/zero | tr '\\0' x; echo end", background, func(p *Plan) { p.LogMaxBytes = 2 << 20 })
	start(t, table, p)
	st := ended(t, table, p.ID)
	if got := table.logUsed.Load(); got > total+64<<10 || st.Dropped == 0 || st.Bytes != 5_000_004 {
		t.Errorf("%d bytes of at most %d; %d written, %d dropped", got, total, st.Bytes, st.Dropped)
	}
	checkUsed(t, table.opt.Dir, table.logUsed.Load()+journalSize(table))
}

func journalSize(table *Table) int64 {
	table.store.mu.Lock()
	defer table.store.mu.Unlock()
	info, err := table.store.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
