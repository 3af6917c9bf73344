package supervisor

import (
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
	var cred *unix.Xucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return checkUser(0, credErr)
	}
	return checkUser(cred.Uid, nil)
}

func throughDescriptor(*os.File, string) (string, bool) { return "", false }
