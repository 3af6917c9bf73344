package json5

import (
	"fmt"
	"unicode/utf8"
)

// Error is a place in the source that is not JSON5.
type Error struct {
	Offset   int    // byte offset
	Line     int    // from 1
	Column   int    // from 1, in characters; a byte order mark does not count
	Path     string // key path of the value being read, e.g. "agents.list[0].id"; "" at the top
	Expected string // what could stand here, e.g. "a value"
	Found    string // what stands here, e.g. "end of file"
}

// Error gives line, column, what was expected and what was found.
func (e *Error) Error() string {
	where := ""
	if e.Path != "" {
		where = e.Path + ": "
	}
	return fmt.Sprintf("%d:%d: %s%s", e.Line, e.Column, where, e.Message())
}

// Message is the error without its place.
func (e *Error) Message() string {
	return "expected " + e.Expected + ", found " + e.Found
}

// position counts lines and characters up to offset. CR, LF and CR LF end a line.
func position(src []byte, offset int) (line, column int) {
	offset = min(max(offset, 0), len(src))
	lineStart := bomLen(src)
	line = 1
	for i := lineStart; i < offset; i++ {
		switch {
		case src[i] == '\n':
			line, lineStart = line+1, i+1
		case src[i] == '\r' && (i+1 >= len(src) || src[i+1] != '\n'):
			line, lineStart = line+1, i+1
		}
	}
	if offset < lineStart {
		return line, 1
	}
	return line, utf8.RuneCount(src[lineStart:offset]) + 1
}

func bomLen(src []byte) int {
	if len(src) >= 3 && src[0] == 0xEF && src[1] == 0xBB && src[2] == 0xBF {
		return 3
	}
	return 0
}

// describe names what stands at offset.
func describe(src []byte, offset int) string {
	if offset >= len(src) {
		return "end of file"
	}
	r, size := utf8.DecodeRune(src[offset:])
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte 0x%02x", src[offset])
	case r == '\n' || r == '\r':
		return "end of line"
	}
	return fmt.Sprintf("%q", string(r))
}
