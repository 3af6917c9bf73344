package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// manyBlanks is the number of blanks from which a run of them is shown as a count.
const manyBlanks = 9

// Escape shows foreign text on one line with nothing in it that could deceive:
// control, bidi and zero-width characters, other spaces than the blank, marks that stand
// on nothing and bytes that are no text become \u{HEX}; a run of more than eight blanks
// becomes \u{20}×COUNT. Every \u{ in the result is such an escape: a backslash of the
// text in front of u{ is one itself.
func Escape(s string) string {
	out, _ := EscapeSpans(s)
	return out
}

// Span is a range of bytes, End not included.
type Span struct{ Start, End int }

// EscapeSpans is Escape that also says where the escapes stand, so that they can be
// painted.
func EscapeSpans(s string) (out string, escapes []Span) {
	if plain(s) {
		return s, nil
	}
	var b strings.Builder
	escape := func(text string) {
		start := b.Len()
		b.WriteString(text)
		if n := len(escapes); n > 0 && escapes[n-1].End == start {
			escapes[n-1].End = b.Len()
			return
		}
		escapes = append(escapes, Span{start, b.Len()})
	}
	base := false // something visible stands before, for a mark to stand on
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == ' ' {
			if n := blanks(s[i:]); n >= manyBlanks {
				escape(fmt.Sprintf(`\u{20}×%d`, n))
				i += n
				base = false
				continue
			}
		}
		switch {
		case r == utf8.RuneError && size <= 1:
			escape(fmt.Sprintf(`\u{%02X?}`, s[i]))
			base = false
		case r == '\\' && strings.HasPrefix(s[i+1:], "u{"), deceives(r, base):
			escape(fmt.Sprintf(`\u{%X}`, r))
			base = false
		default:
			b.WriteRune(r)
			base = r != ' '
		}
		i += size
	}
	return b.String(), escapes
}

func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// plain says if a text needs no escape, which most do not.
func plain(s string) bool {
	run := 0
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c >= 0x7f || c == '\\' && strings.HasPrefix(s[i+1:], "u{") {
			return false
		}
		if run++; c != ' ' {
			run = 0
		}
		if run >= manyBlanks {
			return false
		}
	}
	return true
}

// deceives says if a character is invisible, moves others, or looks like a blank.
func deceives(r rune, base bool) bool {
	switch {
	case r < 0x7f:
		return r < 0x20
	case !unicode.IsPrint(r): // controls, formats, private and unassigned ones, other spaces
		return true
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc):
		return !base || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
	}
	return invisible(r)
}

// invisible lists letters and symbols that show nothing.
func invisible(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x17b5, 0x1d159:
		return true
	}
	return false
}

// Lines is Escape for a text of several lines, each by itself.
func Lines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// Warnings says what a person should know of a text before they trust their eyes.
func Warnings(s string) []string {
	var out []string
	if _, escapes := EscapeSpans(strings.ReplaceAll(s, "\n", " ")); len(escapes) > 0 {
		out = append(out, "it holds characters that cannot be seen or that move others; they are shown as \\u{...}")
	}
	rtl := false
	for _, r := range s {
		rtl = rtl || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
	}
	if rtl {
		out = append(out, "it holds letters that are written from right to left; the order is as they are written in the text")
	}
	for _, word := range strings.Fields(s) {
		if r, script := foreign(word); r != 0 {
			out = append(out, fmt.Sprintf("the word %s mixes scripts: %c is U+%04X, %s", Escape(word), r, r, script))
			break
		}
	}
	return out
}

// lookalikes are the scripts whose letters pass for Latin ones.
var lookalikes = []struct {
	name  string
	table *unicode.RangeTable
}{{"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee}}

// foreign finds a letter that passes for Latin in a word that has Latin ones.
func foreign(word string) (rune, string) {
	latin := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	if !latin {
		return 0, ""
	}
	for _, r := range word {
		for _, l := range lookalikes {
			if unicode.Is(l.table, r) {
				return r, l.name
			}
		}
	}
	return 0, ""
}

// Markdown is the text as a block of code that it cannot end, for chats: the fence is
// longer than any run of the same mark inside. Mentions and links stay text there.
func Markdown(s string) string {
	lines := Lines(s)
	longest, run := 0, 0
	for _, line := range lines {
		for _, r := range line {
			if run++; r != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
		run = 0
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "\n" + strings.Join(lines, "\n") + "\n" + fence
}

// Var shows a variable on one line; the value of one whose name looks secret only with
// reveal.
func Var(name, value string, reveal bool) string {
	shown := Escape(name) + "=" + Escape(value)
	if reveal || Text(name+"="+value) == name+"="+value {
		return shown
	}
	return Escape(name) + "=" + Mask
}
