package jsonlog_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/jsonlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type record struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

func TestX23_LinesAreAtMostASecondLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		l := open(t, path, 0)
		for n := range 3 {
			add(t, l, record{N: n})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assertRecords(t, path, 0, 1, 2)
		add(t, l, record{N: 3})
		closeLog(t, l)
		assertRecords(t, path, 0, 1, 2, 3)
	})
}

func TestFlush(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path, 0)
	defer closeLog(t, l)
	for n := range 5 {
		add(t, l, record{N: n, Text: "with\na line feed"})
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := records(t, path); len(got) != n+1 || got[n].N != n || got[n].Text != "with\na line feed" {
			t.Fatalf("after %d: %v", n, got)
		}
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Errorf("with nothing to write: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	add(t, l, record{})
	if err := l.Flush(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "log"), 0)
	if err := l.Append(math.NaN()); err == nil {
		t.Error("NaN is no JSON")
	}
	closeLog(t, l)
	if err := l.Append(1); !errors.Is(err, jsonlog.ErrClosed) {
		t.Errorf("Append after Close = %v", err)
	}
	closeLog(t, l)
	if err := l.Flush(t.Context()); err != nil {
		t.Errorf("Flush after Close = %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "log")} {
		if l, err := jsonlog.Open(path, 0); err == nil {
			t.Errorf("opened %s", path)
			closeLog(t, l)
		}
	}
}

// A line that a crash cut off must not swallow the next one.
func TestOpenAfterCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{\"n\":1}\n{\"n\":"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, 0)
	add(t, l, record{N: 2})
	closeLog(t, l)
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "{\"n\":1}\n{\"n\":\n{\"n\":2}\n" {
		t.Errorf("file is %q, %v", data, err)
	}
}

func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path, 100) // {"n":10} and its line feed: 9 bytes
	for n := 10; n < 40; n++ {
		add(t, l, record{N: n})
	}
	closeLog(t, l)
	old, cur := records(t, path+".1"), records(t, path)
	if len(old) != 11 || len(cur) != 8 || old[0].N != 21 || cur[7].N != 39 {
		t.Errorf("path.1 %v, path %v", old, cur)
	}

	l = open(t, path, 100)
	add(t, l, record{N: 1, Text: strings.Repeat("x", 200)}) // larger than the bound: alone
	add(t, l, record{N: 2})
	closeLog(t, l)
	assertRecords(t, path+".1", 1)
	assertRecords(t, path, 2)
}

// A log that cannot be rotated says so and goes on.
func TestRotateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, 20)
	for n := range 5 {
		add(t, l, record{N: n})
	}
	if err := l.Flush(t.Context()); err == nil {
		t.Error("no error")
	}
	assertRecords(t, path, 0, 1, 2, 3, 4)
	if err := l.Close(); err != nil {
		t.Errorf("Close, with nothing lost: %v", err)
	}
}

// The folder goes away and comes back: nothing is lost, nobody waits.
func TestX23_DiskComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "d")
		path := filepath.Join(dir, "log")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l := open(t, path, 0)
		defer closeLog(t, l)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		add(t, l, record{N: 1})
		if err := l.Flush(t.Context()); !errors.Is(err, os.ErrNotExist) || l.Err() == nil {
			t.Errorf("Flush = %v, Err = %v", err, l.Err())
		}
		time.Sleep(10 * time.Second)
		add(t, l, record{N: 2})
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		assertRecords(t, path, 1, 2)
		if l.Err() != nil || l.Dropped() != 0 {
			t.Errorf("Err = %v, Dropped = %d", l.Err(), l.Dropped())
		}
	})
}

// With the disk away for long the newest lines stay and the lost ones are counted.
func TestX23_QueueIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	path := filepath.Join(dir, "log")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, 0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	const total = 20_500
	for n := range total {
		add(t, l, record{N: n})
	}
	if err := l.Flush(t.Context()); err == nil {
		t.Error("no error")
	}
	if l.Dropped() != 500 {
		t.Errorf("dropped %d", l.Dropped())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	got := records(t, path)
	if len(got) != total-500 || got[0].N != 500 || got[len(got)-1].N != total-1 {
		t.Errorf("%d lines", len(got))
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := open(t, filepath.Join(dir, "log"), 0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for range 20 {
		add(t, l, record{Text: text})
	}
	if l.Dropped() < 4 || l.Dropped() > 5 {
		t.Errorf("dropped %d of 20 MiB, room is 16 MiB", l.Dropped())
	}
	if err := l.Close(); err == nil {
		t.Error("Close says nothing about the lost lines")
	}
}

// Somebody moves the file away: the next lines go to a new one of the name.
func TestFileMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path, 0)
	add(t, l, record{N: 1})
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	add(t, l, record{N: 2})
	closeLog(t, l)
	assertRecords(t, path+".moved", 1)
	assertRecords(t, path, 2)
}

func TestConcurrentAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path, 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 200 {
				if err := l.Append(record{N: n}); err != nil {
					t.Error(err)
				}
				if n%50 == 0 {
					if err := l.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	closeLog(t, l)
	if got := records(t, path); len(got) != 1600 {
		t.Errorf("%d lines", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func BenchmarkAppend(b *testing.B) {
	l, err := jsonlog.Open(filepath.Join(b.TempDir(), "log"), 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := l.Append(record{N: 1, Text: "text"}); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func open(t *testing.T, path string, maxBytes int64) *jsonlog.Log {
	t.Helper()
	l, err := jsonlog.Open(path, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func add(t *testing.T, l *jsonlog.Log, r record) {
	t.Helper()
	if err := l.Append(r); err != nil {
		t.Fatal(err)
	}
}

func closeLog(t *testing.T, l *jsonlog.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func records(t *testing.T, path string) []record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []record
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %d %q: %v", len(list)+1, lines.Text(), err)
		}
		list = append(list, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func assertRecords(t *testing.T, path string, want ...int) {
	t.Helper()
	got := records(t, path)
	if len(got) != len(want) {
		t.Fatalf("%s holds %v, want %v", path, got, want)
	}
	for i, n := range want {
		if got[i].N != n {
			t.Errorf("%s line %d is %v, want %d", path, i, got[i], n)
		}
	}
}
