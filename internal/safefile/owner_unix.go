//go:build unix

package safefile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openRead opens without waiting: a named pipe put in the file's place must not hang
// the daemon. The flag means nothing for regular files.
func openRead(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// checkOwner refuses what another user owns or what group or others may write. Root's
// files are trusted when rootToo is set: root could change anything of ours anyway.
func checkOwner(info fs.FileInfo, rootToo bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: its owner is not known", ErrUnsafe)
	}
	if uid := int64(st.Uid); uid != int64(os.Geteuid()) && (!rootToo || uid != 0) {
		return fmt.Errorf("%w: owned by another user (uid %d); chown it to yourself if it is yours", ErrUnsafe, uid)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("%w: others may write to it (mode %04o); run chmod go-w on it", ErrUnsafe, perm)
	}
	return nil
}
