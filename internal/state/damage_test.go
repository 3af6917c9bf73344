package state_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"openclaw/internal/state"
)

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
