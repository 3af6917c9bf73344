package json5

import (
	"strings"
	"unicode/utf16"
)

// simpleEscapes are the one-character escapes that do not stand for themselves.
var simpleEscapes = map[rune]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

func (l *lexer) scanString(quote byte) (token, error) {
	start := l.pos
	l.pos++
	var text strings.Builder
	for {
		r, size := l.peek()
		switch {
		case r == -1 || r == '\n' || r == '\r':
			return token{}, l.fail(l.pos, "the closing "+string(quote))
		case r == rune(quote):
			l.pos++
			return token{kind: tokenString, start: start, end: l.pos, text: text.String()}, nil
		case r == '\\':
			if err := l.escape(&text); err != nil {
				return token{}, err
			}
		default:
			l.pos += size
			text.WriteRune(r)
		}
	}
}

// escape reads one escape sequence, the backslash included.
func (l *lexer) escape(text *strings.Builder) error {
	at := l.pos
	l.pos++
	r, size := l.peek()
	l.pos += size
	switch {
	case r == -1:
		return l.fail(l.pos, "a character after the backslash")
	case r == '\r':
		// A line continuation; CR LF is one line end.
		if c, _ := l.peek(); c == '\n' {
			l.pos++
		}
	case isLineEnd(r):
	case r == '0':
		if c, _ := l.peek(); isDigit(c) {
			return l.fail(l.pos, `no digit after \0`)
		}
		text.WriteByte(0)
	case isDigit(r):
		return &fault{at, "an escape of JSON5", string(l.src[at:l.pos])}
	case r == 'x':
		code, err := l.hexCode(2)
		if err != nil {
			return err
		}
		text.WriteRune(code)
	case r == 'u':
		return l.unicodeEscape(at, text)
	default:
		if c, ok := simpleEscapes[r]; ok {
			r = c
		}
		text.WriteRune(r)
	}
	return nil
}

// unicodeEscape reads the digits after \u, and the second half of a surrogate pair.
func (l *lexer) unicodeEscape(at int, text *strings.Builder) error {
	code, err := l.hexCode(4)
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(code) {
		first := code
		code = -1
		if rest := l.src[l.pos:]; len(rest) >= 2 && rest[0] == '\\' && rest[1] == 'u' {
			l.pos += 2
			second, err := l.hexCode(4)
			if err != nil {
				return err
			}
			if r := utf16.DecodeRune(first, second); r != '\uFFFD' {
				code = r
			}
		}
		if code == -1 {
			return &fault{at, "both halves of a surrogate pair", string(l.src[at:l.pos])}
		}
	}
	text.WriteRune(code)
	return nil
}

func (l *lexer) hexCode(digits int) (rune, error) {
	var code rune
	for range digits {
		c, _ := l.peek()
		if !isHex(c) {
			return 0, l.fail(l.pos, "a hexadecimal digit")
		}
		l.pos++
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		code = code<<4 | c
	}
	return code, nil
}
