package session

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// S-8: however many sessions a daemon's death ends, none is dropped for their number
// before somebody has looked at it.
func TestS8_AllLostSessionsStay(t *testing.T) {
	const sessions = finishedPerAgent + 15
	o := order{Dir: t.TempDir()}
	for i := range sessions {
		p := script(t, "echo out; exec sleep 300", background)
		p.ID = "lost-" + strconv.Itoa(i)
		o.Plans = append(o.Plans, p)
	}
	p := startProgram(t, roleOwner, o)
	for range sessions {
		var st State
		p.next(&st)
	}
	p.kill()
	table := openTable(t, Options{Dir: o.Dir, Recover: true})
	if n := len(listed(t, table, agent)); n != sessions {
		t.Errorf("%d of %d lost sessions are listed", n, sessions)
	}
}

// X-21, S-8: a session whose start could not be recorded (a full disk) is ended at the
// next start all the same; what an ended session was allowed to leave is not.
func TestS8_UnrecordedSessionIsEnded(t *testing.T) {
	o := order{Dir: t.TempDir()}
	lost := script(t, "sleep 300 & echo $! >pid; wait", background)
	kept := script(t, "setsid sh -c 'echo $$ >pid; exec sleep 300' & while ! test -s pid; do sleep 0.01; done", background)
	kept.ID = "kept"
	o.Plans = []Plan{lost, kept}
	p := startProgram(t, roleOwner, o)
	var st State
	p.next(&st)
	p.next(&st)
	pid, stays := pidIn(t, lost.Dir, "pid"), pidIn(t, kept.Dir, "pid")
	endLater(t, stays)
	names, err := filepath.Glob(filepath.Join(o.Dir, "*.journal"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	waitFor(t, "the record of the end", func() bool {
		return ofID(readJournal(names[0]), "kept").Status == protocol.StatusCompleted
	})
	p.kill()
	// The record as a full disk would have left it: only the ended session is in it.
	live := readJournal(names[0])
	j := &journal{dir: t.TempDir(), instance: "x", live: map[string]record{}}
	j.put(ofID(live, "kept"))
	data, err := os.ReadFile(j.path())
	if err == nil {
		err = os.WriteFile(names[0], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	table := openTable(t, Options{Dir: o.Dir, Recover: true})
	waitGone(t, pid)
	if !lives(stays) {
		t.Fatal("what an ended session had left was ended")
	}
	// And process kill still reaches it, as its warning says.
	if _, ended, err := table.Kill(context.Background(), agent, "kept"); err != nil || !ended {
		t.Errorf("ended %v, %v", ended, err)
	}
	waitGone(t, stays)
}

// the command's own last words are in the result although a child floods the pipe.
func TestX4_LastWordsBesideAFlood(t *testing.T) {
	table := openTable(t, Options{})
	for range 5 {
		p := script(t, "yes out & sleep 0.02; echo END")
		p.ID = NewID()
		snap, err := table.Run(t.Context(), RunRequest{Plan: p, Yield: -1, MaxChars: 200_000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := snap.Bytes; e == 0 || snap.Ended.Sub(snap.Started) > 10*time.Second {
			t.Errorf("%d bytes in %v", e, snap.Ended.Sub(snap.Started))
		}
	}
}
