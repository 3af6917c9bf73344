package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// S-3: a poll that says that the session has ended has returned all of its output, and
// nothing is announced once more (pro-0040), however the two meet.
func TestS3_PollMeetsTheEnd(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	var mu sync.Mutex
	var told []string
	table := openTable(t, Options{OnEnd: func(e End) {
		mu.Lock()
		defer mu.Unlock()
		if e.Announce {
			told = append(told, e.State.ID)
		}
	}})
	for i := range rounds {
		p := script(t, "read x; printf 'a%.0s' {1..3000}; printf '\\xe4'; exec printf '\\xb8\\xad'", notify, background)
		start(t, table, p)
		poll(t, table, p.ID, 0) // from here on somebody is known to poll
		if _, err := table.Write(context.Background(), agent, p.ID, Input{EOF: true}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		within(t, "the end", func() {
			for {
				snap, err := table.Poll(context.Background(), agent, p.ID, time.Duration(i%3)*time.Millisecond, 200_000)
				if err != nil {
					t.Error(err)
					return
				}
				out.WriteString(snap.Output)
				if snap.Finished() {
					return
				}
			}
		})
		if want := strings.Repeat("a", 3000) + "\u4e2d"; out.String() != want {
			t.Fatalf("round %d: polls together give %d bytes, ending %q", i, out.Len(), out.String()[max(0, out.Len()-5):])
		}
		ended(t, table, p.ID)
	}
	closeTable(t, table) // waits for announcements that wait for a poller
	if len(told) > 0 {
		t.Errorf("%d exits that a poll had returned were announced", len(told))
	}
}

// S-5: an agent that runs more commands at once than finished ones are kept still gets
// the result of each.
func TestS5_ManyAtOnce(t *testing.T) {
	table := openTable(t, Options{LogTotalBytes: 1 << 20})
	const runs = 120
	size := 2 * memoryMax
	dir := t.TempDir()
	var all sync.WaitGroup
	for range runs {
		p := script(t, fmt.Sprintf("until [ -e go ]; do sleep 0.2; done; head -c %d /dev/zero | tr '\\0' x", size))
		p.Dir = dir
		all.Go(func() {
			snap, err := table.Run(context.Background(), RunRequest{Plan: p, Yield: -1, MaxChars: 200_000}, nil)
			if err != nil || len(snap.Output) != size || snap.Omitted != 0 {
				t.Errorf("output of %d bytes, %d left out, %v", len(snap.Output), snap.Omitted, err)
			}
		})
	}
	waitFor(t, "all to run", func() bool { n, _ := table.Counts(context.Background()); return n.Running == runs || t.Failed() })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "the results", all.Wait)
}

// A time-out or a caller's leave that comes just after the end does not touch what the
// command left running; a kill does.
func TestX6_LateReasonKeepsLeftovers(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "setsid bash -c 'echo $$ >pid; exec sleep 300' & until [ -s pid ]; do sleep 0.02; done", background)
	start(t, table, p)
	ended(t, table, p.ID)
	pid := pidIn(t, p.Dir, "pid")
	endLater(t, pid)
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []endReason{endTimeout, endCancelled, endShutdown} {
		if s.end(reason, killGrace) {
			t.Errorf("reason %d ended something", reason)
		}
	}
	if !lives(pid) {
		t.Fatal("what the command left running was ended")
	}
	st, was, err := table.Kill(context.Background(), agent, p.ID)
	if err != nil || !was || st.Status != protocol.StatusCompleted {
		t.Errorf("%s, ended %t, %v", st.Status, was, err)
	}
	waitGone(t, pid)
}

// A kill that comes while the last output is still being read has come too late to be
// the reason of the end.
func TestProcess_KillAfterExit(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "setsid bash -c 'echo $$ >pid; exec sleep 300' & until [ -s pid ]; do sleep 0.02; done; exit 4", onTerminal)
	start(t, table, p)
	pid := pidIn(t, p.Dir, "pid")
	endLater(t, pid)
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the exit", func() bool { return s.proc.In.Closed() }) // the terminal is still held: its output is awaited
	st, _, err := table.Kill(context.Background(), agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	exited(t, st, protocol.StatusCompleted, 4)
	waitGone(t, pid)
}

// What a killed command's children say on their way out is in its result.
func TestX6_LastWords(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, `setsid bash -c 'trap "sleep 0.3; echo last words; exit" TERM; exec 2>/dev/null; echo $$ >pid; while :; do sleep 0.02; done' & wait`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		pidIn(t, p.Dir, "pid")
		cancel()
	}()
	snap, err := table.Run(ctx, RunRequest{Plan: p, Yield: -1, MaxChars: 1000}, nil)
	if err != nil || snap.Status != protocol.StatusCancelled || snap.Output != "last words\n" {
		t.Errorf("%s, output %q, %v", snap.Status, snap.Output, err)
	}
}

