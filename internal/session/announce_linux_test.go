package session

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// told collects what OnEnd was called with.
type told struct {
	mu    sync.Mutex
	exits map[string][]string // tails by id
	ends  map[string]int
	last  State
}

func (c *told) options() Options {
	c.exits, c.ends = map[string][]string{}, map[string]int{}
	return Options{
		OnEnd: func(e End) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ends[e.State.ID]++
			if e.Announce {
				c.exits[e.State.ID] = append(c.exits[e.State.ID], e.Tail)
				c.last = e.State
			}
		},
	}
}

func (c *told) exitsOf(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exits[id]
}

// pro-0041: the event carries the id, the exit code and the tail.
func TestX18_Announced(t *testing.T) {
	var c told
	table := openTable(t, c.options())
	p := script(t, "seq 1 5000; echo payload; exit 4", notify)
	start(t, table, p)
	waitFor(t, "the event", func() bool { return len(c.exitsOf(p.ID)) > 0 })
	tail := c.exitsOf(p.ID)[0]
	if len(tail) != announceTail || !strings.HasSuffix(tail, "\n5000\npayload\n") {
		t.Errorf("tail of %d bytes", len(tail))
	}
	exited(t, c.last, protocol.StatusCompleted, 4)
}

// who gets an event. All of these end before the table is closed, and Close waits
// for every event that is on its way.
func TestX18_Rules(t *testing.T) {
	var c told
	opt := c.options()
	opt.Dir = t.TempDir()
	table, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	begin := func(n int, p Plan) Plan {
		start(t, table, p)
		want[p.ID] = n
		return p
	}
	silent := begin(0, script(t, "exit 0", notify))
	loud := begin(1, script(t, "exit 0", notify, func(p *Plan) { p.NotifySilent = true }))
	failed := begin(1, script(t, "exit 1", notify))
	off := begin(0, script(t, "echo x", background))
	timedOut := begin(1, script(t, "sleep 300", notify, func(p *Plan) { p.Timeout = 50 * time.Millisecond }))
	killed := begin(0, script(t, "echo x; sleep 300", notify))
	if _, _, err := table.Kill(context.Background(), agent, killed.ID); err != nil {
		t.Error(err)
	}
	seen := begin(0, script(t, "echo x; sleep 0.3", notify))
	pollAll(t, table, seen.ID)

	fore := script(t, "seq 1 3000", func(p *Plan) { p.Notify = true })
	want[fore.ID] = 0 // its caller has the result, though a cut one
	snap, err := table.Run(context.Background(), RunRequest{Plan: fore, Yield: -1, MaxChars: 100}, nil)
	if err != nil || snap.Omitted == 0 {
		t.Errorf("%d left out, %v", snap.Omitted, err)
	}
	yielded := script(t, "sleep 0.3; echo late", func(p *Plan) { p.Notify = true })
	want[yielded.ID] = 1
	if _, err := table.Run(context.Background(), RunRequest{Plan: yielded, Yield: time.Millisecond}, nil); err != nil {
		t.Error(err)
	}
	for _, p := range []Plan{silent, loud, failed, off, timedOut, killed, seen, yielded} {
		ended(t, table, p.ID)
	}
	shut := begin(0, script(t, "echo x; sleep 300", notify))
	closeTable(t, table)
	for id, n := range want {
		st, _ := table.Get(context.Background(), agent, id)
		if got := len(c.exits[id]); got != n {
			t.Errorf("%s (%s): %d events, want %d", st.Command, st.Status, got, n)
		}
		if c.ends[id] != 1 {
			t.Errorf("%s: OnEnd was called %d times", st.Command, c.ends[id])
		}
	}
	if st, _ := table.Get(context.Background(), agent, shut.ID); st.Status != protocol.StatusKilled {
		t.Errorf("at shutdown: %s", st.Status)
	}
}

// pro-0040: a poll that has been waiting for long returns the exit; it is not told again.
func TestX18_LongPoll(t *testing.T) {
	var c told
	opt := c.options()
	opt.Dir = t.TempDir()
	table, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	p := script(t, "exit 3", notify)
	start(t, table, p)
	waitFor(t, "the event", func() bool { return len(c.exitsOf(p.ID)) == 1 })
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.countPoll(1)
	s.mu.Lock()
	s.lastPoll = time.Now().Add(-time.Hour) // as long as it waits
	s.mu.Unlock()
	table.deliver(s)
	if n := len(c.exitsOf(p.ID)); n != 1 {
		t.Errorf("told %d times though a poll is at work", n)
	}
	exited(t, poll(t, table, p.ID, 0).State, protocol.StatusCompleted, 3)
	s.countPoll(-1)
	closeTable(t, table) // waits for what is still to be told
	if n := len(c.exitsOf(p.ID)); n != 1 {
		t.Errorf("told %d times, though a poll had returned the exit", n)
	}
}

// a cut result makes a foreground run one that can be asked for again, but its
// end is no news.
func TestX18_CutResult(t *testing.T) {
	var c told
	table := openTable(t, c.options())
	p := script(t, "seq 1 3000", func(p *Plan) { p.Notify = true })
	snap, err := table.Run(context.Background(), RunRequest{Plan: p, Yield: -1, MaxChars: 100}, nil)
	if err != nil || !snap.Background {
		t.Fatalf("%+v, %v", snap.State, err)
	}
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	table.deliver(s) // as if the end were told only now
	if n := len(c.exitsOf(p.ID)); n != 0 {
		t.Errorf("told %d times", n)
	}
}
