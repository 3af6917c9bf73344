//go:build unix

package proc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openProgram does not wait: something else than a program may stand there by now.
func openProgram(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// identify is the identity of an open file.
func identify(f *os.File) (FileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return FileID{}, fmt.Errorf("check %s before its start: %w", f.Name(), err)
	}
	return FileID{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size, //nolint:unconvert // narrower on some systems
		MtimeNs: st.Mtim.Nano(), CtimeNs: st.Ctim.Nano(),
	}, nil
}
