package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// pro-0003: one poll after the end returns everything, or says what is missing.
func TestS3_PollAfterEnd(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "printf '%06000d' 7", background)
	start(t, table, p)
	ended(t, table, p.ID)
	snap := poll(t, table, p.ID, 0)
	if snap.Output != fmt.Sprintf("%06000d", 7) {
		t.Errorf("output of %d bytes", len(snap.Output))
	}
	for range 3 { // and the exit again and again
		snap = poll(t, table, p.ID, time.Hour)
		exited(t, snap.State, protocol.StatusCompleted, 0)
		if snap.Output != "" {
			t.Errorf("output again: %q", snap.Output)
		}
	}
	p = script(t, "printf '%06000d' 7", background)
	start(t, table, p)
	ended(t, table, p.ID)
	snap, err := table.Poll(context.Background(), agent, p.ID, 0, 1000)
	if err != nil || snap.Omitted != 5000 || !strings.Contains(snap.Output, "[5000 bytes left out here; process log") {
		t.Errorf("%d left out, output %q, %v", snap.Omitted, snap.Output, err)
	}
}

// pro-0011: half a character is held back, and polls do not spin for it.
func TestX4_HeldBack(t *testing.T) {
	table := openTable(t, Options{})
	for name, change := range map[string]func(*Plan){"pipe": background, "terminal": onTerminal} {
		p := script(t, `printf '\344\270'; until [ -e go ]; do sleep 0.02; done; printf '\255\n'`, change)
		start(t, table, p)
		waitFor(t, "half a character", func() bool { st, _ := table.Get(context.Background(), agent, p.ID); return st.Bytes == 2 })
		for range 3 {
			if snap := poll(t, table, p.ID, 20*time.Millisecond); snap.Output != "" {
				t.Errorf("%s: half a character came: %q", name, snap.Output)
			}
		}
		if page, err := table.Log(context.Background(), agent, p.ID, 0, 0, 100); err != nil || page.Output != "" {
			t.Errorf("%s: the log shows half a character: %q, %v", name, page.Output, err)
		}
		if err := os.WriteFile(filepath.Join(p.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, _ := pollAll(t, table, p.ID); strings.TrimRight(out, "\r\n") != "\u4e2d" {
			t.Errorf("%s: output %q", name, out)
		}
	}
}

// pro-0010: no replacement character, however the reads cut the stream.
func TestX4_ThreeByteCharacters(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "for i in {1..4000}; do printf '\u4e2d'; done", onTerminal)
	start(t, table, p)
	out, _ := pollAll(t, table, p.ID)
	if want := strings.Repeat("\u4e2d", 4000); out != want || whole(t, table, p.ID) != want {
		t.Errorf("%d bytes, %d replaced", len(out), strings.Count(out, "\uFFFD"))
	}
}

// pro-0047: a poll returns soon after the first output.
func TestS3_PollReturnsEarly(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "read x; echo got $x; cat", background)
	start(t, table, p)
	got := make(chan Snapshot, 1)
	go func() {
		snap, _ := table.Poll(context.Background(), agent, p.ID, time.Hour, 1000)
		got <- snap
	}()
	if _, err := table.Write(context.Background(), agent, p.ID, Input{Data: []byte("it\n")}); err != nil {
		t.Fatal(err)
	}
	within(t, "the poll", func() {
		if snap := <-got; snap.Output != "got it\n" || snap.Finished() {
			t.Errorf("output %q, %s", snap.Output, snap.Status)
		}
	})
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the caller is gone")
	cancel(gone)
	_, err := table.Poll(ctx, agent, p.ID, time.Hour, 1000)
	wantErr(t, err, gone)
}

// pro-0048: two pollers lose nothing between them.
func TestS3_TwoPollers(t *testing.T) {
	table := openTable(t, Options{})
	const lines = 40_000
	p := script(t, "seq -f '%.0f \u00e9\u4e2d' 1 40000", background)
	start(t, table, p)
	parts := make([]string, 2)
	var pollers sync.WaitGroup
	for i := range parts {
		pollers.Go(func() {
			for {
				snap, err := table.Poll(context.Background(), agent, p.ID, time.Second, 10_000_000)
				if err != nil {
					t.Error(err)
					return
				}
				parts[i] += snap.Output
				if snap.Finished() && snap.Output == "" {
					return
				}
			}
		})
	}
	within(t, "the pollers", pollers.Wait)
	seen := map[rune]int{}
	for _, c := range parts[0] + parts[1] {
		seen[c]++
	}
	if seen['\u4e2d'] != lines || seen['\u00e9'] != lines || seen['\n'] != lines || seen['\uFFFD'] != 0 {
		t.Errorf("got %d, %d, %d of %d; %d replaced", seen['\u4e2d'], seen['\u00e9'], seen['\n'], lines, seen['\uFFFD'])
	}
	var want strings.Builder
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&want, "%d \u00e9\u4e2d\n", i)
	}
	if sha256.Sum256([]byte(whole(t, table, p.ID))) != sha256.Sum256([]byte(want.String())) {
		t.Error("the log is not what was written")
	}
}

// One poller alone gets every byte once and in order.
func TestS3_OnePoller(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "for i in {1..3000}; do printf '%s \u4e2d\\n' $i; done", background)
	start(t, table, p)
	out, _ := pollAll(t, table, p.ID)
	if out != whole(t, table, p.ID) || strings.Count(out, "\n") != 3000 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
}

// pro-0004: findable for kill as long as it is shown as running.
func TestS3_KillAfterShell(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "sleep 300 | cat & echo $! >pid; echo started", background)
	start(t, table, p)
	pollUntil(t, table, p.ID, "started")
	if _, _, err := table.Kill(context.Background(), agent, p.ID); err != nil {
		t.Error(err)
	}
	poll(t, table, p.ID, 0)
	waitGone(t, pidIn(t, p.Dir, "pid"))
}

// pro-0022, pro-0023: sessions belong to an agent.
func TestS1_Agents(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "cat", background, func(p *Plan) { p.SessionKey = "chat 1" })
	start(t, table, p)
	const other = "other"
	if len(listed(t, table, other)) != 0 {
		t.Error("another agent sees the session")
	}
	if len(listed(t, table, agent)) != 1 || len(listed(t, table, AnyAgent)) != 1 {
		t.Error("its agent does not see the session")
	}
	_, errPoll := table.Poll(context.Background(), other, p.ID, 0, 10)
	_, errLog := table.Log(context.Background(), other, p.ID, 0, 0, 10)
	_, errRead := table.Read(context.Background(), ReadRequest{Agent: other, ID: p.ID})
	_, errWrite := table.Write(context.Background(), other, p.ID, Input{EOF: true})
	_, _, errKill := table.Kill(context.Background(), other, p.ID)
	_, errGet := table.Get(context.Background(), other, p.ID)
	_, errTail := table.Tail(context.Background(), other, p.ID, 10)
	_, errWait := table.Wait(context.Background(), other, p.ID, 0)
	_, errScreen := table.Screen(context.Background(), other, p.ID)
	for _, err := range []error{
		errPoll, errLog, errRead, errWrite, errKill, errGet, errTail, errWait, errScreen,
		table.Clear(context.Background(), other, p.ID), table.Remove(context.Background(), other, p.ID), table.Signal(context.Background(), other, p.ID, "INT"), table.Resize(context.Background(), other, p.ID, 1, 1),
	} {
		wantErr(t, err, ErrNotFound)
	}
	if st, err := table.Get(context.Background(), agent, p.ID); err != nil || st.Finished() {
		t.Errorf("the session was touched: %+v, %v", st, err)
	}
}
