package proc

import (
	"errors"
	"fmt"
	"os"
)

// FileID tells one version of one file from every other.
type FileID struct {
	Dev, Ino         uint64
	Size             int64 // bytes
	MtimeNs, CtimeNs int64
}

// ErrChanged says that a file or directory is not what was judged any more (P-60).
var ErrChanged = errors.New("changed after it was judged")

// ChangedError names what has changed; it is an ErrChanged.
type ChangedError struct{ Path string }

// Error names the file.
func (e *ChangedError) Error() string { return e.Path + " " + ErrChanged.Error() }

// Unwrap returns ErrChanged.
func (e *ChangedError) Unwrap() error { return ErrChanged }

// Pin is a program that was found to be what was judged. Its owner calls Close after the
// start.
type Pin struct {
	file *os.File
	path string
}

// PinProgram checks the file at an absolute path once more, right before it is started
// (P-60). A changed one is a *ChangedError.
func PinProgram(path string, id FileID) (*Pin, error) {
	f, err := openProgram(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &ChangedError{path}
		}
		return nil, fmt.Errorf("check %s before its start: %w", path, err)
	}
	now, err := identify(f)
	if err == nil && now != id {
		err = &ChangedError{path}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p := &Pin{file: f, path: path}
	if by := throughDescriptor(f); by != "" {
		p.path = by
	}
	return p, nil
}

// Path is what to start. On Linux a program is started through the descriptor that was
// checked; a script by its path, since its interpreter opens it again.
func (p *Pin) Path() string { return p.path }

// Close lets go of the file.
func (p *Pin) Close() error { return p.file.Close() }

// DirPin is a directory that was found to be the one that was judged. Its owner calls
// Close after the start.
type DirPin struct {
	file *os.File
	path string
}

// PinDir opens a working directory. When real is not "", it must be the directory's path
// with all links resolved, else the error is a *ChangedError.
func PinDir(dir, real string) (*DirPin, error) {
	f, err := openDir(dir)
	if err != nil {
		if real != "" && errors.Is(err, os.ErrNotExist) {
			return nil, &ChangedError{dir}
		}
		return nil, err
	}
	d := &DirPin{file: f, path: dir}
	now, by, err := realDir(f, dir)
	switch {
	case err != nil:
	case real != "" && now != real:
		err = &ChangedError{dir}
	case by != "":
		d.path = by
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return d, nil
}

// Path is what a new process changes to: on Linux the descriptor that was checked.
func (d *DirPin) Path() string { return d.path }

// Close lets go of the directory.
func (d *DirPin) Close() error { return d.file.Close() }
