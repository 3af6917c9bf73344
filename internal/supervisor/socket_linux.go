package supervisor

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer says whether the other end is a program of our own user.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return checkUser(0, credErr)
	}
	return checkUser(cred.Uid, nil)
}

func throughDescriptor(dir *os.File, name string) (string, bool) {
	short := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name)
	return short, len(short) <= pathMax
}
