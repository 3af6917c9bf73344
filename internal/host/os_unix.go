//go:build unix

package host

import (
	"io/fs"
	"strconv"
	"syscall"

	"openclaw/internal/policy"
)

// foldEnv says if names of environment variables ignore case.
const foldEnv = false

// hasLogin says if there is a login shell with start-up files to ask.
const hasLogin = true

// CheckEnv is policy's X-10 check for this machine's kind of names.
func CheckEnv(env map[string]string, judged bool) (map[string]string, error) {
	return policy.CheckEnv(env, judged)
}

func executableMode(mode fs.FileMode) bool { return mode&0o111 != 0 }

// fileStamp identifies a version of a file: an editor that replaces it changes the
// inode, one that writes into it the time.
func fileStamp(info fs.FileInfo) string {
	stamp := strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		stamp += "." + strconv.FormatUint(uint64(st.Ino), 36)
	}
	return stamp
}
