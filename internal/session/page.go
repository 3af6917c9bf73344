package session

import "bytes"

// text returns the bytes [from, to) of the log as text of at most limit characters: all
// of it, or head and tail, or the tail alone when the real head is gone. Omitted counts
// the bytes that are left out, dropped ones included.
func (l *outlog) text(from, to int64, limit int) (head, tail string, omitted int64) {
	asked := from
	from = min(max(from, l.extent().start), to)
	half := limit / 2
	var h, t []byte
	if to-from <= int64(limit)*4 { // a character has at most 4 bytes
		gone, b := l.slice(from, to)
		switch cut := gone > 0 || from > asked; {
		case cut:
			t = lastRunes(b[continuation(b):], limit)
		case runesAtMost(b, limit):
			h = b
		default:
			h, t = firstRunes(b, half), lastRunes(b, half)
		}
	} else {
		gone, b := l.slice(from, from+int64(half)*4)
		if gone > 0 || from > asked {
			half = limit
		} else {
			h = firstRunes(b, half)
		}
		_, b = l.slice(to-int64(half)*4, to)
		t = lastRunes(b[continuation(b):], half)
	}
	return decode(h), decode(t), to - asked - int64(len(h)+len(t))
}

// slice returns the bytes [from, to) as far as they are held, and how many at the
// beginning are gone.
func (l *outlog) slice(from, to int64) (gone int64, b []byte) {
	at, b := l.read(from, int(to-from))
	at = min(at, to)
	return at - from, b[:min(int64(len(b)), to-at)]
}

func runesAtMost(b []byte, limit int) bool { return len(firstRunes(b, limit)) == len(b) }

// lineOffset returns where line n (from 0) begins; end when it does not begin before
// that, and the first byte held when the line is gone.
func (l *outlog) lineOffset(n, end int64) int64 {
	at, line := l.markBefore(n)
	for at < end && line < n {
		got, chunk, err := l.readAt(at, 64<<10)
		if err != nil || len(chunk) == 0 {
			break
		}
		if got > at { // dropped meanwhile: the count of lines is not right any more
			at, line = l.markBefore(n)
			continue
		}
		skipped, found := skipLines(chunk, n-line)
		at, line = at+skipped, line+found
	}
	return min(at, end)
}

// skipLines returns how many bytes the first n lines of b have, and how many of their
// newlines were there.
func skipLines(b []byte, n int64) (skipped, found int64) {
	for found < n {
		i := bytes.IndexByte(b[skipped:], '\n')
		if i < 0 {
			return int64(len(b)), found
		}
		skipped += int64(i) + 1
		found++
	}
	return skipped, found
}

// markBefore returns the nearest known place at or before the beginning of line n.
func (l *outlog) markBefore(n int64) (offset, line int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	offset = l.start()
	if l.broken == nil && len(l.segments) > 0 && !l.segments[0].before(n) {
		return offset, n // gone
	}
	for _, s := range l.segments {
		if s.before(n) && s.offset >= offset {
			offset, line = s.offset, s.line
		}
	}
	for _, m := range l.marks {
		if m.before(n) && m.offset >= offset {
			offset, line = m.offset, m.line
		}
	}
	return offset, line
}
