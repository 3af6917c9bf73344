package session

import (
	"context"
	"os"
	"runtime"
	"sync"
	"testing"
)

// S-9: no goroutine, descriptor or zombie is left after very many short runs.
func TestTenThousandRuns(t *testing.T) {
	runs := 10_000
	if raceEnabled || testing.Short() {
		runs = 500
	}
	table := openTable(t, Options{})
	p := script(t, "")
	p.Steps[0] = Step{Path: "/bin/sh", Argv: []string{"sh", "-c", "echo out"}}
	run(t, table, p)
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	next := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range next {
				mine := p
				mine.ID = NewID() + NewID() + NewID()
				snap, err := table.Run(t.Context(), RunRequest{Plan: mine, Yield: -1, MaxChars: 100}, nil)
				if err != nil || snap.Output != "out\n" {
					t.Errorf("%q, %s, %v", snap.Output, snap.Status, err)
				}
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	workers.Wait()
	const signals = 1 // os/signal keeps a goroutine once it was asked for something
	waitFor(t, "no goroutine more", func() bool { return runtime.NumGoroutine() <= goroutines+signals })
	const groups = 8 // cgroups that wait for their next command, one for each worker and a few more
	waitFor(t, "no descriptor more", func() bool { return openFiles(t) <= files+groups })
	waitFor(t, "no child", func() bool { return len(children(t)) == 0 })
	waitFor(t, "few sessions kept", func() bool {
		n, _ := table.Counts(context.Background())
		return n.Finished <= finishedPerAgent+pruneBatch
	})
	entries, err := os.ReadDir(table.opt.Dir)
	if err != nil || len(entries) > finishedPerAgent+pruneBatch+2 {
		t.Errorf("%d files in the folder, %v", len(entries), err)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// S-9: an idle session costs below 64 KiB of our memory.
func TestS9_IdleCost(t *testing.T) {
	const sessions = 300
	table := openTable(t, Options{})
	p := script(t, "", background)
	p.Steps[0] = Step{Path: "/bin/sleep", Argv: []string{"sleep", "300"}}
	start(t, table, p)
	before := memory()
	for range sessions {
		p.ID = NewID() + NewID() + NewID()
		start(t, table, p)
	}
	each := (int64(memory()) - int64(before)) / sessions
	t.Logf("%d bytes a session", each)
	if limit := int64(64 << 10); each > limit && !raceEnabled {
		t.Errorf("%d bytes a session, at most %d", each, limit)
	}
	if n, _ := table.Counts(context.Background()); n.Running != sessions+1 {
		t.Errorf("%d sessions run", n.Running)
	}
	within(t, "the end of all", func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
}

// memory is what the heap and the stacks hold.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
