package state

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
)

// TestFullFile: a store that may not grow says so, loses nothing and goes on once it may.
// Of writers that come together only those that do not fit are refused.
func TestFullFile(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "exec.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	limitPages(t, s, 40)
	kept := map[string]int64{}
	for i := range 200 {
		key := strconv.Itoa(i)
		rev, err := s.Put(ctx, "b", key, make([]byte, 3000), 0)
		if err == nil {
			kept[key] = rev
		} else if !errors.Is(err, ErrFull) {
			t.Fatalf("put %d: %v", i, err)
		}
	}
	if len(kept) == 0 || len(kept) == 200 {
		t.Fatalf("%d of 200 were kept", len(kept))
	}
	if _, err := s.Append(ctx, "l", 0, make([]byte, 9000)); !errors.Is(err, ErrFull) {
		t.Errorf("append: %v", err)
	}
	small, large := make(chan error, 1), make(chan error, 1)
	batch := []*op{
		{apply: making("small", 1), done: small},
		{apply: making("large", 90_000), done: large},
	}
	s.commit(batch)
	if err := <-small; err != nil {
		t.Errorf("a change that fits, beside one that does not: %v", err)
	}
	if err := <-large; !errors.Is(err, ErrFull) {
		t.Errorf("a change that does not fit: %v", err)
	}
	limitPages(t, s, 4000)
	for key, rev := range kept {
		if it, err := s.Get(ctx, "b", key); err != nil || it.Rev != rev || len(it.Value) != 3000 {
			t.Errorf("%s: revision %d, %d bytes, %v", key, it.Rev, len(it.Value), err)
		}
	}
	if seq, err := s.Append(ctx, "l", 0, make([]byte, 9000)); err != nil || seq != 1 {
		t.Errorf("after room was made: record %d, %v", seq, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

// making is a change that adds a value of a size.
func making(key string, size int) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO item (bucket, key, rev, value) VALUES ('c', ?, 1, zeroblob(?))", key, size)
		return err
	}
}

// limitPages stands for the disk: the writer's connection may use so many pages.
func limitPages(t *testing.T, s *Store, n int) {
	t.Helper()
	if _, err := s.wdb.ExecContext(context.Background(), "PRAGMA max_page_count = "+strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
}
