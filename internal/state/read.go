package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"openclaw/internal/safefile"
)

// Get returns a key's value; the error wraps ErrNotFound when there is none.
func (s *Store) Get(ctx context.Context, bucket, key string) (Item, error) {
	it := Item{Key: key}
	err := s.db.QueryRowContext(ctx, "SELECT rev, value FROM item WHERE bucket = ? AND key = ? AND value IS NOT NULL", bucket, key).Scan(&it.Rev, &it.Value)
	if errors.Is(err, sql.ErrNoRows) {
		return Item{}, fmt.Errorf("%s/%s: %w", bucket, key, ErrNotFound)
	}
	return it, s.plain("read", err)
}

// Scan returns up to limit items of a bucket behind the key after, in the order of keys.
func (s *Store) Scan(ctx context.Context, bucket, after string, limit int) ([]Item, error) {
	return s.items(ctx, "SELECT key, rev, value FROM item WHERE bucket = ? AND key > ? AND value IS NOT NULL ORDER BY key LIMIT ?", bucket, after, max(limit, 0))
}

// ScanBack returns up to limit items of a bucket in front of the key before, the last
// first; before "" begins at the end.
func (s *Store) ScanBack(ctx context.Context, bucket, before string, limit int) ([]Item, error) {
	if before == "" {
		return s.items(ctx, "SELECT key, rev, value FROM item WHERE bucket = ? AND value IS NOT NULL ORDER BY key DESC LIMIT ?", bucket, max(limit, 0))
	}
	return s.items(ctx, "SELECT key, rev, value FROM item WHERE bucket = ? AND key < ? AND value IS NOT NULL ORDER BY key DESC LIMIT ?", bucket, before, max(limit, 0))
}

func (s *Store) items(ctx context.Context, query string, args ...any) ([]Item, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.plain("read", err)
	}
	defer rows.Close()
	var out []Item
	for rows.Next() {
		var it Item
		if err := rows.Scan(&it.Key, &it.Rev, &it.Value); err != nil {
			return nil, s.plain("read", err)
		}
		out = append(out, it)
	}
	return out, s.plain("read", rows.Err())
}

// Read returns up to limit records of a log behind a sequence number, oldest first.
func (s *Store) Read(ctx context.Context, log string, after int64, limit int) ([]Record, error) {
	return s.records(ctx, "SELECT seq, at, data FROM record WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?", log, after, max(limit, 0))
}

// ReadBack returns up to limit records in front of a sequence number, newest first; before
// 0 begins at the end.
func (s *Store) ReadBack(ctx context.Context, log string, before int64, limit int) ([]Record, error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	return s.records(ctx, "SELECT seq, at, data FROM record WHERE log = ? AND seq < ? ORDER BY seq DESC LIMIT ?", log, before, max(limit, 0))
}

func (s *Store) records(ctx context.Context, query string, args ...any) ([]Record, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.plain("read", err)
	}
	defer rows.Close()
	var out []Record
	for rows.Next() {
		var r Record
		if err := rows.Scan(&r.Seq, &r.AtMs, &r.Data); err != nil {
			return nil, s.plain("read", err)
		}
		out = append(out, r)
	}
	return out, s.plain("read", rows.Err())
}

// Check reads the whole file and reports what is wrong with it; the error wraps
// ErrDamaged.
func (s *Store) Check(ctx context.Context) error {
	var answer string
	if err := s.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&answer); err != nil {
		return s.plain("check", err)
	}
	if answer != "ok" {
		return fmt.Errorf("%w: %s: %s", ErrDamaged, s.path, answer)
	}
	return nil
}

// Backup writes a copy, as of now, to a file (0600) that must not be there yet; half a
// copy is taken away again. Writers wait meanwhile.
func (s *Store) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path) // the library reads "file:..." as a URI
	if err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	if err := newFile(path); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	if _, err := s.wdb.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return errors.Join(s.plain("back up", err), os.Remove(path))
	}
	return nil
}

// BackupBeside is Backup into a new file in the folder backups beside the store.
func (s *Store) BackupBeside(ctx context.Context) (path string, err error) {
	dir := filepath.Join(filepath.Dir(s.path), "backups")
	if err := safefile.Dir(dir); err != nil {
		return "", fmt.Errorf("back up the store: %w", err)
	}
	path = filepath.Join(dir, time.Now().UTC().Format("exec-20060102T150405.000000Z.db"))
	return path, s.Backup(ctx, path)
}
