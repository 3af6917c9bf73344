package session

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

// reference is a log as simple as can be: all that was ever written.
type reference []byte

// lines returns the lines as people count them.
func (r reference) lines() []string {
	if len(r) == 0 {
		return nil
	}
	out := strings.SplitAfter(string(r), "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// lineStart returns where line n begins; the end when there is none.
func (r reference) lineStart(n int) int64 {
	var at int64
	for i, line := range r.lines() {
		if i == n {
			break
		}
		at += int64(len(line))
	}
	return at
}

// writeRandom writes pieces like those of a program: lines short and very long, cut
// anywhere, with characters of all sizes.
func writeRandom(t *testing.T, l *outlog, rnd *rand.Rand, total int) reference {
	t.Helper()
	var all reference
	for len(all) < total {
		var piece []byte
		switch rnd.IntN(12) {
		case 0:
			piece = bytes.Repeat([]byte("long \u4e2d"), rnd.IntN(3000)+1)
		case 1:
			piece = bytes.Repeat([]byte("\n"), rnd.IntN(40)+1)
		case 2:
			piece = []byte{byte(rnd.IntN(256))}
		default:
			piece = fmt.Appendf(nil, "line %d \u00e9\U0001F600\n", rnd.IntN(1000))
			piece = piece[:rnd.IntN(len(piece))+1]
		}
		l.append(piece)
		all = append(all, piece...)
	}
	return all
}

// offsets, lines and what was dropped are those of a simple reference, also for a
// log that is opened again.
func TestX5_LogAgainstReference(t *testing.T) {
	for _, tt := range []struct {
		name       string
		max, total int
	}{
		{"small", 1 << 20, 10_000},
		{"memory's end", 1 << 20, 17_000},
		{"marks", 8 << 20, 1_200_000},
		{"dropped", 64 << 10, 400_000},
		{"nearly all dropped", 1, 300_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(6) {
				var used atomic.Int64
				dir := t.TempDir()
				l := newLog(filepath.Join(dir, "x.log"), int64(tt.max), &used)
				rnd := rand.New(rand.NewPCG(seed, 1))
				all := writeRandom(t, l, rnd, tt.total+rnd.IntN(1000))
				if seed%2 == 0 {
					l.append([]byte("\n"))
					all = append(all, '\n')
				}
				checkLog(t, l, all, rnd)
				e := l.extent()
				if held := e.end - e.start; tt.total > tt.max && held > max(int64(tt.max), l.segmentSize()) {
					t.Errorf("%d bytes are held of at most %d", held, tt.max)
				}
				checkUsed(t, dir, used.Load())
				l.close()
				var again atomic.Int64
				loaded := loadLog(l.base, &again)
				if again.Load() != used.Load() {
					t.Errorf("%d bytes used, %d when opened again", used.Load(), again.Load())
				}
				checkLog(t, loaded, all, rnd)
				loaded.remove()
				if files, _ := os.ReadDir(dir); len(files) != 0 || again.Load() != 0 {
					t.Errorf("%d files left, %d bytes counted", len(files), again.Load())
				}
			}
		})
	}
}

func checkUsed(t *testing.T, dir string, used int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			total += info.Size()
		}
	}
	if total != used {
		t.Errorf("%d bytes on disk, %d counted", total, used)
	}
}

func checkLog(t *testing.T, l *outlog, all reference, rnd *rand.Rand) {
	t.Helper()
	e := l.extent()
	lines := all.lines()
	if e.end != int64(len(all)) || e.total != int64(len(lines)) {
		t.Fatalf("%d bytes and %d lines, want %d and %d", e.end, e.total, len(all), len(lines))
	}
	at, b := l.read(0, len(all)+10)
	if at != e.start || !bytes.Equal(b, all[at:]) {
		t.Fatalf("read %d bytes from %d, not what was written", len(b), at)
	}
	first := all.lineStart(int(e.first))
	if first < e.start || e.start == 0 && e.first != 0 {
		t.Fatalf("first line %d begins at %d, the log at %d", e.first, first, e.start)
	}
	for range 30 {
		n := e.first + rnd.Int64N(e.total-e.first+2)
		if got, want := l.lineOffset(n, e.end), all.lineStart(int(n)); got != want {
			t.Fatalf("line %d begins at %d, want %d", n, got, want)
		}
		from := rnd.Int64N(e.end + 1)
		to := from + rnd.Int64N(e.end-from+1)
		checkText(t, l, all, from, to, rnd.IntN(3000))
	}
	if got := l.lineOffset(0, e.end); got != e.start && e.start > 0 {
		t.Errorf("a line that is gone begins at %d, not %d", got, e.start)
	}
}

