package jsonlog

import (
	"errors"
	"fmt"
	"os"
)

// output is the file. It is used by one goroutine at a time.
type output struct {
	path string
	max  int64 // 0 = no rotation

	f    *os.File // nil = not open
	size int64
	torn bool // the file may end within a line
}

// open opens the file for appending, if it is not open.
func (o *output) open() error {
	if o.f != nil {
		return nil
	}
	f, err := os.OpenFile(o.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600) // made by an older or a careless hand
	}
	if err == nil {
		o.torn, err = endsTorn(f, info.Size())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open log %s: %w", o.path, err), f.Close())
	}
	o.f, o.size = f, info.Size()
	return nil
}

// endsTorn says whether a crash left the file's last line without its end.
func endsTorn(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// write appends lines and flushes them to the disk; it returns how many are in the
// file, each whole. An empty list flushes only. A file that cannot be rotated grows
// on: lines are worth more than the bound.
func (o *output) write(lines [][]byte) (written int, err error) {
	if err := o.reopenIfMoved(); err != nil {
		return 0, err
	}
	var rotateErr error
	for written < len(lines) {
		n := o.fit(lines[written:])
		if n == 0 && rotateErr == nil {
			rotateErr = o.rotate()
			if err := o.open(); err != nil {
				return written, errors.Join(rotateErr, err)
			}
			continue
		}
		if n == 0 {
			n = len(lines) - written
		}
		if err := o.append(lines[written : written+n]); err != nil {
			return written, errors.Join(rotateErr, err)
		}
		written += n
	}
	if err := o.f.Sync(); err != nil {
		return written, errors.Join(rotateErr, fmt.Errorf("flush log: %w", err))
	}
	return written, rotateErr
}

// fit returns how many lines still go into the file; into an empty one at least one.
func (o *output) fit(lines [][]byte) int {
	size := o.size
	for i, line := range lines {
		size += int64(len(line))
		if o.max > 0 && size > o.max && (i > 0 || o.size > 0) {
			return i
		}
	}
	return len(lines)
}

// append writes lines in one call. After an error none of them is in the file, or the
// next append starts a new line behind what is.
func (o *output) append(lines [][]byte) error {
	var chunk []byte
	if o.torn {
		chunk = append(chunk, '\n')
	}
	for _, line := range lines {
		chunk = append(chunk, line...)
	}
	n, err := o.f.Write(chunk)
	if err == nil {
		o.size += int64(n)
		o.torn = false
		return nil
	}
	err = fmt.Errorf("write log: %w", err)
	if n > 0 {
		if terr := o.f.Truncate(o.size); terr != nil { // a full disk lets us cut
			o.size += int64(n)
			o.torn = true
			err = errors.Join(err, terr)
		}
	}
	return err
}

// rotate moves the file to path.1; the caller opens the new one.
func (o *output) rotate() error {
	if err := o.close(); err != nil {
		return err
	}
	if err := os.Rename(o.path, o.path+".1"); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	return nil
}

// reopenIfMoved opens the file when it is not open, or anew when somebody moved or
// removed it: lines written to a file without a name would be lost.
func (o *output) reopenIfMoved() error {
	if o.f != nil {
		named, err := os.Stat(o.path)
		if err == nil {
			if own, oerr := o.f.Stat(); oerr == nil && os.SameFile(own, named) {
				return nil
			}
		}
		if err := o.close(); err != nil {
			return err
		}
	}
	return o.open()
}

// close flushes and closes the file, if it is open.
func (o *output) close() error {
	if o.f == nil {
		return nil
	}
	err := errors.Join(o.f.Sync(), o.f.Close())
	o.f = nil
	if err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	return nil
}
