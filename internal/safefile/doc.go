// Package safefile reads and replaces private files: secrets, the configuration, the
// approvals document. It refuses what somebody else could have written, replaces a
// file in one step that survives a crash, and locks between processes. It knows
// nothing about what the files hold and never changes the owner or mode of a file
// that it did not make itself.
package safefile

import "errors"

// Errors that callers branch on; all of them come wrapped with the path.
var (
	// ErrUnsafe: somebody else could have written the file or folder, or it is not a
	// regular file. What it holds must not be trusted (A-2, C-40).
	ErrUnsafe = errors.New("not safe to trust")
	// ErrTooLarge: the file is larger than the reader's limit.
	ErrTooLarge = errors.New("too large")
	// ErrLocked: another process, or another part of this one, holds the lock.
	ErrLocked = errors.New("locked by another process")
)
