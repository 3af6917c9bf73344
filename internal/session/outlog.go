package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	memoryMax  = 16 << 10  // output up to this size is also kept in memory
	tailMax    = 256 << 10 // kept in memory when the disk refuses the log
	markEvery  = 256 << 10 // distance of line marks
	minCut     = 64 << 10  // a smaller segment is not cut short to free its room
	segmentMax = 1 << 20   // of 2,000 running sessions each keeps at least one: X-22's total
)

// outlog is the output of one session: bytes with absolute offsets, on disk in
// segments of which the oldest are dropped past a bound. One writer appends at a
// time; any number read. Small output is also in memory, so that a short command's
// result costs no read; nothing is created on disk before the first byte.
type outlog struct {
	base    string // path of the first segment; later ones add offset and line
	max     int64
	used    *atomic.Int64 // bytes of all logs together
	writing sync.Mutex    // serialises appends, so that two pipes never mix within a chunk
	file    *os.File      // current segment, nil while closed; guarded by writing
	removed bool          // guarded by writing

	mu       sync.Mutex // guards the rest; never held across I/O
	size     int64      // bytes ever written
	lines    int64      // newlines ever written
	lastByte byte
	final    int64     // size when the command had ended; -1 before
	segments []segment // oldest first
	marks    []mark
	memory   []byte // the last bytes, ending at size; nil when only the disk has them
	cut      bool   // a new segment is wanted, so that the present one can be dropped
	broken   error  // the disk refused: memory holds the tail
	changed  chan struct{}
}

// segment is one file of a log.
type segment struct {
	mark
	path string
	size int64
}

// mark is a place in the log: how many newlines stand before it, and whether a line
// begins right there.
type mark struct {
	offset, line int64
	fresh        bool
}

// before reports whether line n begins at the mark or behind it.
func (m mark) before(n int64) bool { return m.line < n || m.line == n && m.fresh }

func newLog(base string, limit int64, used *atomic.Int64) *outlog {
	return &outlog{base: base, max: limit, used: used, final: -1}
}

func (l *outlog) segmentSize() int64 { return max(min(l.max/8, segmentMax), 4<<10) }

// append adds p. A disk that refuses does not stop the command: the log then keeps
// only the tail in memory and says so.
func (l *outlog) append(p []byte) {
	l.writing.Lock()
	defer l.writing.Unlock()
	for len(p) > 0 && !l.removed {
		n := l.room(len(p))
		l.appendPiece(p[:n])
		p = p[n:]
	}
}

// room returns how many of n bytes go into the current segment or a new one, so that the
// bound of the log holds to the byte.
func (l *outlog) room(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return n
	}
	room := l.segmentSize()
	if k := len(l.segments); k > 0 && l.segments[k-1].size < room {
		room -= l.segments[k-1].size
	}
	return int(min(int64(n), room))
}

func (l *outlog) appendPiece(p []byte) {
	err := l.write(p)
	if err != nil {
		l.giveUp(err)
	}
	l.mu.Lock()
	l.remember(p)
	l.size += int64(len(p))
	l.lines += int64(bytes.Count(p, []byte{'\n'}))
	l.lastByte = p[len(p)-1]
	if n := len(l.marks); l.size-l.lastMark(n) >= markEvery {
		l.marks = append(l.marks, mark{l.size, l.lines, l.lastByte == '\n'})
	}
	changed := l.changed
	l.changed = nil
	l.mu.Unlock()
	if changed != nil {
		close(changed)
	}
}

// giveUp notes that the disk refuses. What it has taken before is brought into memory,
// as far as there is room for it.
func (l *outlog) giveUp(err error) {
	l.mu.Lock()
	size, done := l.size, l.broken != nil
	l.mu.Unlock()
	if done {
		return
	}
	at, kept, readErr := l.readAt(max(0, size-tailMax), tailMax)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	if readErr == nil && at+int64(len(kept)) == size {
		l.memory = kept
	}
}

// seal says that the command has ended: what is added later is not its own.
func (l *outlog) seal() {
	l.mu.Lock()
	l.final = l.size
	l.mu.Unlock()
}

