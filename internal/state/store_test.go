package state_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"openclaw/internal/state"
	"openclaw/internal/state/statetest"
)

// writerEnv makes the test binary a writer that is killed.
const writerEnv = "STATE_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		os.Exit(writer(path))
	}
	os.Exit(m.Run())
}

func openAt(t testing.TB, path string) *state.Store {
	t.Helper()
	s, err := state.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	statetest.Run(t, func(t *testing.T) func() statetest.Store {
		path := filepath.Join(t.TempDir(), "state", "exec.db")
		return func() statetest.Store { return openAt(t, path) }
	})
}

// writer appends and sets until it is killed, and says what it was told is safe.
func writer(path string) int {
	ctx := context.Background()
	s, err := state.Open(ctx, path)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	for w := range 3 {
		go func() {
			key := "k" + strconv.Itoa(w)
			it, err := s.Get(ctx, "b", key)
			if err != nil && !errors.Is(err, state.ErrNotFound) {
				fmt.Println("error", err)
				return
			}
			for n, _ := strconv.Atoi(string(it.Value)); ; {
				n++
				if it.Rev, err = s.Put(ctx, "b", key, []byte(strconv.Itoa(n)), it.Rev); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println("put", key, n)
			}
		}()
	}
	for {
		seq, err := s.Append(ctx, "l", 1, []byte("x"))
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println("log", seq)
	}
}

// TestCrash: what a call has returned is there after a kill, and nothing else is broken.
func TestCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exec.db")
	for round := range 15 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(30+round*17%100)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		said := map[string]int{}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			f := strings.Fields(lines.Text())
			n, err := strconv.Atoi(f[len(f)-1])
			if err != nil || f[0] == "error" {
				t.Errorf("the writer said %q", lines.Text())
				continue
			}
			said[strings.Join(f[:len(f)-1], " ")] = n
		}
		_ = cmd.Wait()
		s := openAt(t, path)
		for what, n := range said {
			if key, ok := strings.CutPrefix(what, "put "); ok {
				it, err := s.Get(t.Context(), "b", key)
				if have, _ := strconv.Atoi(string(it.Value)); err != nil || have < n {
					t.Errorf("%s is %d, was %d (%v)", key, have, n, err)
				}
				continue
			}
			last, err := s.ReadBack(t.Context(), "l", 0, 1)
			if err != nil || len(last) != 1 || last[0].Seq < int64(n) {
				t.Errorf("the log ends at %+v, had %d (%v)", last, n, err)
			}
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exec.db")
	s := openAt(t, path)
	if _, err := state.Open(t.Context(), path); !errors.Is(err, state.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAt(t, path).Close(); err != nil {
		t.Error(err)
	}
}

// TestDamaged: what cannot be read is reported and stays as it is.
func TestDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want error
	}{
		"no database":             {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("not a database ", 100)), 0o600) }, state.ErrDamaged},
		"a wal alone":             {func(p string) error { return os.WriteFile(p+"-wal", []byte("x"), 0o600) }, state.ErrDamaged},
		"a directory":             {func(p string) error { return os.Mkdir(p, 0o700) }, state.ErrDamaged},
		"newer":                   {func(p string) error { return sqlDo(p, "PRAGMA application_id = 0x6f636c77; PRAGMA user_version = 99") }, state.ErrNewer},
		"another's, same version": {func(p string) error { return sqlDo(p, "CREATE TABLE item (a); PRAGMA user_version = 1") }, state.ErrDamaged},
		"a shm alone":             {func(p string) error { return os.WriteFile(p+"-shm", []byte("x"), 0o600) }, state.ErrDamaged},
		"emptied beside its wal": {func(p string) error {
			return errors.Join(os.WriteFile(p, nil, 0o600), os.WriteFile(p+"-wal", []byte("x"), 0o600))
		}, state.ErrDamaged},
		"another's": {func(p string) error { return sqlDo(p, "CREATE TABLE t (a)") }, state.ErrDamaged},
		"cut": {func(p string) error {
			s, err := state.Open(context.Background(), p)
			if err != nil {
				return err
			}
			for i := range 200 {
				if _, err := s.Put(context.Background(), "b", strconv.Itoa(i), make([]byte, 500), 0); err != nil {
					return err
				}
			}
			return errors.Join(s.Close(), os.Truncate(p, 20000))
		}, state.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "exec.db")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			s, err := state.Open(t.Context(), path)
			if err == nil { // the file's head may be whole
				err = s.Check(t.Context())
				s.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func sqlDo(path, text string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "exec.db")
	s := openAt(t, path)
	defer s.Close()
	if _, err := s.Put(t.Context(), "b", "k", nil, 0); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), copied); err == nil {
		t.Error("a copy was overwritten")
	}
	c := openAt(t, copied)
	defer c.Close()
	if _, err := c.Get(t.Context(), "b", "k"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v %v", info.Mode(), err)
	}
}

func BenchmarkPut(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "exec.db"))
	defer s.Close()
	value := make([]byte, 512)
	var rev int64
	for b.Loop() {
		var err error
		if rev, err = s.Put(context.Background(), "b", "k", value, rev); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "exec.db")
	for b.Loop() {
		if err := openAt(b, path).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
