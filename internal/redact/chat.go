package redact

import (
	"strconv"
	"strings"
	"unicode"
)

// manyLines is the number of empty lines from which Markdown shows a run of them as a
// count.
const manyLines = 4

// Markdown is the text as a block of code that it cannot end, for chats. Each line
// is escaped as by EscapeLines; three and more backticks in a row are an escape too
// (\u{60×3}), since some networks end a block at any three of them, however long the
// fence. The result holds real newlines; more than three empty lines in a row become one
// escape (\u{A×COUNT}), so that the rest is not scrolled out of sight.
//
// Markup, links and mentions stay text in a block of code. A network that looks for its
// own markup before it looks for code (Slack: & < >) needs its encoding on top.
func Markdown(s string) string {
	const fence = "```" // longer than any run of backticks that is left inside
	var b strings.Builder
	b.WriteString(fence)
	empty := 0
	flush := func() {
		switch {
		case empty >= manyLines:
			b.WriteString("\n\\u{A×" + strconv.Itoa(empty) + "}")
		default:
			b.WriteString(strings.Repeat("\n", empty))
		}
		empty = 0
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			empty++
			continue
		}
		flush()
		shown, _ := escapeText(line, true)
		b.WriteByte('\n')
		b.WriteString(shown)
	}
	flush()
	b.WriteString("\n" + fence)
	return b.String()
}

// The isolates, which keep the direction of a piece of text from the rest.
const (
	leftToRight = "\u2066"
	firstStrong = "\u2068"
	popIsolate  = "\u2069"
)

// IsolateRTL keeps the order of an escaped text that has right-to-left letters: the whole
// is isolated as left to right, each run of such letters by itself within. To isolate
// only the whole would not do: two such words with && between them would still change
// places. For surfaces that know isolates (web pages, most chats; few terminals). Text
// without such letters comes back unchanged; a bidi control of the text is escaped, so
// that it cannot end an isolate.
func IsolateRTL(s string) string {
	if !strings.ContainsFunc(s, rightToLeft) {
		return s
	}
	var b strings.Builder
	b.WriteString(leftToRight)
	inside := false
	for _, r := range s {
		if rtl := rightToLeft(r) || inside && unicode.IsMark(r); rtl != inside {
			inside = rtl
			if rtl {
				b.WriteString(firstStrong)
			} else {
				b.WriteString(popIsolate)
			}
		}
		if unicode.Is(unicode.Bidi_Control, r) {
			b.WriteString(Escape(string(r)))
			continue
		}
		b.WriteRune(r)
	}
	if inside {
		b.WriteString(popIsolate)
	}
	b.WriteString(popIsolate)
	return b.String()
}

// rightToLeft finds the letters and digits that change the shown order: Unicode keeps
// these ranges for such scripts, also where nothing is assigned yet.
func rightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfeff:
		return true
	}
	return r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// Env shows a variable on one line, NAME=value, escaped. Without reveal the value of one
// whose name looks secret is masked, and what looks like a secret in any other.
func Env(name, value string, reveal bool) string {
	switch {
	case reveal:
	case value != "" && secretName(name):
		value = Mask
	default:
		value = Text(value)
	}
	return Escape(name) + "=" + Escape(value)
}
