package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// Killing, timing out and looking at commands that are just ending neither hangs nor
// loses an end.
func TestProcess_KillDuringExit(t *testing.T) {
	var c told
	table := openTable(t, c.options())
	for i := range 40 {
		p := script(t, "echo x", background, func(p *Plan) { p.Timeout = time.Duration(i%5+1) * time.Millisecond })
		start(t, table, p)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, _, err := table.Kill(context.Background(), agent, p.ID); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() { listed(t, table, AnyAgent) })
		within(t, "both kills", all.Wait)
		if st, err := table.Get(context.Background(), agent, p.ID); err == nil && !st.Finished() {
			t.Fatalf("%s after a kill", st.Status)
		}
	}
	waitFor(t, "all ends", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.ends) == 40
	})
}

// A waiting poll, reader and Wait wake up when the session is removed.
func TestProcess_RemoveWhileWaiting(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "cat", background)
	start(t, table, p)
	var all sync.WaitGroup
	all.Go(func() {
		snap, err := table.Poll(context.Background(), agent, p.ID, time.Hour, 100)
		if err == nil && !snap.Finished() {
			t.Errorf("poll: %s", snap.Status)
		}
	})
	all.Go(func() {
		chunk, err := table.Read(context.Background(), ReadRequest{Agent: agent, ID: p.ID, Max: 10, Wait: time.Hour})
		if err == nil && !chunk.End {
			t.Error("read: no end")
		}
	})
	all.Go(func() {
		if _, err := table.Wait(context.Background(), agent, p.ID, time.Hour); err != nil && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the poll", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.polling == 1 })
	for range 2 { // two at once: one of them finds nothing or both do their part
		all.Go(func() {
			if err := table.Remove(context.Background(), agent, p.ID); err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	within(t, "all that wait", all.Wait)
	if _, err := table.Get(context.Background(), agent, p.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("after remove: %v", err)
	}
	if logs, _ := filepath.Glob(filepath.Join(table.opt.Dir, "*.log")); len(logs) != 0 {
		t.Errorf("logs are left: %v", logs)
	}
}

// Clearing while others read gives them text or not found, never a hang or a panic.
func TestProcess_ClearWhileReading(t *testing.T) {
	table := openTable(t, Options{})
	for range 5 {
		p := script(t, "seq 1 20000", background)
		start(t, table, p)
		ended(t, table, p.ID)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for {
					_, err := table.Log(context.Background(), agent, p.ID, 10_000, 50, 1000)
					if errors.Is(err, ErrNotFound) {
						return
					}
					_, _ = table.Read(context.Background(), ReadRequest{Agent: agent, ID: p.ID, Max: 1000})
					_, _ = table.Tail(context.Background(), agent, p.ID, 100)
				}
			})
		}
		if err := table.Clear(context.Background(), agent, p.ID); err != nil {
			t.Error(err)
		}
		within(t, "the readers", all.Wait)
	}
}

// Close while sessions start: whatever was started is ended, and nothing starts later.
func TestTable_CloseWhileStarting(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		table, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var begun atomic.Int32
		var pids sync.Map
		var starters sync.WaitGroup
		plans := make(chan Plan, 400)
		for range cap(plans) {
			plans <- script(t, "sleep 300", background)
		}
		close(plans)
		for range 4 {
			starters.Go(func() {
				for p := range plans {
					st, err := table.Start(p)
					if errors.Is(err, ErrClosing) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					pids.Store(st.Pid, true)
					begun.Add(1)
					listed(t, table, AnyAgent)
				}
			})
		}
		waitFor(t, "some sessions", func() bool { return begun.Load() > 8 })
		closeTable(t, table)
		within(t, "the starters", starters.Wait)
		pids.Range(func(pid, _ any) bool {
			if lives(pid.(int)) {
				t.Errorf("pid %d lives on", pid)
			}
			return true
		})
		if err := table.Close(); err != nil { // a second one does nothing
			t.Error(err)
		}
		if _, err := os.Stat(table.store.path()); err == nil && len(table.store.live) == 0 {
			t.Error("an empty journal is left")
		}
	}
}

