package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileMax is how much of a definition is read, in bytes; ours have about 1 KiB.
const fileMax = 256 << 10

// Definition is a definition file that is there.
type Definition struct {
	Text     string
	Ours     bool   // written by this package, perhaps edited since
	StateDir string // of the daemon it is for; "" when it is not ours
}

// read reads the definition; the error of a missing one wraps fs.ErrNotExist.
func read(path string) (Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return Definition{}, err
	}
	defer f.Close() // nothing was written
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Definition{}, fmt.Errorf("%s is no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileMax))
	if err != nil {
		return Definition{}, fmt.Errorf("read %s: %w", path, err)
	}
	d := Definition{Text: string(data)}
	d.StateDir, err = parseHeader(d.Text)
	d.Ours = err == nil
	return d, nil
}

// write replaces the definition in one step, or makes it with its folders. A manager
// that reads at that moment sees the old text or the new one.
func write(path, text string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the service definition: %w", err)
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*") // made with 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync() // before the rename, else a crash can leave an empty file
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// remove takes the definition away; one that has gone already is fine.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the service definition: %w", err)
	}
	return nil
}
