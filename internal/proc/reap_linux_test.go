package proc

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// zombies returns the children of this process that have ended and were not reaped.
func zombies(t testing.TB) []stat {
	t.Helper()
	dir, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []stat
	for _, e := range dir {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok && st.ppid == os.Getpid() && st.zombie() {
			out = append(out, st)
		}
	}
	return out
}

// pro-0009, pro-0049: orphans that end are reaped; a child that waits for its own
// waiter is not touched.
func TestX6_OrphansAreReaped(t *testing.T) {
	s := newStarter(t)
	held := start(t, s, script(t, "exit 6")) // a zombie until somebody waits
	spec := script(t, "for i in 1 2 3 4 5 6 7 8 9 10; do setsid sleep 0.0$i & done; setsid sleep 1 & echo $! >pid")
	c := start(t, s, spec)
	c.wait()
	last := waitPid(t, spec.Dir, "pid")
	waitGone(t, last)
	waitFor(t, "the end of all zombies but one", func() bool { return len(zombies(t)) == 1 })
	if exit, _ := held.wait(); exit.Code != 6 {
		t.Errorf("exit %+v", exit)
	}
	if z := zombies(t); len(z) != 0 {
		t.Errorf("zombies: %v", z)
	}
}

// The owner of a short command asks for its leftovers; that is enough for orphans that
// end later to be reaped.
func TestX6_OrphansOfShortCommand(t *testing.T) {
	s := newStarter(t)
	for _, text := range []string{
		"setsid bash -c 'echo $$ >pid; exec sleep 0.3' & " + waitLeaver,
		"setsid bash -c 'echo $$ >pid; exec sleep 1.3' & " + waitLeaver,
		"sleep 300 & sleep 300 &",
	} {
		c := start(t, s, script(t, text))
		_, group := c.wait()
		c.Leftovers()
		if group {
			c.EndGroup(t.Context(), deadline)
		}
		waitFor(t, "no child", func() bool {
			err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
			return errors.Is(err, unix.ECHILD)
		})
	}
}

// S-9: nothing grows with the number of runs.
func TestS9_NothingGrows(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	s := newStarter(t)
	path := lookPath(t, "true")
	one := func(i int) {
		spec := Spec{Path: path, Argv: []string{path}, Env: testEnv(), Dir: "/", Marker: "growth." + strconv.Itoa(i), Split: i%2 == 0, Stdin: i%3 == 0}
		if i%20 == 0 {
			spec.PTY = &Size{Cols: 80, Rows: 24}
		}
		p, err := s.Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		for p.Out.Read(func([]byte) {}) == nil {
		}
		if exit, _ := p.Wait(); exit != (Exit{}) {
			t.Fatalf("run %d: %+v", i, exit)
		}
		if left := p.Leftovers(); len(left) > 0 {
			t.Fatal(left)
		}
		p.Out.Close()
		if p.Err != nil {
			p.Err.Close()
		}
	}
	for i := range 20 {
		one(i)
	}
	files, routines := openFiles(t), runtime.NumGoroutine()
	for i := range runs {
		one(i)
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d descriptors before, %d after", files, now)
	}
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= routines })
	if z := zombies(t); len(z) != 0 {
		t.Errorf("zombies: %v", z)
	}
	if len(s.known) != 0 {
		t.Errorf("%d known", len(s.known))
	}
}

func TestCloseEndsReaping(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		s, err := NewStarter()
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > deadline/2 {
			t.Errorf("took %v", took)
		}
	}
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before+1 }) // os/signal keeps one
}
