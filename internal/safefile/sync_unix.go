//go:build unix

package safefile

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename survive a power cut. Some file systems cannot flush a folder
// and say so; there is nothing better to do on them.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
