package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"openclaw/internal/safefile"
)

// Limits of what is kept.
const (
	MaxValue = 4 << 20 // bytes of a value or a log record
	MaxKey   = 512     // bytes of a bucket's, key's or log's name
)

// Errors that callers tell apart.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("changed meanwhile")
	ErrLocked   = errors.New("another program has the store open")
	ErrDamaged  = errors.New("the store is damaged")
	ErrNewer    = errors.New("the store was written by a newer version")
	ErrFull     = errors.New("the disk is full")
	ErrClosed   = errors.New("the store is closed")
)

// Item is a value with its revision. Revisions of a key only grow, also over a Delete.
type Item struct {
	Key   string
	Value []byte
	Rev   int64
}

// Record is one entry of a log.
type Record struct {
	Seq  int64 // from 1, never used again
	AtMs int64 // Unix time in ms, as it was given
	Data []byte
}

// Store is one open store. It may be used by many at once. Its owner calls Close.
type Store struct {
	path string
	lock *safefile.Held
	db   *sql.DB // readers
	wdb  *sql.DB // the one writer
	ops  chan *op
	quit chan struct{}
	done sync.WaitGroup

	closing sync.Once
	closed  error
}

// Open opens the store in the file at path and makes it when it is missing, with a lock
// file beside it so that two programs never share it. Nothing that is damaged or newer is
// ever replaced. Errors wrap ErrLocked, ErrDamaged, ErrNewer or ErrFull.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := safefile.Dir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	lock, err := safefile.TryLock(path + ".lock")
	if errors.Is(err, safefile.ErrLocked) {
		return nil, fmt.Errorf("%w: %s; one gateway serves a state directory at a time", ErrLocked, path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	s := &Store{path: path, lock: lock, ops: make(chan *op), quit: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(s.plain("open", err), s.letGo())
	}
	s.done.Go(s.write)
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := s.file(); err != nil {
		return err
	}
	const common = "_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=trusted_schema(OFF)"
	var err error
	if s.wdb, err = sql.Open("sqlite", "file:"+escape(s.path)+"?"+common+"&_txlock=immediate"); err != nil {
		return err
	}
	s.wdb.SetMaxOpenConns(1)
	if s.db, err = sql.Open("sqlite", "file:"+escape(s.path)+"?"+common+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(4)
	return s.schema(ctx)
}

// file makes the file with its mode before the library does, and refuses what must be
// another's or half of one.
func (s *Store) file() error {
	info, err := os.Lstat(s.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", ErrDamaged, s.path)
	case err == nil:
		return safefile.Check(s.path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Lstat(s.path + "-wal"); err == nil {
		return fmt.Errorf("%w: %s has gone, but its -wal file stands; put it back from a copy, or move both away to begin anew", ErrDamaged, s.path)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// version of the schema, in the file's user_version.
const version = 1

const schema = `
CREATE TABLE item (bucket TEXT NOT NULL, key TEXT NOT NULL, rev INTEGER NOT NULL, value BLOB, PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE TABLE record (log TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (log, seq)) WITHOUT ROWID;
CREATE INDEX record_at ON record (log, at);
CREATE TABLE sequence (log TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
`

func (s *Store) schema(ctx context.Context) error {
	var have, tables int
	if err := s.wdb.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > version {
		return fmt.Errorf("%w: version %d, this program knows %d; use a newer program", ErrNewer, have, version)
	}
	if have == version {
		return s.walMode(ctx)
	}
	if err := s.wdb.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return fmt.Errorf("%w: %s holds another program's tables", ErrDamaged, s.path)
	}
	if err := s.walMode(ctx); err != nil {
		return err
	}
	tx, err := s.wdb.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// walMode is set once it is known that the file is ours.
func (s *Store) walMode(ctx context.Context) error {
	var mode string
	if err := s.wdb.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system of %s cannot keep a store (journal mode %s)", s.path, mode)
	}
	return nil
}

// Path is the store's file.
func (s *Store) Path() string { return s.path }

// Close waits for the writes under way and closes the file. A second call returns the same.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		s.done.Wait()
		s.closed = s.letGo()
	})
	return s.closed
}

func (s *Store) letGo() error {
	var errs []error
	for _, db := range []*sql.DB{s.db, s.wdb} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}