func (l *outlog) lastMark(n int) int64 {
	if n == 0 {
		return 0
	}
	return l.marks[n-1].offset
}

func (l *outlog) remember(p []byte) {
	switch {
	case l.broken != nil:
		l.memory = append(l.memory, p...)
		if over := len(l.memory) - tailMax; over > 0 {
			l.memory = append([]byte(nil), l.memory[over:]...)
		}
	case l.size+int64(len(p)) <= memoryMax:
		l.memory = append(l.memory, p...)
	default:
		l.memory = nil
	}
}

// write writes p to the current segment and begins a new one when it is full.
func (l *outlog) write(p []byte) error {
	l.mu.Lock()
	broken, n, cut := l.broken, len(l.segments), l.cut
	l.cut = false
	var cur segment
	if n > 0 {
		cur = l.segments[n-1]
	}
	here := mark{l.size, l.lines, l.size == 0 || l.lastByte == '\n'}
	l.mu.Unlock()
	if broken != nil {
		return broken
	}
	if n == 0 || cur.size >= l.segmentSize() || cut {
		if err := l.rotate(here); err != nil {
			return err
		}
	}
	if l.file == nil { // closed at the end of the command; something left running still writes
		f, err := os.OpenFile(cur.path, os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		l.file = f
	}
	written, err := l.file.Write(p)
	l.used.Add(int64(written))
	l.mu.Lock()
	l.segments[len(l.segments)-1].size += int64(written)
	l.mu.Unlock()
	return err
}

func (l *outlog) rotate(at mark) error {
	path := l.base
	if at.offset > 0 {
		path = fmt.Sprintf("%s.%015d-%012d", l.base, at.offset, at.line)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file = f
	l.mu.Lock()
	l.segments = append(l.segments, segment{mark: at, path: path})
	l.mu.Unlock()
	l.trim(l.max)
	return nil
}

// trim drops the oldest segments until the log with room for one more is within limit.
func (l *outlog) trim(limit int64) {
	for {
		l.mu.Lock()
		var total int64
		for _, s := range l.segments {
			total += s.size
		}
		if len(l.segments) < 2 || total+l.segmentSize() <= limit {
			l.cut = len(l.segments) == 1 && total > limit && total > minCut
			l.mu.Unlock()
			return
		}
		oldest := l.segments[0]
		l.segments = l.segments[1:]
		for len(l.marks) > 0 && l.marks[0].offset < l.segments[0].offset {
			l.marks = l.marks[1:]
		}
		l.mu.Unlock()
		_ = os.Remove(oldest.path)
		l.used.Add(-oldest.size)
	}
}

// close ends writing; reading goes on.
func (l *outlog) close() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// remove deletes the log's files.
func (l *outlog) remove() {
	l.writing.Lock()
	l.removed = true
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	l.writing.Unlock()
	l.mu.Lock()
	segments := l.segments
	l.segments = nil
	l.mu.Unlock()
	for _, s := range segments {
		_ = os.Remove(s.path)
		l.used.Add(-s.size)
	}
}

// extent is what can be read now, and why the log is not whole.
type extent struct {
	start, end int64 // in bytes
	final      int64 // end of the command's own output; end while it runs
	first      int64 // first line of which the beginning is still held
	total      int64 // lines, as people count: a last one without newline is one
	broken     error
}

func (l *outlog) extent() extent {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := extent{start: l.start(), end: l.size, final: l.final, total: l.lines, broken: l.broken}
	if l.final < 0 {
		e.final = l.size
	}
	if l.size > 0 && l.lastByte != '\n' {
		e.total++
	}
	if l.broken == nil && len(l.segments) > 0 && l.segments[0].offset > 0 {
		if e.first = l.segments[0].line; !l.segments[0].fresh {
			e.first++
		}
	}
	return e
}

// start is the first byte still held. Callers hold mu.
func (l *outlog) start() int64 {
	if l.broken != nil || len(l.segments) == 0 {
		return l.size - int64(len(l.memory))
	}
	return l.segments[0].offset
}

// wait returns a channel that is closed at the next append after size bytes, or a
// closed one when there are more already.
func (l *outlog) wait(size int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > size {
		return closedChan
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

var closedChan = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// read is readAt for people: a log that cannot be read says so in its place.
func (l *outlog) read(offset int64, limit int) (int64, []byte) {
	at, b, err := l.readAt(offset, limit)
	if err != nil {
		text := fmt.Sprintf("[log cannot be read: %v]", err)
		return at, []byte(text[:min(len(text), limit)])
	}
	return at, b
}

// readAt returns up to limit bytes from offset; bytes that are gone are skipped: the
// returned offset is where the bytes really begin.
func (l *outlog) readAt(offset int64, limit int) (int64, []byte, error) {
	for {
		l.mu.Lock()
		offset = max(offset, l.start())
		n := min(int64(limit), l.size-offset)
		if n <= 0 {
			l.mu.Unlock()
			return offset, nil, nil
		}
		if from := l.size - int64(len(l.memory)); l.memory != nil && offset >= from {
			out := append([]byte(nil), l.memory[offset-from:offset-from+n]...)
			l.mu.Unlock()
			return offset, out, nil
		}
		segs := append([]segment(nil), l.segments...)
		l.mu.Unlock()
		out, err := readSegments(segs, offset, int(n))
		if err == nil {
			return offset, out, nil
		}
		if l.extent().start <= offset { // not a drop while reading: the file is gone or damaged
			return offset, nil, err
		}
	}
}

func readSegments(segs []segment, offset int64, n int) ([]byte, error) {
	out := make([]byte, 0, n)
	for i, s := range segs {
		end := s.offset + s.size
		if i+1 < len(segs) {
			end = segs[i+1].offset
		}
		if offset >= end || offset < s.offset {
			continue
		}
		part := int(min(int64(n-len(out)), end-offset))
		f, err := os.Open(s.path)
		if err != nil {
			return nil, err
		}
		at := len(out)
		out = out[:at+part]
		_, err = f.ReadAt(out[at:], offset-s.offset)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(s.path), err)
		}
		offset += int64(part)
		if len(out) == n {
			break
		}
	}
	if len(out) == 0 {
		return nil, os.ErrNotExist
	}
	return out, nil
}

// path is where a person finds the log: one file, or a glob of files in order; ""
// when there is none.
func (l *outlog) path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.broken != nil || len(l.segments) == 0:
		return ""
	case len(l.segments) == 1:
		return l.segments[0].path
	}
	return l.base + "*"
}

