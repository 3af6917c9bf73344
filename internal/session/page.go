package session

import "bytes"

// text returns the bytes [from, to) of the log as text of at most limit characters:
// all of it, or head and tail. Omitted counts the bytes that are left out, dropped ones
// included; cut is where in the text the gap is (-1 = nowhere).
func (l *outlog) text(from, to int64, limit int) (head, tail string, omitted int64) {
	window := int64(limit) * 4 // a character has at most 4 bytes
	start := l.extent().start
	missing := max(0, min(start, to)-from)
	from += missing
	if to-from <= window {
		_, b := l.read(from, int(to-from))
		b = b[min(len(b), lead(b, missing)):]
		if len(b) <= limit || runesAtMost(b, limit) {
			if missing > 0 {
				return "", decode(b), missing
			}
			return decode(b), "", 0
		}
		h, t := firstRunes(b, limit/2), lastRunes(b, limit/2)
		return decode(h), decode(t), int64(len(b)-len(h)-len(t)) + missing
	}
	half := limit / 2
	_, hb := l.read(from, half*4)
	_, tb := l.read(to-int64(half)*4, half*4)
	hb = firstRunes(hb[min(len(hb), lead(hb, missing)):], half)
	tb = lastRunes(tb[continuation(tb):], half)
	if missing > 0 { // the real head is gone: show the tail alone
		return "", decode(tb), to - from - int64(len(tb)) + missing
	}
	return decode(hb), decode(tb), to - from - int64(len(hb)) - int64(len(tb))
}

// lead is how many bytes to skip at a place that was cut.
func lead(b []byte, missing int64) int {
	if missing == 0 {
		return 0
	}
	return continuation(b)
}

func runesAtMost(b []byte, limit int) bool { return len(firstRunes(b, limit)) == len(b) }

// totalLines counts lines as people do: a last line without newline is one.
func (l *outlog) totalLines() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.lastByte != '\n' {
		return l.lines + 1
	}
	return l.lines
}

// firstLine is the number of the first line of which the beginning is still held.
func (l *outlog) firstLine() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil || len(l.segments) == 0 || l.segments[0].start == 0 {
		return 0
	}
	return l.segments[0].line + 1
}

// lineOffset returns where line n (from 0) begins; the end when there is no such line.
func (l *outlog) lineOffset(n int64) int64 {
	at, line := l.markBefore(n)
	end := l.extent().end
	for at < end {
		if line == n {
			return at
		}
		got, chunk := l.read(at, 64<<10)
		if len(chunk) == 0 {
			break
		}
		at = got
		for len(chunk) > 0 && line < n {
			i := bytes.IndexByte(chunk, '\n')
			if i < 0 {
				at += int64(len(chunk))
				chunk = nil
				break
			}
			at += int64(i + 1)
			line++
			chunk = chunk[i+1:]
		}
	}
	return at
}

// markBefore returns the nearest known place at or before line n.
func (l *outlog) markBefore(n int64) (offset, line int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	offset = l.start()
	better := func(off, ln int64, exact bool) {
		// A place in the middle of line ln is before line n only if ln < n.
		if (ln < n || exact && ln == n) && off >= offset {
			offset, line = off, ln
		}
	}
	for _, s := range l.segments {
		better(s.start, s.line, s.start == 0)
	}
	for _, m := range l.marks {
		better(m.offset, m.line, false)
	}
	return offset, line
}
