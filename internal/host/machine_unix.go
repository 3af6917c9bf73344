//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"openclaw/internal/policy"
)

// TextIsPowerShell says that commands on this system are not for a shell that is judged.
const TextIsPowerShell = false

// statID follows links.
func statID(path string) (policy.FileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return policy.FileID{}, err
	}
	return idOf(&st), nil
}

func idOf(st *unix.Stat_t) policy.FileID {
	return policy.FileID{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size, //nolint:unconvert // narrower on some systems
		MtimeNs: st.Mtim.Nano(), CtimeNs: st.Ctim.Nano(),
	}
}

// statDir is statID for what must be a directory, less what changes with its entries.
func statDir(path string) (policy.FileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return policy.FileID{}, fmt.Errorf("%s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return policy.FileID{}, fmt.Errorf("%s is not a directory", path)
	}
	return policy.FileID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}, nil //nolint:unconvert // narrower on some systems
}

// mayExecute asks the kernel, with the effective user.
func mayExecute(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}

// mayWrite asks the kernel, with the effective user.
func mayWrite(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// whoElse says who besides root and this user could change the file at a resolved path or
// put another in its place (P-32).
func whoElse(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return path + " cannot be examined"
	}
	if why := others(path, &st); why != "" {
		return why
	}
	return whoElseDirs(filepath.Dir(path))
}

// whoElseDirs looks at a resolved directory and all above it. One that is sticky lets
// nobody replace what belongs to others.
func whoElseDirs(dir string) string {
	for {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return dir + " cannot be examined"
		}
		if why := others(dir, &st); why != "" && (uint32(st.Mode)&unix.S_ISVTX == 0 || !trustedOwner(&st)) { //nolint:unconvert // narrower on some systems
			return why
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func trustedOwner(st *unix.Stat_t) bool { return st.Uid == 0 || int(st.Uid) == os.Geteuid() }

// others says who else may write: another owner, a group that is not root's, everybody.
func others(path string, st *unix.Stat_t) string {
	switch mode := uint32(st.Mode); { //nolint:unconvert // narrower on some systems
	case !trustedOwner(st):
		return fmt.Sprintf("%s belongs to user %d", path, st.Uid)
	case mode&0o002 != 0:
		return path + " can be written by everybody"
	case mode&0o020 != 0 && st.Gid != 0:
		return fmt.Sprintf("%s can be written by group %d", path, st.Gid)
	}
	return ""
}
