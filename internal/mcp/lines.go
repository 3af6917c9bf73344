package mcp

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// lineMax is how many bytes a line of input may have, without its end. Twice what the
// gateway takes over HTTP.
const lineMax = 4 << 20

var errLineTooLong = errors.New("line too long")

// lineReader reads lines of bounded length.
type lineReader struct {
	in  *bufio.Reader
	max int // bytes of a line, without its end
}

// next returns the next line without its end; the caller owns it. A longer one than max
// is skipped to its end, for errLineTooLong. A last line may lack its end.
func (r *lineReader) next() ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		size := len(part)
		if err == nil {
			size--
		}
		if long = long || len(text)+size > r.max; long {
			text = nil
		} else {
			text = append(text, part[:size]...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == nil && long:
			return nil, errLineTooLong
		case err == nil || err == io.EOF && len(text) > 0:
			return text, nil
		case err == io.EOF && long:
			return nil, errLineTooLong // the next call says io.EOF
		}
		return nil, err
	}
}

// inputLine is what a lineReader gave.
type inputLine struct {
	text []byte
	err  error
}

// readLines hands on the lines of in until it ends or done is closed; the last has
// another error than errLineTooLong. Nobody waits for its goroutine: a read from a
// terminal may not return when that is closed, and must not hold up the end. Once done
// is closed it touches nothing but in.
func readLines(in io.Reader, done <-chan struct{}) <-chan inputLine {
	lines := make(chan inputLine)
	go func() {
		reader := lineReader{in: bufio.NewReaderSize(in, 64<<10), max: lineMax}
		for {
			text, err := reader.next()
			select {
			case lines <- inputLine{text, err}:
			case <-done:
				return
			}
			if err != nil && !errors.Is(err, errLineTooLong) {
				return
			}
		}
	}()
	return lines
}

// lineWriter keeps lines whole that come from several goroutines.
type lineWriter struct {
	failed chan struct{} // closed when err is set

	mu  sync.Mutex
	out io.Writer
	err error // of the first write that failed; there are none after it
}

func newLineWriter(out io.Writer) *lineWriter {
	return &lineWriter{out: out, failed: make(chan struct{})}
}

// write writes a line with its end.
func (w *lineWriter) write(line []byte) error { return w.writeAfter(func() {}, line) }

// writeAfter writes a line that comes out before any other that first gives rise to.
func (w *lineWriter) writeAfter(first func(), line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	first()
	if _, err := w.out.Write(line); err != nil {
		w.err = err
		close(w.failed)
	}
	return w.err
}

// fault returns why writing failed.
func (w *lineWriter) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
