// Package jsonlog appends records to a file of JSON lines without making its callers
// wait for the disk. It serves the audit record: lines are written in batches,
// at most a second late; a disk that fails loses nothing while the queue has room, and
// what is lost then is the oldest, and counted. It reads nothing back and knows nothing
// about what a record means.
package jsonlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

const (
	batchDelay    = 250 * time.Millisecond // a line waits so long for others
	retryDelay    = time.Second            // after a disk error
	maxQueueLines = 20_000
	maxQueueBytes = 16 << 20
)

// ErrClosed: the Log was closed.
var ErrClosed = errors.New("log is closed")

// Log is one open file of JSON lines. It is safe for concurrent use; one process at a
// time writes a file. Whoever opened it closes it.
type Log struct {
	wake  chan struct{} // holds a token: the queue is no longer empty
	flush chan struct{} // holds a token: somebody waits for the disk
	quit  chan struct{} // closed by Close
	done  chan struct{} // closed when the writer has ended
	out   *output       // the writer's own

	mu       sync.Mutex // guards all below
	queue    []entry
	bytes    int    // in queue
	appended uint64 // lines ever accepted
	settled  uint64 // of these, written or dropped
	dropped  uint64
	tries    uint64 // times the writer went to the disk
	err      error  // of the newest try
	changed  chan struct{}
	closed   bool

	onWritten func(keys []string) // nil = nobody is told
}

// entry is one line on its way to the disk.
type entry struct {
	line []byte // whole, with its line feed
	key  string // told of when it is in the file; "" = not
}

// Open opens or makes the file (0600) and starts the one goroutine that writes it,
// which Close ends. A file of more than maxBytes becomes path.1, in place of an older
// one; 0 = never. A full disk is no error here: the file is opened once there is room.
func Open(path string, maxBytes int64) (*Log, error) {
	l := &Log{
		wake:    make(chan struct{}, 1),
		flush:   make(chan struct{}, 1),
		quit:    make(chan struct{}),
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		out:     &output{path: path, max: maxBytes},
	}
	if err := l.out.open(); err != nil {
		if !errors.Is(err, syscall.ENOSPC) {
			return nil, err
		}
		l.err = err
	}
	go l.run()
	return l, nil
}

// Append queues one record as a line. It never waits for the disk. When the queue is
// full the oldest lines go. It fails for a value that JSON cannot hold, and with
// ErrClosed after Close.
func (l *Log) Append(v any) error { return l.AppendKey(v, "") }

// OnWritten has f called with the keys of lines that have come into the file, batch by
// batch, on the writer's goroutine: it must not block. Of a line that is lost nothing is
// said. It is set before the first line.
func (l *Log) OnWritten(f func(keys []string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onWritten = f
}

// AppendKey is Append of a line that OnWritten is told of by a key.
func (l *Log) AppendKey(v any, key string) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.out.path, err)
	}
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("append to %s: %w", l.out.path, ErrClosed)
	}
	l.queue = append(l.queue, entry{line, key})
	l.bytes += len(line)
	l.appended++
	l.trim()
	signal(l.wake)
	return nil
}

// Flush writes what was appended before it and makes it safe against a power cut. It
// returns the disk's error at once instead of waiting for the disk to come back, or
// the cause of ctx's end.
func (l *Log) Flush(ctx context.Context) error {
	l.mu.Lock()
	target, tries := l.appended, l.tries
	l.mu.Unlock()
	signal(l.flush)
	for {
		l.mu.Lock()
		tried, settled, err, changed := l.tries > tries, l.settled >= target, l.err, l.changed
		l.mu.Unlock()
		if tried && (settled || err != nil) {
			return err
		}
		select {
		case <-changed:
		case <-l.done:
			return l.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close writes what is queued, ends the writer and closes the file. It returns the
// disk's error if lines are lost by it. A second call does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		close(l.quit)
	}
	<-l.done
	if !first {
		return nil
	}
	return l.Err()
}

// Err returns the disk's newest error; nil once writing works again.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Dropped returns how many lines were lost since Open because the queue was full.
func (l *Log) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// run is the writer. It alone touches out.
func (l *Log) run() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
			l.collect()
		case <-l.flush:
		case <-l.quit:
		}
		if err := l.write(); err != nil {
			l.pause()
		}
		select {
		case <-l.quit: // seen last, so that lines appended before Close are written
			if err := errors.Join(l.write(), l.out.close()); err != nil {
				l.mu.Lock()
				l.err = err
				l.mu.Unlock()
			}
			return
		default:
		}
	}
}

// collect gives other lines time to join the batch.
func (l *Log) collect() { l.wait(batchDelay) }

// pause keeps a broken disk from being asked all the time, and leaves a wake-up
// behind, since the lines that could not be written wait for one.
func (l *Log) pause() {
	l.wait(retryDelay)
	signal(l.wake)
}

// wait ends early for somebody who flushes or closes.
func (l *Log) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.flush:
		// The write that follows is the one Flush waits for.
	case <-l.quit:
	}
}

// write brings the queue to the disk. Lines that cannot be written go back to the
// front, as far as there is room.
func (l *Log) write() error {
	l.mu.Lock()
	batch, onWritten := l.queue, l.onWritten
	l.queue, l.bytes = nil, 0
	l.mu.Unlock()

	lines := make([][]byte, len(batch))
	for i, e := range batch {
		lines[i] = e.line
	}
	n, err := l.out.write(lines)
	var keys []string
	for _, e := range batch[:n] {
		if e.key != "" {
			keys = append(keys, e.key)
		}
	}
	if len(keys) > 0 && onWritten != nil {
		onWritten(keys)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	rest := batch[n:]
	for _, e := range rest {
		l.bytes += len(e.line)
	}
	l.queue = append(rest[:len(rest):len(rest)], l.queue...)
	l.settled += uint64(n)
	l.trim()
	l.err = err
	l.tries++
	close(l.changed)
	l.changed = make(chan struct{})
	return err
}

// trim drops the oldest lines over the bound. The caller holds mu.
func (l *Log) trim() {
	n := 0
	for len(l.queue)-n > maxQueueLines || (l.bytes > maxQueueBytes && len(l.queue)-n > 1) {
		l.bytes -= len(l.queue[n].line)
		n++
	}
	l.queue = l.queue[n:]
	l.dropped += uint64(n)
	l.settled += uint64(n)
}

// signal leaves a token; one is enough for any number of reasons.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