// loadLog opens the log of a session of an earlier run for reading.
func loadLog(base string, used *atomic.Int64) *outlog {
	l := newLog(base, segmentMax*8, used)
	names, _ := filepath.Glob(globQuote(base) + "*")
	for _, name := range names {
		s := segment{path: name}
		if rest := strings.TrimPrefix(name, base); rest != "" {
			off, line, ok := strings.Cut(strings.TrimPrefix(rest, "."), "-")
			var err1, err2 error
			s.offset, err1 = strconv.ParseInt(off, 10, 64)
			s.line, err2 = strconv.ParseInt(line, 10, 64)
			if !ok || err1 != nil || err2 != nil {
				continue
			}
		} else {
			s.fresh = true
		}
		if info, err := os.Stat(name); err == nil {
			s.size = info.Size()
			l.segments = append(l.segments, s)
			used.Add(s.size)
		}
	}
	sort.Slice(l.segments, func(i, j int) bool { return l.segments[i].offset < l.segments[j].offset })
	if n := len(l.segments); n > 0 {
		last := l.segments[n-1]
		l.size = last.offset + last.size
		l.countLines(last)
	}
	l.final = l.size
	return l
}

// countLines counts the newlines of the last segment; those before are in its name.
func (l *outlog) countLines(last segment) {
	l.lines = last.line
	f, err := os.Open(last.path)
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			l.lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
			l.lastByte = buf[n-1]
		}
		if err != nil {
			return
		}
	}
}

func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
