package approval

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"openclaw/internal/policy"
)

// writerEnv makes the test binary play another program: it adds entries to the document of
// that state directory, says each one's pattern when it is stored, and ends with its input.
const (
	writerEnv = "APPROVAL_TEST_WRITER"
	prefixEnv = "APPROVAL_TEST_PREFIX"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(writerEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := writeEntries(dir, os.Getenv(prefixEnv)); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func writeEntries(dir, prefix string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	f := NewFile(dir)
	for i := 0; ctx.Err() == nil; i++ {
		pattern := prefix + strconv.Itoa(i)
		// The lock is waited for without end: what was begun is stored before the end.
		if _, _, err := f.Add(context.Background(), "main", policy.Entry{Pattern: pattern}); err != nil {
			return err
		}
		fmt.Println(pattern)
	}
	return nil
}

// writer is another program that adds entries.
type writer struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  chan []string // all that it said, when it has ended
}

func startWriter(t *testing.T, dir, prefix string) *writer {
	t.Helper()
	w := &writer{cmd: exec.Command(os.Args[0]), said: make(chan []string, 1)}
	w.cmd.Env = append(os.Environ(), writerEnv+"="+dir, prefixEnv+"="+prefix)
	w.cmd.Stderr = os.Stderr
	stdin, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.stdin = stdin
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var said []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said = append(said, lines.Text())
		}
		w.said <- said
	}()
	return w
}

// patterns are those of all entries of main.
func (p *paper) patterns() map[string]int {
	p.t.Helper()
	all := map[string]int{}
	for _, e := range p.entries("main") {
		all[e.Pattern]++
	}
	return all
}

func (p *paper) wantAll(said []string) {
	p.t.Helper()
	have := p.patterns()
	for _, pattern := range said {
		if have[pattern] != 1 {
			p.t.Errorf("%q is there %d times", pattern, have[pattern])
		}
	}
}

// two programs and this one edit at once, usage is written, and a reader looks on; no
// change is lost and the document can be used all the time.
func TestA1_TwoProgramsEditAtOnce(t *testing.T) {
	p := newPaper(t, "")
	id := p.add("main", "used")
	a, b := startWriter(t, p.dir, "a"), startWriter(t, p.dir, "b")
	u := p.NewUsage(func(err error) { t.Error(err) })
	r := NewReader(p.dir, "")
	var mine []string
	deadline := time.Now().Add(3 * time.Second)
	for i := 0; time.Now().Before(deadline); i++ {
		pattern := "c" + strconv.Itoa(i)
		p.add("main", pattern)
		mine = append(mine, pattern)
		u.Note(policy.EntryRef{ID: id, Pattern: "used", Agent: "main"}, int64(i+1), "used", "/used")
		if h, err := r.For("main"); err != nil || h.List.Len() < len(mine) {
			t.Fatalf("judged: %+v %v", h, err)
		}
	}
	for _, w := range []*writer{a, b} {
		if err := w.stdin.Close(); err != nil {
			t.Fatal(err)
		}
		said := <-w.said
		if err := w.cmd.Wait(); err != nil {
			t.Errorf("writer: %v; it said %q", err, said)
		}
		if len(said) < 5 {
			t.Errorf("a writer had only %d turns", len(said))
		}
		mine = append(mine, said...)
	}
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	p.wantAll(mine)
	if e := p.entries("main")[0]; e.LastUsedAt == 0 {
		t.Errorf("usage is lost: %+v", e)
	}
	t.Logf("%d entries", len(mine))
}

// a writer that is killed at any moment leaves a whole document, with everything that
// it said it had stored.
func TestA1_KilledWriter(t *testing.T) {
	t.Parallel()
	p := newPaper(t, "")
	p.add("main", "first")
	r := NewReader(p.dir, "")
	var all []string
	for i := range 25 {
		w := startWriter(t, p.dir, fmt.Sprintf("k%d-", i))
		time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		all = append(all, <-w.said...)
		_ = w.cmd.Wait() // it was killed
		if _, err := r.For("main"); err != nil {
			t.Fatal(err)
		}
	}
	p.wantAll(append(all, "first"))
	if err := os.WriteFile(filepath.Join(p.dir, "."+FileName+".tmp-1"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.add("main", "last") // nobody holds the lock any more
	if left, err := filepath.Glob(filepath.Join(p.dir, ".*.tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
	t.Logf("%d entries", len(all))
}

// Case app-0039: three answers allow-always at the same time.
func TestA31_ThreeAnswersAtOnce(t *testing.T) {
	p := newPaper(t, "")
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			pattern := fmt.Sprintf("/usr/bin/%d", i)
			if err := NewFile(p.dir).AddAlways(t.Context(), "main", []policy.StoredEntry{{Pattern: pattern}}, pattern); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p.wantAll([]string{"/usr/bin/0", "/usr/bin/1", "/usr/bin/2"})
}

// The lock is waited for only as long as the caller waits.
func TestA1_LockEndsWithContext(t *testing.T) {
	p := newPaper(t, "")
	lock, err := p.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() //nolint:errcheck // a test
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, _, err := p.Add(ctx, "main", policy.Entry{Pattern: "x"}); err == nil {
		t.Error("it was written without the lock")
	}
}
