package proc

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// throughDescriptor is the path that starts the very file that is open; "" for a script,
// whose interpreter could not open it, and where /proc is missing.
func throughDescriptor(f *os.File) string {
	var magic [4]byte
	if n, err := f.ReadAt(magic[:], 0); err != nil || n < len(magic) || string(magic[:]) != "\x7fELF" {
		return ""
	}
	return descriptorPath(f)
}

// descriptorPath names an open file; "" where /proc is missing.
func descriptorPath(f *os.File) string {
	path := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if unix.Access(path, unix.F_OK) != nil {
		return ""
	}
	return path
}

func openDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// realDir is where an open directory lies, and a path that leads to it whatever happens.
func realDir(f *os.File, dir string) (real, by string, err error) {
	by = descriptorPath(f)
	if by == "" {
		return "", "", fmt.Errorf("%s cannot be checked: /proc is missing", dir)
	}
	real, err = os.Readlink(by)
	return real, by, err
}
