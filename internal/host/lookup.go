package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lookPathIn makes a look-up in the absolute directories dirs, in order. A name with a
// separator is not searched for; it must be an absolute path of an executable file.
func lookPathIn(dirs []string) func(string) (string, error) {
	return func(name string) (string, error) {
		if filepath.IsAbs(name) {
			return name, isExecutable(name)
		}
		if name == "" || name != filepath.Base(name) {
			return "", fmt.Errorf("%s: not a program name: %w", name, fs.ErrInvalid)
		}
		for _, dir := range dirs {
			if !filepath.IsAbs(dir) {
				continue
			}
			if path := filepath.Join(dir, name); isExecutable(path) == nil {
				return path, nil
			}
		}
		return "", fmt.Errorf("%s: not in PATH: %w", name, fs.ErrNotExist)
	}
}

func isExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !executableMode(info.Mode()) {
		return fmt.Errorf("%s: not an executable file: %w", path, fs.ErrPermission)
	}
	return nil
}
