//go:build unix

package proc

import (
	"errors"
	"syscall"
)

func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Reap takes the exit of a child that has ended, so that it does not stay a zombie. It
// does not wait, and reports whether there is nothing to wait for any more.
func Reap(child int) bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(child, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		return pid != 0 // also when somebody else has taken it
	}
}
