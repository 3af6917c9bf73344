//go:build unix

package proc

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// detachedAttr gives the program a process group of its own, so that no Ctrl-C or job of a
// shell reaches it. A session of its own would be a scheduling group of its own, too: on a
// busy machine every message between the two then waits for a time slice (a quarter fewer
// calls a second). LeaveTerminal does the rest.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// LeaveTerminal gives up this process's controlling terminal, which its children then do
// not have either. Without one it does nothing.
func LeaveTerminal() error {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetInt(fd, unix.TIOCNOTTY, 0); err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	return nil
}

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
