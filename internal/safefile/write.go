package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file in one step, with mode 0600: whoever reads it sees the old
// content or the new one, also after a crash. The folder has to exist. A
// symbolic link stays, its target is replaced, so that a configuration kept elsewhere
// keeps its place. After an error the old content is untouched, unless only the
// folder could not be flushed to the disk.
func Write(path string, data []byte) error {
	target, err := resolve(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := replace(target, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// resolve follows a link at the end of path; a name that is not there yet is itself.
func resolve(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return path, nil
	}
	return filepath.EvalSymlinks(path)
}

// replace writes beside the target and renames, since a rename within one folder is
// the only step that is atomic everywhere.
func replace(target string, data []byte) (err error) {
	dir := filepath.Dir(target)
	f, err := os.CreateTemp(dir, "."+filepath.Base(target)+".tmp-*") // made with 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeTemp(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync() // before the rename, else a crash can leave an empty file
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	return syncDir(dir)
}

// removeTemp takes away a temporary file; one that was already renamed is fine.
func removeTemp(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
