package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"openclaw/internal/safefile"
)

// elsewhere is where another OpenClaw keeps its approvals, below the state directory: the
// file of one with a database. Ours has another name.
const elsewhere = "state/openclaw.sqlite"

// ErrElsewhere: there is no document, but another OpenClaw keeps its approvals in this
// state directory, and what they say is not known here. It wraps ErrDamaged.
var ErrElsewhere = fmt.Errorf("%w: another OpenClaw keeps its approvals here", ErrDamaged)

// mayBeMissing is nil when there is no document and never was one, so that nothing is set.
// Whatever else is the case is damage.
func mayBeMissing(dir string) error {
	path := filepath.Join(dir, FileName)
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: %s is a link to a file that is not there", ErrDamaged, path)
	}
	was, err := exists(filepath.Join(dir, SeenName))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if was {
		return fmt.Errorf("%w: %s has gone; put it back from a copy, or write a new one with openclaw approvals set", ErrDamaged, path)
	}
	other := filepath.Join(dir, filepath.FromSlash(elsewhere))
	if was, err = exists(other); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if was {
		return fmt.Errorf("%w (%s); take them over with openclaw approvals import, or write a document with openclaw approvals set", ErrElsewhere, other)
	}
	return nil
}

// exists says whether something has that name; what cannot be looked at is an error, not
// absent.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// markSeen notes that there was a document, so that its absence counts.
func markSeen(dir string) error {
	path := filepath.Join(dir, SeenName)
	if was, err := exists(path); was || err != nil {
		return err
	}
	return safefile.Write(path, []byte("exec-approvals.json has been seen; without it nothing runs that would need it\n"))
}
