//go:build unix

package approval

import (
	"io/fs"
	"syscall"
)

// changeTime is when the file or what is known of it was last changed, in ns; nobody can
// set it back.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ctime(st)
	}
	return 0
}
