package safefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockPoll   = 10 * time.Millisecond // between two tries of Lock
	probeTries = 4                     // tries of TryLock, see there
	probePause = 3 * time.Millisecond  // between them
)

// Held is a lock that is held. Whoever got it closes it; the end of the process
// releases it too.
type Held struct{ f *flock.Flock }

// Close releases the lock; a second call does nothing. The lock file stays: removing
// it would let two processes lock two files of one name.
func (h *Held) Close() error {
	if err := h.f.Close(); err != nil {
		return fmt.Errorf("unlock %s: %w", h.f.Path(), err)
	}
	return nil
}

// Lock waits for the lock at path, a file of its own (0600) that is made when it is
// missing, until ctx ends. It excludes other processes and other callers in this one.
// It is advisory, and not to be trusted on network file systems.
func Lock(ctx context.Context, path string) (*Held, error) {
	f := flock.New(path)
	if _, err := f.TryLockContext(ctx, lockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("lock %s: %w: %w", path, ErrLocked, context.Cause(ctx))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Held{f: f}, nil
}

// TryLock is Lock without waiting: ErrLocked when somebody holds it.
func TryLock(path string) (*Held, error) {
	f := flock.New(path)
	for try := range probeTries {
		if try > 0 {
			time.Sleep(probePause) // a Locked call holds the lock for an instant
		}
		ok, err := f.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ok {
			return &Held{f: f}, nil
		}
	}
	return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
}

// Locked says whether somebody holds the lock at path right now. It makes no file; a
// missing one is not locked. The answer may be old when it arrives: only TryLock
// decides.
func Locked(path string) (bool, error) {
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := f.TryRLock() // shared, so that two such calls do not see each other
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	case !ok:
		return true, nil
	}
	if err := f.Close(); err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	return false, nil
}
