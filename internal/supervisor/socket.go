package supervisor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// pathMax is the longest path that every system takes for a socket, in bytes.
const pathMax = 103

// listen makes the socket, which only this user can reach.
func listen(path string) (*net.UnixListener, error) {
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // by its own path
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make the socket %s: %w", path, err), l.Close())
	}
	return l, nil
}

// dial connects to a supervisor of the same user.
func dial(path string) (*net.UnixConn, error) {
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := checkPeer(c); err != nil {
		return nil, errors.Join(fmt.Errorf("supervisor at %s: %w", path, err), c.Close())
	}
	return c, nil
}

// shorten gives a name of a socket that the system takes, valid until release is called.
func shorten(path string) (short string, release func(), err error) {
	if len(path) <= pathMax {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	short, ok := throughDescriptor(dir, filepath.Base(path))
	if !ok {
		return "", nil, errors.Join(fmt.Errorf("%s is too long for the name of a socket (%d bytes); set OPENCLAW_STATE_DIR to a shorter folder", path, pathMax), dir.Close())
	}
	return short, func() { dir.Close() }, nil
}

// checkUser refuses another user than our own.
func checkUser(uid uint32, err error) error {
	if err != nil {
		return fmt.Errorf("who is at the other end is not known: %w", err)
	}
	if int64(uid) != int64(os.Geteuid()) {
		return fmt.Errorf("user %d is at the other end, not %d", uid, os.Geteuid())
	}
	return nil
}

func pid() int { return os.Getpid() }
