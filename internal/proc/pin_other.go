//go:build !linux

package proc

import (
	"os"
	"path/filepath"
)

// throughDescriptor: only Linux can start an open file.
func throughDescriptor(*os.File) string { return "" }

func openDir(dir string) (*os.File, error) { return os.Open(dir) }

func realDir(_ *os.File, dir string) (real, by string, err error) {
	real, err = filepath.EvalSymlinks(dir)
	return real, "", err
}
