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

// PathIn is where the store lies in a state directory.
func PathIn(stateDir string) string { return filepath.Join(stateDir, "state", "exec.db") }

// Open opens the store in the file at path and makes it when it is missing, with a lock
// file beside it so that two programs never share it. Nothing that is damaged or newer is
// ever replaced. Errors wrap ErrLocked, ErrDamaged, ErrNewer or ErrFull.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := safefile.Dir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	lock, err := hold(path)
	if err != nil {
		return nil, err
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
	// fullfsync: on macOS an fsync alone leaves the data in the drive's cache.
	const common = "_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)&_pragma=trusted_schema(OFF)&_pragma=secure_delete(ON)"
	var err error
	if s.wdb, err = sql.Open("sqlite", "file:"+escape(s.path)+"?"+common+"&_txlock=immediate"); err != nil {
		return err
	}
	s.wdb.SetMaxOpenConns(1)
	if s.db, err = sql.Open("sqlite", "file:"+escape(s.path)+"?"+common+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(readers)
	s.db.SetMaxIdleConns(readers) // opening one costs more than a read
	return s.schema(ctx)
}

// file makes the file with its mode before the library does, and refuses what must be
// another's or half of one.
func (s *Store) file() error {
	info, err := os.Lstat(s.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", ErrDamaged, s.path)
	case err == nil && info.Size() == 0:
		return errors.Join(safefile.Check(s.path), s.leftAlone())
	case err == nil:
		return safefile.Check(s.path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.leftAlone(); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// leftAlone refuses to begin a store beside what another left: the library would drop a
// -wal without its file, and with it what was written last. It makes both only once the
// file has its first page, so an end in the middle of making a store leaves neither.
func (s *Store) leftAlone() error {
	for _, end := range []string{"-wal", "-shm"} {
		if _, err := os.Lstat(s.path + end); err == nil {
			return fmt.Errorf("%w: %s is gone or empty, but its %s file stands; put it back from a copy, or move both away to begin anew", ErrDamaged, s.path, end)
		}
	}
	return nil
}

const (
	readers     = 4          // connections that read
	application = 0x6f636c77 // the file's application_id, so that another program's file is not taken for ours
	version     = 1          // of the schema, the file's user_version
)

const schema = `
CREATE TABLE item (bucket TEXT NOT NULL, key TEXT NOT NULL, rev INTEGER NOT NULL, value BLOB, PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE TABLE record (log TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (log, seq)) WITHOUT ROWID;
CREATE INDEX record_at ON record (log, at);
CREATE TABLE sequence (log TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
`

func (s *Store) schema(ctx context.Context) error {
	var app, have, tables int
	err := s.wdb.QueryRowContext(ctx, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id, pragma_user_version").Scan(&app, &have, &tables)
	switch {
	case err != nil:
		return err
	case app == application && have > version:
		return fmt.Errorf("%w: %s has version %d, this program knows %d; use a newer program", ErrNewer, s.path, have, version)
	case app == application && have == version:
		return s.walMode(ctx)
	case app != 0 || have != 0 || tables != 0:
		return fmt.Errorf("%w: %s is another program's database; move it away", ErrDamaged, s.path)
	}
	if err := s.walMode(ctx); err != nil {
		return err
	}
	tx, err := s.wdb.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version)); err != nil {
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
	return errors.Join(append(errs, release(s.path, s.lock))...)
}
