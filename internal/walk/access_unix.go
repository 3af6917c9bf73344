//go:build unix

package walk

import "golang.org/x/sys/unix"

func mayEnter(dir string) bool { return mayRun(dir) }

// mayRun asks the kernel, with the effective user.
func mayRun(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}
