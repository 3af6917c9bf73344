package session

import (
	"strings"
	"unicode/utf8"
)

// decode turns bytes into text with invalid bytes replaced.
func decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out.WriteRune(r) // RuneError for an invalid byte
		b = b[n:]
	}
	return out.String()
}

// incomplete returns how many bytes at the end of b are the beginning of a character
// whose rest has not come yet (0 to 3).
func incomplete(b []byte) int {
	for i := 1; i <= 3 && i <= len(b); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// continuation returns how many bytes at the start of b are the rest of a character
// that began before (0 to 3).
func continuation(b []byte) int {
	n := 0
	for n < 3 && n < len(b) && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

// firstRunes returns the bytes of the first n characters of b.
func firstRunes(b []byte, n int) []byte {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return b[:i]
}

// lastRunes returns the bytes of the last n characters of b.
func lastRunes(b []byte, n int) []byte {
	i := len(b)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRune(b[:i])
		i -= size
	}
	return b[i:]
}
