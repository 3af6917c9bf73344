package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// plain turns an error of the library into one of ours, with what to do.
func (s *Store) plain(doing string, err error) error {
	if err == nil {
		return nil
	}
	for _, own := range []error{ErrNotFound, ErrConflict, ErrLocked, ErrDamaged, ErrNewer, ErrFull, ErrClosed} {
		if errors.Is(err, own) {
			return err
		}
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %s %s: %w; make room, what is stored is still there", ErrFull, doing, s.path, err)
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		code := e.Code()
		if code == sqlite3.SQLITE_IOERR_SHMSIZE { // no room to make the -shm file longer
			code = sqlite3.SQLITE_FULL
		}
		switch code & 0xff {
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%w: %s %s: %w; make room, what is stored is still there", ErrFull, doing, s.path, err)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %s: %w; move it away (with -wal and -shm) and put a copy in its place", ErrDamaged, s.path, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w: %s: %w; close it there", ErrLocked, s.path, err)
		}
	}
	select {
	case <-s.quit: // the library's own words for it are no value to compare with
		return fmt.Errorf("%w: %s %s: %w", ErrClosed, doing, s.path, err)
	default:
		return fmt.Errorf("%s %s: %w", doing, s.path, err)
	}
}

// escape makes a path part of a URI as SQLite reads it.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// newFile refuses a path at which something stands, and makes sure that what is written
// there is nobody else's: SQLite fills an empty file.
func newFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; give another name", path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}
