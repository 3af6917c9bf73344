package json5

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenPunct
	tokenString
	tokenNumber
	tokenWord // an identifier: a key, or true, false, null, NaN, Infinity
)

type token struct {
	kind       tokenKind
	start, end int
	text       string // the string or identifier, decoded; for a number its source
	punct      byte
}

// lexer cuts the source, already known to be valid UTF-8, into tokens.
type lexer struct {
	src      []byte
	pos      int
	comments []Span
}

// fault is an error before line, column and path are known.
type fault struct {
	offset          int
	expected, found string
}

func (f *fault) Error() string { return "expected " + f.expected + ", found " + f.found }

func (l *lexer) fail(offset int, expected string) error {
	return &fault{offset: offset, expected: expected, found: describe(l.src, offset)}
}

func (l *lexer) peek() (rune, int) {
	if l.pos >= len(l.src) {
		return -1, 0
	}
	return utf8.DecodeRune(l.src[l.pos:])
}

func (l *lexer) next() (token, error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	start := l.pos
	r, size := l.peek()
	switch {
	case r == -1:
		return token{kind: tokenEnd, start: start, end: start}, nil
	case strings.ContainsRune("{}[]:,", r):
		l.pos += size
		return token{kind: tokenPunct, start: start, end: l.pos, punct: byte(r)}, nil
	case r == '"' || r == '\'':
		return l.scanString(byte(r))
	case r == '+' || r == '-' || r == '.' || isDigit(r):
		return l.scanNumber()
	case isWordStart(r) || r == '\\':
		return l.scanWord()
	}
	return token{}, l.fail(start, "a value, a key or punctuation")
}

func (l *lexer) skipSpace() error {
	for {
		r, size := l.peek()
		switch {
		case r == '/':
			if err := l.skipComment(); err != nil {
				return err
			}
		case r != -1 && isSpace(r):
			l.pos += size
		default:
			return nil
		}
	}
}

func (l *lexer) skipComment() error {
	start := l.pos
	rest := l.src[start:]
	switch {
	case len(rest) > 1 && rest[1] == '/':
		for {
			r, size := l.peek()
			if r == -1 || isLineEnd(r) {
				break
			}
			l.pos += size
		}
	case len(rest) > 1 && rest[1] == '*':
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return &fault{offset: start, expected: `"*/" that ends this comment`, found: "end of file"}
		}
		l.pos += 2 + end + 2
	default:
		return l.fail(start+1, `"//" or "/*"`)
	}
	l.comments = append(l.comments, Span{start, l.pos})
	return nil
}

func (l *lexer) scanNumber() (token, error) {
	start := l.pos
	if c := l.src[l.pos]; c == '+' || c == '-' {
		l.pos++
	}
	rest := string(l.src[l.pos:min(len(l.src), l.pos+len("Infinity"))])
	var err error
	switch {
	case strings.HasPrefix(rest, "Infinity"):
		l.pos += len("Infinity")
	case strings.HasPrefix(rest, "NaN"):
		l.pos += len("NaN")
	case strings.HasPrefix(rest, "0x"), strings.HasPrefix(rest, "0X"):
		l.pos += 2
		err = l.digits(isHex, "a hexadecimal digit")
	default:
		err = l.decimal()
	}
	if err != nil {
		return token{}, err
	}
	if r, _ := l.peek(); r != -1 && (isWordPart(r) || r == '.' || r == '\\') {
		return token{}, l.fail(l.pos, "the end of the number")
	}
	return token{kind: tokenNumber, start: start, end: l.pos, text: string(l.src[start:l.pos])}, nil
}

func (l *lexer) decimal() error {
	whole := l.pos
	l.pos += run(l.src[l.pos:], isDigit)
	if l.pos-whole > 1 && l.src[whole] == '0' {
		return l.fail(whole+1, "no digit after a leading 0")
	}
	hasWhole := l.pos > whole
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		n := run(l.src[l.pos:], isDigit)
		l.pos += n
		if n == 0 && !hasWhole {
			return l.fail(l.pos, "a digit")
		}
	} else if !hasWhole {
		return l.fail(l.pos, "a digit")
	}
	if l.pos < len(l.src) && (l.src[l.pos] == 'e' || l.src[l.pos] == 'E') {
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '+' || l.src[l.pos] == '-') {
			l.pos++
		}
		return l.digits(isDigit, "a digit of the exponent")
	}
	return nil
}

func (l *lexer) digits(is func(rune) bool, expected string) error {
	n := run(l.src[l.pos:], is)
	if n == 0 {
		return l.fail(l.pos, expected)
	}
	l.pos += n
	return nil
}

// run counts the leading ASCII bytes of b that satisfy is.
func run(b []byte, is func(rune) bool) int {
	n := 0
	for n < len(b) && is(rune(b[n])) {
		n++
	}
	return n
}

// scanWord reads an ECMAScript 5.1 identifier name.
func (l *lexer) scanWord() (token, error) {
	start := l.pos
	var word strings.Builder
	for {
		at := l.pos
		r, size := l.peek()
		if r == '\\' {
			l.pos++
			if c, _ := l.peek(); c != 'u' {
				return token{}, l.fail(l.pos, `"u" and four hexadecimal digits`)
			}
			l.pos++
			code, err := l.hexCode(4)
			if err != nil {
				return token{}, err
			}
			r, size = code, 0
			if !isWordPart(r) || at == start && !isWordStart(r) {
				return token{}, &fault{at, "an escape for a letter or digit", string(l.src[at:l.pos])}
			}
		} else if r == -1 || !isWordPart(r) {
			break
		}
		l.pos += size
		word.WriteRune(r)
	}
	return token{kind: tokenWord, start: start, end: l.pos, text: word.String()}, nil
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isHex(r rune) bool {
	return isDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func isSpace(r rune) bool {
	switch r {
	case '\t', '\v', '\f', ' ', '\u00a0', '\ufeff':
		return true
	}
	return isLineEnd(r) || unicode.Is(unicode.Zs, r)
}

func isWordStart(r rune) bool {
	return r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
}

func isWordPart(r rune) bool {
	return isWordStart(r) || r == '\u200c' || r == '\u200d' ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)
}