// what makes a session of its own is kept and named; the rest of the group goes.
// What it writes later is in the log and in later polls, and kill still ends it.
func TestX6_Leftover(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, `setsid bash -c 'echo $$ >own; until [ -e go ]; do sleep 0.02; done; echo later; touch said; exec sleep 300' &
sleep 300 & echo $! >grouped; until [ -s own ]; do sleep 0.02; done; echo mine`, background)
	start(t, table, p)
	out, st := pollAll(t, table, p.ID)
	exited(t, st, protocol.StatusCompleted, 0)
	own := pidIn(t, p.Dir, "own")
	endLater(t, own)
	if out != "mine\n" || len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], fmt.Sprint("pid ", own)) {
		t.Errorf("output %q, warnings %q", out, st.Warnings)
	}
	waitGone(t, pidIn(t, p.Dir, "grouped"))
	if err := os.WriteFile(filepath.Join(p.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "later output", func() bool { _, err := os.Stat(filepath.Join(p.Dir, "said")); return err == nil })
	waitFor(t, "it in the log", func() bool { return whole(t, table, p.ID) == "mine\nlater\n" })
	chunk, err := table.Read(context.Background(), ReadRequest{Agent: agent, ID: p.ID, Max: 5})
	if err != nil || string(chunk.Data) != "mine\n" || !chunk.End {
		t.Errorf("a follower is not told the end of the command's own output: %+v, %v", chunk, err)
	}
	if !lives(own) {
		t.Error("the child with a session of its own was ended")
	}
	pollUntil(t, table, p.ID, "later")
	if _, was, err := table.Kill(context.Background(), agent, p.ID); err != nil || !was {
		t.Errorf("kill: %t, %v", was, err)
	}
	waitGone(t, own)

	p = script(t, "setsid sleep 300 & echo $! >own", func(p *Plan) { p.EndLeftovers = true })
	run(t, table, p)
	waitGone(t, pidIn(t, p.Dir, "own"))
}

// A follower gets its end though something left running writes on and on, and
// forgetting that session ends the writing.
func TestX6_FollowerOfLeftover(t *testing.T) {
	table := openTable(t, Options{LogTotalBytes: 256 << 10})
	p := script(t, "setsid bash -c 'echo $$ >own; exec yes' & until [ -s own ]; do sleep 0.02; done; echo mine", background, func(p *Plan) { p.LogMaxBytes = 64 << 10 })
	start(t, table, p)
	own := pidIn(t, p.Dir, "own")
	endLater(t, own)
	within(t, "the end of the output", func() {
		for at := int64(0); ; {
			chunk, err := table.Read(context.Background(), ReadRequest{Agent: agent, ID: p.ID, Offset: at, Max: 1000, Wait: time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			if at = chunk.Offset + int64(len(chunk.Data)); chunk.End {
				return
			}
		}
	})
	// Two that write without end and the log's total: neither forgets itself nor waits
	// for the other.
	q := script(t, "setsid bash -c 'echo $$ >own; exec yes' & until [ -s own ]; do sleep 0.02; done", background)
	start(t, table, q)
	endLater(t, pidIn(t, q.Dir, "own"))
	ended(t, table, q.ID)
	waitFor(t, "one of the two to go", func() bool { n, _ := table.Counts(context.Background()); return n.Finished == 1 })
	for _, id := range []string{p.ID, q.ID} {
		within(t, "remove", func() {
			if err := table.Remove(context.Background(), agent, id); err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	waitGone(t, own)
}

// what holds the terminal open does not hold up the end.
func TestX6_LeftoverOnTerminal(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "trap '' HUP; setsid bash -c 'trap \"\" HUP; echo $$ >own; exec sleep 300' & until [ -s own ]; do sleep 0.02; done; echo done", func(p *Plan) { p.PTY = true })
	snap := run(t, table, p)
	endLater(t, pidIn(t, p.Dir, "own"))
	if snap.Output != "done\r\n" {
		t.Errorf("output %q", snap.Output)
	}
	if err := table.Remove(context.Background(), agent, p.ID); err != nil {
		t.Error(err)
	}
	waitGone(t, pidIn(t, p.Dir, "own"))
}
