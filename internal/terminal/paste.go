package terminal

import "strings"

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste returns the bytes a terminal sends when text is pasted. A line break
// (LF or CRLF) becomes CR, framed or not, as terminals do: Enter is CR, and the
// tty or the program makes a new line of it.
//
// With bracketed, the text is framed by ESC [ 200 ~ and ESC [ 201 ~. Frame
// marks inside the text are removed, in whatever spelling a program may
// read as one, until none is left, so that pasted text cannot leave its frame
// and be taken for keys. Without bracketed the text goes as it is.
func Paste(text string, bracketed bool) []byte {
	if !bracketed {
		return []byte(strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(text))
	}
	out := make([]byte, 0, len(pasteStart)+len(text)+len(pasteEnd))
	out = append(out, pasteStart...)
	body := len(out)
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b == '\n' {
			if i > 0 && text[i-1] == '\r' {
				continue
			}
			b = '\r'
		}
		out = append(out, b)
		if b == '~' {
			// Every mark ends in a tilde, and what stands before is free of
			// marks already: removing here also catches the ones that the
			// removal of an inner mark puts together.
			out = out[:body+trimMark(out[body:])]
		}
	}
	// An escape left at the end would spoil the end mark that follows it.
	for len(out) > body && out[len(out)-1] == esc {
		out = out[:len(out)-1]
	}
	return append(out, pasteEnd...)
}

// trimMark returns the length of p without the frame mark at its end, or
// len(p) when it ends in none. p ends in a tilde. A mark is an introducer (ESC [,
// U+009B, or the byte 9B), the number 200 or 201 with any leading zeros, and
// perhaps further parameters; control characters and bytes above ASCII in between
// count as absent, as they do for the loosest of parsers.
func trimMark(p []byte) int {
	var digits []byte // of the first parameter, from the last to the first
	for i := len(p) - 2; i >= 0; i-- {
		switch b := p[i]; {
		case b >= '0' && b <= '9':
			digits = append(digits, b)
		case b == ';' || b == ':':
			digits = digits[:0]
		case b == esc:
			return len(p)
		case b == 0x9b && startsC1(p[:i]) && isMarkNumber(digits):
			if i > 0 && p[i-1] == 0xc2 {
				i--
			}
			return i
		case b == '[':
			start, ok := escapeBefore(p[:i])
			if !ok || !isMarkNumber(digits) {
				return len(p)
			}
			return start
		case !ignored(b):
			return len(p)
		}
	}
	return len(p)
}

// ignored reports whether a parser may skip the byte inside a sequence.
func ignored(b byte) bool { return b < 0x20 || b >= del }

// startsC1 reports whether a byte 9B after p is the control and not a part of
// some other character.
func startsC1(p []byte) bool {
	n := len(p)
	return n == 0 || p[n-1] < 0x80 || p[n-1] == 0xc2
}

// escapeBefore returns where the ESC stands that begins a sequence at p's end.
func escapeBefore(p []byte) (at int, ok bool) {
	i := len(p) - 1
	for ; i >= 0 && p[i] != esc; i-- {
		if !ignored(p[i]) {
			return 0, false
		}
	}
	return i, i >= 0
}

// isMarkNumber reports whether the digits, last first, are 200 or 201.
func isMarkNumber(digits []byte) bool {
	if len(digits) < 3 || digits[0] > '1' || digits[1] != '0' || digits[2] != '2' {
		return false
	}
	for _, d := range digits[3:] {
		if d != '0' {
			return false
		}
	}
	return true
}
