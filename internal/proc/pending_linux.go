package proc

import "golang.org/x/sys/unix"

// pending returns how many bytes can be read from fd now.
func pending(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
