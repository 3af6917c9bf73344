//go:build !linux

package proc

import (
	"errors"
	"os"
)

// Self is what starts this program again.
func Self() (string, error) { return os.Executable() }

// MemoryFile makes a file whose name is taken away at once where the system can. The
// caller closes it.
func MemoryFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", "openclaw-"+name+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
