package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// manyBlanks is the number of blanks from which a run of them is shown as a count. The
	// same run of any other escaped character is counted too, so that thousands of them
	// cannot push the rest of a command out of sight.
	manyBlanks = 9
	// manyMarks is how many marks may stand on one letter; more reach into other lines.
	manyMarks = 4
	// manyTicks is the run of backticks that can end a block of code in a chat.
	manyTicks = 3
)

// Kind says what an escape stands for.
type Kind uint8

// The kinds of escapes.
const (
	Control   Kind = iota + 1 // C0 and C1 controls, DEL; tab, newline, escape and NUL too
	Format                    // category Cf: bidi controls, zero-width ones, tags, soft hyphen, byte-order mark
	Space                     // any space or separator of Unicode but the blank
	Blank                     // a long run of blanks, and blanks that end the text
	Mark                      // a combining mark or variation selector on nothing it belongs to
	Byte                      // a byte that is no UTF-8
	Unseen                    // a letter or symbol that shows nothing, a private or unassigned character
	Backslash                 // the text's own backslash, where an escape would look the same without it
	Backtick                  // backticks that could end a block of code; only Markdown has these
)

// Span is one escape in an escaped text: bytes from Start to End, End not included.
type Span struct {
	Start, End int
	Kind       Kind
}

// Escape shows foreign text on one line with nothing in it that could deceive.
//
// An escape has the form \u{HEX}, and \u{HEX×COUNT} for a run of more than eight of the
// same character; a byte that is no text is \u{HEX?}. What is escaped: see Kind. The
// rule that makes it safe without colours: every \u{ in the result begins an escape that
// ends at the next }, because a backslash of the text that stands in front of u{ is
// escaped itself. There are no short forms such as \n: they would look like the
// backslash and n that printf is often given.
func Escape(s string) string {
	out, _ := EscapeSpans(s)
	return out
}

// EscapeSpans is Escape that also says where the escapes stand, in order, so that they
// can be painted.
func EscapeSpans(s string) (out string, escapes []Span) {
	return escapeText(s, false)
}

// EscapeLines is Escape for a text of several lines: one string a line, split at the
// newlines and nowhere else. The caller numbers or marks the lines, so that none of them
// passes for something else.
func EscapeLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// escaper builds an escaped text.
type escaper struct {
	out   strings.Builder
	spans []Span
	base  base
}

// base is what stands in front, for a mark to stand on.
type base struct {
	kind  uint8 // 0 = nothing a mark belongs on
	marks int
}

const (
	onNothing uint8 = iota
	onLetter        // takes marks
	onSymbol        // takes marks and one selector of its presentation
)

func escapeText(s string, ticks bool) (string, []Span) {
	if plain(s, ticks) {
		return s, nil
	}
	var e escaper
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			e.escape(fmt.Sprintf(`\u{%02X?}`, s[i]), Byte)
			i++
			continue
		case r == '\\' && strings.HasPrefix(s[i+1:], "u{"):
			e.escape(`\u{5C}`, Backslash)
			i++
			continue
		}
		n := 1
		kind := e.judge(r)
		switch {
		case r == ' ':
			if n = run(s[i:], ' '); n >= manyBlanks || i+n == len(s) {
				kind = Blank
			}
		case r == '`' && ticks:
			if n = run(s[i:], '`'); n >= manyTicks {
				kind = Backtick
			}
		case kind != 0 && kind != Mark:
			n = run(s[i:], r)
		}
		e.put(r, n, kind)
		i += n * size
	}
	return e.out.String(), e.spans
}

// put writes n times the same character, as escapes if it has a kind.
func (e *escaper) put(r rune, n int, kind Kind) {
	switch {
	case kind == 0:
		for range n {
			e.out.WriteRune(r)
		}
		e.stand(r)
	case n >= manyBlanks || n > 1 && (kind == Blank || kind == Backtick):
		e.escape(fmt.Sprintf(`\u{%X×%d}`, r, n), kind)
	default:
		for range n {
			e.escape(fmt.Sprintf(`\u{%X}`, r), kind)
		}
	}
}

func (e *escaper) escape(text string, kind Kind) {
	start := e.out.Len()
	e.out.WriteString(text)
	e.spans = append(e.spans, Span{start, e.out.Len(), kind})
	e.base = base{}
}

// stand notes what the next mark would stand on.
func (e *escaper) stand(r rune) {
	switch {
	case unicode.IsMark(r):
		if e.base.marks++; unicode.Is(unicode.Variation_Selector, r) {
			e.base.kind = onLetter
		}
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		e.base = base{kind: onLetter}
	case r > 0x7f && unicode.IsSymbol(r):
		e.base = base{kind: onSymbol}
	default: // a mark on an operator or a quote could hide it
		e.base = base{}
	}
}

// judge says why a character cannot be shown as it is; 0 if it can.
func (e *escaper) judge(r rune) Kind {
	switch {
	case r < 0x7f && r >= 0x20:
		return 0
	case unicode.IsControl(r):
		return Control
	case unicode.Is(unicode.Cf, r):
		return Format
	case unicode.Is(unicode.Z, r):
		return Space
	case unseen(r):
		return Unseen
	case unicode.IsMark(r):
		return e.judgeMark(r)
	}
	return 0
}

func (e *escaper) judgeMark(r rune) Kind {
	switch {
	case unicode.Is(unicode.Variation_Selector, r):
		// Only where it chooses between the two looks of a symbol: elsewhere it shows
		// nothing, and the text is another one.
		if e.base.kind == onSymbol && e.base.marks == 0 && (r == 0xfe0e || r == 0xfe0f) {
			return 0
		}
		return Mark
	case e.base.kind == onNothing, e.base.marks >= manyMarks, unicode.Is(covers, r):
		return Mark
	}
	return 0
}

// covers are the marks that strike a letter out or enclose it.
var covers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0334, Hi: 0x0338, Stride: 1}, {Lo: 0x0488, Hi: 0x0489, Stride: 1}, {Lo: 0x1abe, Hi: 0x1abe, Stride: 1}, {Lo: 0x20d0, Hi: 0x20f0, Stride: 1},
}, R32: []unicode.Range32{
	{Lo: 0x10a39, Hi: 0x10a39, Stride: 1}, {Lo: 0x16af0, Hi: 0x16af4, Stride: 1}, {Lo: 0x1bc9e, Hi: 0x1bc9e, Stride: 1}, {Lo: 0x1d165, Hi: 0x1d1ad, Stride: 1},
}}

// unseen finds letters and symbols that show nothing, characters that stand in for ones
// that are lost, and all that Unicode assigns to nobody, since nobody knows its look.
func unseen(r rune) bool {
	switch r {
	case 0x2800, 0x1d159, 0x16fe4, 0x13441, 0x13442, // blanks among the symbols and letters
		0xfffc, 0xfffd: // object and replacement character
		return true
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// run counts how often a character stands at the beginning.
func run(s string, r rune) int {
	n := 0
	for _, c := range s {
		if c != r {
			break
		}
		n++
	}
	return n
}

// plain says if a text needs no escape, which most do not.
func plain(s string, ticks bool) bool {
	blanks, marks := 0, 0
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c >= 0x7f || c == '\\' && strings.HasPrefix(s[i+1:], "u{") {
			return false
		}
		if blanks++; c != ' ' {
			blanks = 0
		}
		if marks++; c != '`' {
			marks = 0
		}
		if blanks >= manyBlanks || ticks && marks >= manyTicks {
			return false
		}
	}
	return blanks == 0
}
