package state

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"openclaw/internal/safefile"
)

// hold takes the lock that keeps a second program off the store, and leaves this process's
// id in the lock file for the error the second one gets.
func hold(path string) (*safefile.Held, error) {
	lock, err := safefile.TryLock(lockFile(path))
	if errors.Is(err, safefile.ErrLocked) {
		return nil, fmt.Errorf("%w: %s%s; one gateway serves a state directory at a time", ErrLocked, path, holder(path))
	}
	if err != nil {
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	// Only the lock decides; the id is advice, and Windows lets nobody write or read a
	// locked file.
	_ = os.WriteFile(lockFile(path), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return lock, nil
}

// release takes the id away first, so that a stale one is never told for the next holder.
func release(path string, lock *safefile.Held) error {
	_ = os.Truncate(lockFile(path), 0)
	return lock.Close()
}

func lockFile(path string) string { return path + ".lock" }

// holder names the process that has the lock, or is empty when that is not known.
func holder(path string) string {
	data, err := os.ReadFile(lockFile(path))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" is held by process %d", pid)
}
