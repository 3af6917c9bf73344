package safefile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns the whole of a private file of at most max bytes. On Unix the file has
// to be owned by this user or by root and not writable by group or others, else the
// error wraps ErrUnsafe. A larger file is ErrTooLarge, a missing one fs.ErrNotExist.
// Symbolic links are followed; what they lead to is what is checked. It never blocks
// on a named pipe. On Windows access lists are not looked at.
func Read(path string, max int64) ([]byte, error) {
	f, err := openRead(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close() // nothing was written, so there is nothing to lose

	// The open file is checked, not the name: the name may change its meaning between
	// two calls.
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if err := checkFile(info); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if info.Size() > max {
		return nil, fmt.Errorf("read %s: %w: %d bytes, limit %d", path, ErrTooLarge, info.Size(), max)
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > max { // it grew while it was read
		return nil, fmt.Errorf("read %s: %w: limit %d bytes", path, ErrTooLarge, max)
	}
	return data, nil
}

// Check says whether Read would trust the file, without reading it: nil, or an error
// that wraps ErrUnsafe or fs.ErrNotExist.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if err := checkFile(info); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	return nil
}

// Dir makes a folder that only this user can enter (0700), with its parents. One that
// is there already keeps its mode, but has to be a folder of this user that nobody
// else may write to, else the error wraps ErrUnsafe.
func Dir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	if err := checkDir(info); err != nil {
		return fmt.Errorf("check folder %s: %w", path, err)
	}
	return nil
}

// checkFile applies the rules of Read to what is known about an open file.
func checkFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrUnsafe)
	}
	return checkOwner(info, true)
}

// checkDir applies the rules of Dir. A folder of root is refused for anybody else:
// this user could not write there.
func checkDir(info fs.FileInfo) error {
	return checkOwner(info, false)
}
