package session

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// S-8, X-18: an End that nobody has kept safe is given to the next program again, with
// what its caller had put into the plan, also when the session itself is forgotten; one
// that was told of is not.
func TestS8_EndsAreOwed(t *testing.T) {
	dir := t.TempDir()
	var c told
	opt := c.options()
	opt.Dir, opt.Recover = dir, true
	var got []End
	count := opt.OnEnd
	opt.OnEnd = func(e End) {
		count(e)
		c.mu.Lock()
		got = append(got, e)
		c.mu.Unlock()
	}
	table := openTable(t, opt)
	note := func(p *Plan) { p.Record = []byte(`{"who":"me"}`) }
	owed := start(t, table, script(t, "echo owed; exit 3", notify, note))
	gone := start(t, table, script(t, "echo gone; exit 4", notify, note))
	safe := start(t, table, script(t, "exit 5", notify, note))
	all := []State{owed, gone, safe}
	for _, st := range all {
		waitFor(t, "the end", func() bool { return len(c.exitsOf(st.ID)) == 1 })
	}
	table.Told(safe.Key)
	if err := table.Clear(context.Background(), agent, gone.ID); err != nil {
		t.Fatal(err)
	}
	closeTable(t, table)

	got = nil
	table = openTable(t, opt)
	if len(got) != 2 {
		t.Fatalf("%d ends are owed: %+v", len(got), got)
	}
	for _, e := range got {
		if string(e.Record) != `{"who":"me"}` || !e.Announce || e.State.Command == "" || e.State.Key == "" {
			t.Errorf("%+v", e)
		}
		want := "owed\n"
		if e.State.ID == gone.ID {
			want = "gone\n"
		}
		if e.Tail != want {
			t.Errorf("tail %q, want %q", e.Tail, want)
		}
		table.Told(e.State.Key)
	}
	closeTable(t, table)

	got = nil
	openTable(t, opt)
	if len(got) != 0 {
		t.Errorf("told of again: %+v", got)
	}
}

// An End that is acknowledged before it is recorded is owed to nobody.
func TestS8_ToldEarly(t *testing.T) {
	var c told
	opt := c.options()
	opt.Dir = t.TempDir()
	table := openTable(t, opt)
	p := script(t, "exit 0", func(p *Plan) { p.Notify = true })
	run(t, table, p)
	s, err := table.get(agent, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	table.Told(s.key)
	waitFor(t, "the record", func() bool {
		table.store.mu.Lock()
		defer table.store.mu.Unlock()
		r := ofID(table.store.live, p.ID)
		return r.Status == protocol.StatusCompleted && r.Told
	})
}

// a program that keeps no sessions for others leaves no files of a run whose caller
// has all of it, and those of one with a cut result.
func TestX22_NothingLeftOfDelivered(t *testing.T) {
	dir := t.TempDir()
	table := openTable(t, Options{Dir: dir})
	run(t, table, script(t, "echo all of it"))
	cut := script(t, "seq 1 3000")
	if _, err := table.Run(context.Background(), RunRequest{Plan: cut, Yield: -1, MaxChars: 100}, nil); err != nil {
		t.Fatal(err)
	}
	closeTable(t, table)
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 2 || !strings.Contains(names[0]+names[1], cut.ID+".log") || !strings.Contains(names[0]+names[1], ".journal") {
		t.Errorf("left: %v", names)
	}
}

// a command that was started in the background goes on, however soon its caller goes.
func TestX7_BackgroundWhoseCallerGoes(t *testing.T) {
	table := openTable(t, Options{})
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		p := script(t, "sleep 300", background)
		snap, err := table.Run(ctx, RunRequest{Plan: p, Yield: time.Minute}, func(State) { cancel() })
		if err != nil || snap.Status != protocol.StatusRunning {
			t.Fatalf("%s, %v", snap.Status, err)
		}
	}
}

// Two viewers share the smaller size; the program is told of every change, and also of
// a viewer that changes nothing.
func TestView_SmallestSize(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, `trap 'echo drawn' WINCH; echo ready; while :; do s=$(stty size); test "$s" = "$o" || echo "size $s"; o=$s; sleep 0.05; done`, onTerminal)
	p.Cols, p.Rows = 100, 30
	start(t, table, p)
	view := func(name string, cols, rows int) context.CancelFunc {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := table.View(ctx, ViewRequest{Agent: agent, ID: p.ID, Viewer: name, Cols: cols, Rows: rows}); err != nil {
				t.Error(err)
			}
		}()
		return func() { cancel(); <-done }
	}
	pollUntil(t, table, p.ID, "size 30 100")
	first := view("a", 100, 30)
	pollUntil(t, table, p.ID, "drawn")
	second := view("b", 80, 50)
	pollUntil(t, table, p.ID, "size 30 80")
	resized := view("b", 120, 20)
	pollUntil(t, table, p.ID, "size 20 100")
	second() // replaced by the one that came again
	first()
	pollUntil(t, table, p.ID, "size 20 120")
	resized()
	if _, err := table.View(context.Background(), ViewRequest{Agent: agent, ID: p.ID, Viewer: "c", Cols: 0, Rows: 5}); err == nil {
		t.Error("a viewer without a width")
	}
	if _, err := table.View(context.Background(), ViewRequest{Agent: "other", ID: p.ID, Viewer: "c", Cols: 10, Rows: 5}); err == nil {
		t.Error("S-1: another agent looks")
	}
	last := time.AfterFunc(100*time.Millisecond, func() { _, _, _ = table.Kill(context.Background(), agent, p.ID) })
	defer last.Stop()
	st, err := table.View(context.Background(), ViewRequest{Agent: agent, ID: p.ID, Viewer: "c", Cols: 90, Rows: 25})
	if err != nil || st.Status != protocol.StatusKilled {
		t.Errorf("%s, %v", st.Status, err)
	}
}