// A terminal gives its last output late when the machine is busy; the result waits for
// it as long as nothing else holds the terminal.
func TestX1_TerminalOutputIsWhole(t *testing.T) {
	table := openTable(t, Options{})
	var all sync.WaitGroup
	for range 12 {
		p := script(t, "seq 1 3000", func(p *Plan) { p.PTY = true })
		all.Go(func() {
			snap, err := table.Run(context.Background(), RunRequest{Plan: p, Yield: -1, MaxChars: 200_000}, nil)
			if err != nil || !strings.HasSuffix(snap.Output, "\r\n3000\r\n") {
				t.Errorf("ends with %q, %v", snap.Output[max(0, len(snap.Output)-10):], err)
			}
		})
	}
	within(t, "the results", all.Wait)
}

// the total holds also when no log has more than one segment.
func TestX22_ManyGrowingLogs(t *testing.T) {
	const total = 16 << 20 // each of the eight keeps one segment at least
	table := openTable(t, Options{LogTotalBytes: total})
	var ids []string
	for range 8 {
		p := script(t, "head -c 6000000 /dev/zero; echo end; cat", background)
		start(t, table, p)
		ids = append(ids, p.ID)
	}
	for _, id := range ids {
		waitFor(t, "the output", func() bool { st, _ := table.Get(context.Background(), agent, id); return st.Bytes == 6_000_004 })
	}
	if used := table.logUsed.Load(); used > total+2<<20 {
		t.Errorf("%d bytes of logs, the limit is %d", used, total)
	}
	for _, id := range ids {
		if tail, err := table.Tail(context.Background(), agent, id, 4); err != nil || tail != "end\n" {
			t.Errorf("%s ends with %q, %v", id, tail, err)
		}
	}
}

// Several kills, a time-out and a removal at once: all come back, one is the reason.
func TestProcess_AllAtOnce(t *testing.T) {
	table := openTable(t, Options{})
	for i := range 10 {
		p := script(t, `trap "" TERM; echo ready; sleep 300 & wait; sleep 300`, background, func(p *Plan) { p.Timeout = 150 * time.Millisecond })
		start(t, table, p)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _, _ = table.Kill(context.Background(), agent, p.ID) })
		}
		all.Go(func() { _, _ = table.Write(context.Background(), agent, p.ID, Input{Data: make([]byte, 1<<20)}) })
		all.Go(func() {
			for {
				snap, err := table.Poll(context.Background(), agent, p.ID, deadline, 1000)
				if err != nil || snap.Finished() {
					return
				}
			}
		})
		if i%2 == 0 {
			all.Go(func() { _ = table.Remove(context.Background(), agent, p.ID) })
		}
		within(t, "all of them", all.Wait)
		if i%2 == 1 {
			if st := ended(t, table, p.ID); st.Status != protocol.StatusKilled && !st.TimedOut {
				t.Errorf("%+v", st)
			}
		}
	}
	if n, _ := table.Counts(context.Background()); n.Running != 0 {
		t.Errorf("%d sessions run after the shutdown", n.Running)
	}
}

// A frozen command cannot be ended: nobody hangs, and once it can be, it is.
func TestX6_FrozenCommand(t *testing.T) {
	const root = "/sys/fs/cgroup/freezer"
	dir, err := os.MkdirTemp(root, "session-test")
	if err != nil {
		t.Skipf("needs a writable cgroup v1 freezer at %s: %v", root, err)
	}
	set := func(file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		set("freezer.state", "THAWED")
		waitFor(t, "the empty cgroup", func() bool { return os.Remove(dir) == nil })
	})
	table := openTable(t, Options{})
	p := script(t, "echo ready; exec sleep 300", background)
	st := start(t, table, p)
	pollUntil(t, table, p.ID, "ready")
	set("cgroup.procs", fmt.Sprint(st.Pid))
	set("freezer.state", "FROZEN")
	within(t, "the kill", func() { st, _, err = table.Kill(context.Background(), agent, p.ID) })
	if err != nil || st.Finished() || len(st.Warnings) == 0 || !strings.Contains(st.Warnings[0], "sleep 300") {
		t.Errorf("%+v, %v", st, err)
	}
	within(t, "the removal", func() {
		if err := table.Remove(context.Background(), agent, p.ID); err == nil {
			t.Error("a running session was removed")
		}
	})
	set("freezer.state", "THAWED")
	if st := ended(t, table, p.ID); st.Status != protocol.StatusKilled {
		t.Errorf("%s", st.Status)
	}
}

// An id is part of file names.
func TestPlan_ID(t *testing.T) {
	table := openTable(t, Options{})
	for _, id := range []string{"", "../x", "a/b", "a.b", "..", `a\b`, "a\x00b"} {
		p := script(t, "echo ran")
		p.ID = id
		if _, err := table.Start(p); err == nil {
			t.Errorf("%q was started", id)
		}
	}
}
