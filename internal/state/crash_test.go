package state_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"openclaw/internal/state"
)

// writerEnv makes the test binary a writer of the store it names, until it is killed.
const writerEnv = "STATE_TEST_WRITER"

// Writers of the child: each has a key or a log of its own, but for the shared log.
const (
	putters   = 3
	appenders = 2
	sharedLog = "l"
)

// body is the n-th value: its number, then bytes that follow from it, up to some pages, so
// that half a value is seen.
func body(n int64) []byte {
	return append(fmt.Appendf(nil, "%d:", n), bytes.Repeat([]byte{byte(n), byte(n >> 8)}, int(n*37%5000))...)
}

// number reads a body back; an error says that it is not whole.
func number(b []byte) (int64, error) {
	head, _, _ := bytes.Cut(b, []byte(":"))
	n, err := strconv.ParseInt(string(head), 10, 64)
	if err == nil && !bytes.Equal(b, body(n)) {
		err = fmt.Errorf("value %d is not whole (%d bytes)", n, len(b))
	}
	return n, err
}

// writer is the child. A line on its output says that a call has returned.
func writer(path string) int {
	ctx := context.Background()
	s, err := state.Open(ctx, path)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fault := make(chan error)
	for w := range putters {
		go func() { fault <- putOn(ctx, s, "k"+strconv.Itoa(w)) }()
	}
	for range appenders {
		go func() { fault <- appendOn(ctx, s) }()
	}
	go func() { fault <- makeAndDelete(ctx, s) }()
	fmt.Println("error", <-fault)
	return 1
}

func putOn(ctx context.Context, s *state.Store, key string) error {
	it, err := s.Get(ctx, "b", key)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	for {
		if it.Rev, err = s.Put(ctx, "b", key, body(it.Rev+1), it.Rev); err != nil {
			return err
		}
		fmt.Println("put", key, it.Rev)
	}
}

func appendOn(ctx context.Context, s *state.Store) error {
	for n := rand.Int64N(1 << 20); ; n++ {
		seq, err := s.Append(ctx, sharedLog, n, body(n))
		if err != nil {
			return err
		}
		fmt.Println("log", seq, n)
	}
}

func makeAndDelete(ctx context.Context, s *state.Store) error {
	it, err := s.Get(ctx, "b", "d")
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	for {
		if it.Rev == 0 {
			if it.Rev, err = s.Put(ctx, "b", "d", nil, 0); err != nil {
				return err
			}
			fmt.Println("made", it.Rev)
		}
		if err := s.Delete(ctx, "b", "d", it.Rev); err != nil {
			return err
		}
		fmt.Println("deleted", it.Rev)
		it.Rev = 0
	}
}

// said is what a child was told is safe.
type said struct {
	puts   map[string]int64 // last revision by key
	log    map[int64]int64  // body number by sequence number
	made   int64            // last revision of the key that comes and goes
	killed int64            // the last of them that was deleted
}

func (s *said) hear(t *testing.T, out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		var key string
		var a, b int64
		var err error
		switch kind {
		case "put":
			_, err = fmt.Sscanf(rest, "%s %d", &key, &a)
			s.puts[key] = a
		case "log":
			_, err = fmt.Sscanf(rest, "%d %d", &a, &b)
			s.log[a] = b
		case "made":
			_, err = fmt.Sscanf(rest, "%d", &s.made)
		case "deleted":
			_, err = fmt.Sscanf(rest, "%d", &s.killed)
		default:
			err = errors.New("not a line of ours")
		}
		if err != nil {
			t.Errorf("the writer said %q: %v", lines.Text(), err)
		}
	}
}

// TestCrash: what a call has returned is there after a kill at any moment, whole, once, and
// nothing else is broken.
func TestCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "exec.db")
	heard := said{puts: map[string]int64{}, log: map[int64]int64{}}
	var lastSeq int64
	calls := 0
	for round := range 20 {
		after := time.Duration(rand.IntN(100)) * time.Millisecond
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		heard.hear(t, out)
		_ = cmd.Wait()
		timer.Stop()
		calls += len(heard.log)

		s := openAt(t, path)
		lastSeq = heard.check(t, s, lastSeq)
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("round %d, killed after %v", round, after)
		}
	}
	if calls == 0 {
		t.Error("no writer came as far as writing")
	}
}

// check compares the store with what was heard and empties the log, which goes on behind
// the number it returns.
func (s *said) check(t *testing.T, store *state.Store, lastSeq int64) int64 {
	t.Helper()
	ctx := t.Context()
	for key, rev := range s.puts {
		it, err := store.Get(ctx, "b", key)
		n, bad := number(it.Value)
		// One more may have been written, whose answer nobody heard.
		if err = errors.Join(err, bad); err != nil || it.Rev != n || n < rev || n > rev+1 {
			t.Errorf("%s has value %d, revision %d, after %d (%v)", key, n, it.Rev, rev, err)
		}
		s.puts[key] = it.Rev
	}
	s.checkDeleted(t, store)

	records, err := store.Read(ctx, sharedLog, 0, 1<<20)
	if err != nil {
		t.Error(err)
	}
	for i, r := range records {
		n, err := number(r.Data)
		if told, ok := s.log[r.Seq]; err != nil || r.Seq != lastSeq+1+int64(i) || n != r.AtMs || ok && told != n {
			t.Errorf("record %d at place %d behind %d holds %d (%v), told %d", r.Seq, i, lastSeq, n, err, told)
		}
		delete(s.log, r.Seq)
	}
	if len(s.log) != 0 {
		t.Errorf("lost from the log: %v", s.log)
	}
	if n, err := store.Trim(ctx, sharedLog, 1<<62); err != nil || n != len(records) {
		t.Errorf("%d of %d trimmed: %v", n, len(records), err)
	}
	return lastSeq + int64(len(records))
}

// checkDeleted: the key that comes and goes is back only under a later revision.
func (s *said) checkDeleted(t *testing.T, store *state.Store) {
	t.Helper()
	it, err := store.Get(t.Context(), "b", "d")
	switch {
	case errors.Is(err, state.ErrNotFound):
		if it.Rev, err = store.Put(t.Context(), "b", "d", nil, 0); err != nil || it.Rev <= s.made {
			t.Errorf("made again with revision %d after %d (%v)", it.Rev, s.made, err)
		}
	case err != nil || it.Rev <= s.killed || it.Rev < s.made:
		t.Errorf("revision %d is there, %d was made, %d deleted (%v)", it.Rev, s.made, s.killed, err)
	}
	s.made = it.Rev
}

// TestLocked: a second program is kept off, told whom by, and let in after a kill.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exec.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.HasPrefix(line, "error") {
		t.Fatalf("the writer says %q, %v", line, err)
	}
	_, err = state.Open(t.Context(), path)
	if !errors.Is(err, state.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if pid := fmt.Sprintf("process %d;", cmd.Process.Pid); tellsHolder && !strings.Contains(fmt.Sprint(err), pid) {
		t.Errorf("no %q in: %v", pid, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s := openAt(t, path)
	if _, err := state.Open(t.Context(), path); !errors.Is(err, state.ErrLocked) {
		t.Errorf("opened twice in one program: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAt(t, path).Close(); err != nil {
		t.Error(err)
	}
}

// tellsHolder: Windows lets nobody read a locked file.
const tellsHolder = runtime.GOOS != "windows"
