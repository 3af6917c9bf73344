package state_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"openclaw/internal/state"
	"openclaw/internal/state/statetest"
)

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

// TestBackupHalf: a copy that was not finished does not stay, where it could be taken for one.
func TestBackupHalf(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "exec.db"))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(ctx, copied); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it stands: %v", err)
	}
}

// TestOddPaths: no character of a path means anything to the library.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b%20c", "a#b", "a?mode=memory", "ü", "a'b;--", "file:x"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?:") {
			continue // no names there
		}
		folder := filepath.Join(t.TempDir(), name)
		s := openAt(t, filepath.Join(folder, "exec.db"))
		if _, err := s.Put(t.Context(), "b", "k", nil, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "exec.db-wal")); err != nil {
			t.Error(err)
		}
		if err := s.Backup(t.Context(), filepath.Join(folder, name+".copy")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClosed: whatever is asked after Close has one answer, and closing again the same.
func TestClosed(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "exec.db"))
	first := s.Close()
	if again := s.Close(); first != nil || again != nil {
		t.Errorf("%v, %v", first, again)
	}
	_, get := s.Get(t.Context(), "b", "k")
	_, scan := s.Scan(t.Context(), "b", "", 1)
	_, read := s.Read(t.Context(), "l", 0, 1)
	_, trim := s.Trim(t.Context(), "l", 0)
	for i, err := range []error{get, scan, read, trim, s.Check(t.Context()), s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"))} {
		if !errors.Is(err, state.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestContext: a change nobody waits for any more is not begun.
func TestContext(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "exec.db"))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := s.Append(ctx, "l", 0, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if r, err := s.Read(t.Context(), "l", 0, 1); err != nil || len(r) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// Another program's table is read, whatever its columns are called, and not changed.
func TestForeignJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other db.sqlite")
	if err := sqlDo(path, `CREATE TABLE config (id INTEGER, name TEXT, doc TEXT); INSERT INTO config VALUES (1, 'x', '{"version":1}'), (2, '{', NULL)`); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := state.ForeignJSON(t.Context(), path, "config")
	if err != nil || len(got) != 1 || string(got[0]) != `{"version":1}` {
		t.Errorf("%q %v", got, err)
	}
	if got, err := state.ForeignJSON(t.Context(), path, "no_such"); err != nil || got != nil {
		t.Errorf("%q %v", got, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("it was changed")
	}
}