// checkText checks head, tail and the exact count of what is left out.
func checkText(t *testing.T, l *outlog, all reference, from, to int64, limit int) {
	t.Helper()
	start := l.extent().start
	head, tail, omitted := l.text(from, to, limit)
	if n := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail); n > limit {
		t.Fatalf("%d characters, at most %d", n, limit)
	}
	if omitted == 0 {
		if want := decode(all[from:to]); head != want || tail != "" {
			t.Fatalf("text [%d,%d): %d bytes of text, want %d", from, to, len(head), len(want))
		}
		return
	}
	if from < start && head != "" {
		t.Fatalf("text [%d,%d) has a head, but the log begins at %d", from, to, start)
	}
	raw := to - from - omitted // decoded text of these many bytes is shown
	for h := int64(0); h <= raw; h++ {
		if decode(all[from:from+h]) == head && decode(all[to-(raw-h):to]) == tail {
			return
		}
	}
	t.Fatalf("text [%d,%d) at most %d: %d bytes left out does not fit head %.40q and tail %.40q", from, to, limit, omitted, head, tail)
}

// A log whose disk refuses keeps what it has and the tail.
func TestX21_Broken(t *testing.T) {
	var used atomic.Int64
	base := filepath.Join(t.TempDir(), "x.log")
	l := newLog(base, 64<<10, &used)
	var all reference
	add := func(n int) {
		p := []byte(strings.Repeat("0123456789\n", n))
		l.append(p)
		all = append(all, p...)
	}
	add(3000)
	next := (int64(len(all))/l.segmentSize() + 1) * l.segmentSize() // of 11 bytes a line
	if err := os.Mkdir(fmt.Sprintf("%s.%015d-%012d", base, next, next/11), 0o700); err != nil {
		t.Fatal(err)
	}
	add(1000) // begins in the last segment and cannot begin the next
	e := l.extent()
	if e.broken == nil || l.path() != "" {
		t.Fatalf("extent %+v", e)
	}
	checkLog(t, l, all, rand.New(rand.NewPCG(1, 1)))
	add(40_000)
	e = l.extent()
	if at, b := l.read(0, len(all)); at != e.start || len(b) != tailMax || !bytes.Equal(b, all[at:]) {
		t.Errorf("the tail is %d bytes from %d", len(b), at)
	}
	l.remove()
	if used.Load() != 0 {
		t.Errorf("%d bytes counted", used.Load())
	}
}

// A log that has been damaged says so and never hangs or makes up bytes.
func TestLog_Damaged(t *testing.T) {
	var used atomic.Int64
	l := newLog(filepath.Join(t.TempDir(), "x.log"), 1<<20, &used)
	l.append(bytes.Repeat([]byte("line\n"), 10_000))
	if err := os.Truncate(l.base, 100); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.readAt(0, 1000); err == nil {
		t.Error("read what is not there")
	}
	if _, b := l.read(0, 1000); !strings.Contains(string(b), "cannot be read") {
		t.Errorf("read %q", b)
	}
	l.lineOffset(5000, l.extent().end)
	if err := os.Remove(l.base); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.readAt(0, 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	l.remove()
}

// Readers at work while segments are dropped see only what was written.
func TestX5_ReadWhileDropping(t *testing.T) {
	var used atomic.Int64
	l := newLog(filepath.Join(t.TempDir(), "x.log"), 32<<10, &used)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 60_000 {
			l.append(fmt.Appendf(nil, "%09d\n", i)) // line n begins at 10 n
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		e := l.extent()
		at, b := l.read(e.start, 5000)
		if len(b) > 0 {
			if want := fmt.Sprintf("%09d\n", at/10); string(b[(10-at%10)%10:][:10]) != fmt.Sprintf("%09d\n", (at+9)/10) {
				t.Fatalf("at %d stands %q, want %q", at, b[:10], want)
			}
		}
		if e.total > 0 {
			n := e.first + (e.total-e.first)/2
			if off := l.lineOffset(n, e.end); off != n*10 && n*10 >= l.extent().start { // still held
				t.Fatalf("line %d begins at %d", n, off)
			}
		}
		head, tail, omitted := l.text(0, e.end, 1000)
		if n := int64(len(head) + len(tail)); n+omitted != e.end {
			t.Fatalf("%d shown and %d left out of %d", n, omitted, e.end)
		}
	}
	l.remove()
}
