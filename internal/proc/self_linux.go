package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Self is what starts this very program again, also when its file has been replaced.
func Self() (string, error) { return "/proc/self/exe", nil }

// MemoryFile makes a file that has no name and goes with its last descriptor. The caller
// closes it.
func MemoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &os.PathError{Op: "memfd_create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
