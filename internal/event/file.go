package event

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"openclaw/internal/protocol"
)

const (
	fileMax = 8 << 20 // bytes at which the file is written anew with the history alone
	lineMax = 1 << 20 // a longer line is no event
)

// Open makes a Bus whose history is kept in a file (0600), so that a listener that comes
// back after a restart of the program misses nothing: ids go on where they were. One
// program at a time uses a file; the caller closes the Bus. A file that is damaged loses
// what cannot be read, no more.
func Open(now func() time.Time, path string, history int) (*Bus, error) {
	kept, err := readFile(path, history)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	b := New(now, strconv.FormatInt(now().UnixMilli(), 36), history)
	if n := len(kept); n > 0 {
		epoch, seq, _ := splitID(kept[n-1].ID) // readFile has looked at it
		b.epoch, b.seq, b.history = epoch, seq, kept
	}
	b.file = &file{path: path, bus: b}
	// It also cuts off a torn last line. On a full disk events are told, not kept.
	if err := b.file.rewrite(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return nil, fmt.Errorf("keep events: %w", err)
	}
	return b, nil
}

// file is the history on disk: an event a line. It is used by one goroutine at a time;
// a nil file keeps nothing.
type file struct {
	path string
	bus  *Bus
	f    *os.File // nil = the disk refused; the next event tries again
	size int64
}

// write appends an event in one call, which is whole even if this program is killed.
func (f *file) write(e protocol.Event) {
	if f == nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	if f.f == nil || f.size > fileMax {
		if f.rewrite() != nil {
			return
		}
	}
	n, err := f.f.Write(append(line, '\n'))
	f.size += int64(n)
	if err != nil { // what follows must not become a part of this line
		f.f.Close()
		f.f = nil
	}
}

// rewrite replaces the file by the history.
func (f *file) rewrite() error {
	f.bus.mu.Lock()
	history := f.bus.history
	f.bus.mu.Unlock()
	tmp := f.path + ".new"
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for _, e := range history {
		_ = enc.Encode(e) // a write error shows at Flush
	}
	err = w.Flush()
	if err == nil {
		err = os.Rename(tmp, f.path)
	}
	info, serr := out.Stat()
	if err = errors.Join(err, serr); err != nil {
		return errors.Join(err, out.Close(), os.Remove(tmp))
	}
	if f.f != nil {
		f.f.Close()
	}
	f.f, f.size = out, info.Size()
	return nil
}

func (f *file) close() {
	if f != nil && f.f != nil {
		f.f.Close()
		f.f = nil
	}
}

// readFile returns the last events of a file, at most most: those whose numbers follow
// each other up to the last one.
func readFile(path string, most int) ([]protocol.Event, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var kept []protocol.Event
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		var rest []byte
		for errors.Is(err, bufio.ErrBufferFull) && len(rest) < lineMax {
			rest = append(rest, line...)
			line, err = r.ReadSlice('\n')
		}
		if long {
			line = append(rest, line...)
		}
		if len(line) > 0 && line[len(line)-1] == '\n' {
			kept = follow(kept, line, most)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return kept, nil
			}
			return nil, err
		}
	}
}

// follow adds the event of a line to those before it, if it follows them; else it begins
// anew with it.
func follow(kept []protocol.Event, line []byte, most int) []protocol.Event {
	var e protocol.Event
	if json.Unmarshal(line, &e) != nil {
		return kept
	}
	epoch, seq, ok := splitID(e.ID)
	if !ok {
		return kept
	}
	if n := len(kept); n > 0 {
		if before, last, _ := splitID(kept[n-1].ID); before != epoch || seq != last+1 {
			kept = nil
		}
	}
	kept = append(kept, e)
	return kept[max(0, len(kept)-most):]
}

// splitID takes an event id apart.
func splitID(id string) (epoch string, seq uint64, ok bool) {
	epoch, num, ok := strings.Cut(id, "-")
	if !ok || epoch == "" {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(num, 10, 64)
	return epoch, seq, err == nil && seq > 0 && strconv.FormatUint(seq, 10) == num
}
