package redact

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestA22_Escape: what is escaped and what is not.
func TestA22_Escape(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"plain \\n text":                  "plain \\n text",
		"müde, 日本 😀 שלום":                 "müde, 日本 😀 שלום",
		"a\nb\rc\td\x1be":                 `a\u{A}b\u{D}c\u{9}d\u{1B}e`,
		"\x00\x7f\u0080\u009b":            `\u{0}\u{7F}\u{80}\u{9B}`,
		"a\u202eb\u2066c\u2069d\u061c":    `a\u{202E}b\u{2066}c\u{2069}d\u{61C}`,
		"\u200b\u200c\u200d\u2060\ufeff":  `\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}`,
		"a\u00adb\u180ec":                 `a\u{AD}b\u{180E}c`,
		"\U000e0041\U000e007f":            `\u{E0041}\u{E007F}`,
		"a\u2028b\u2029c\u0085":           `a\u{2028}b\u{2029}c\u{85}`,
		"a\u00a0b\u3000c\u2003d\u1680e":   `a\u{A0}b\u{3000}c\u{2003}d\u{1680}e`,
		"a\u3164b\u2800c\u115fd":          `a\u{3164}b\u{2800}c\u{115F}d`,
		"a\ue000b\U000f0000c\u0378":       `a\u{E000}b\u{F0000}c\u{378}`,
		"\xff\xfe\xc3":                    `\u{FF?}\u{FE?}\u{C3?}`,
		"\xed\xa0\x80":                    `\u{ED?}\u{A0?}\u{80?}`, // half of a surrogate pair
		"a\ufffdb":                        `a\u{FFFD}b`,
		"é e\u0301 \u0301x":               "é e\u0301 \\u{301}x",
		"a\n\u0301":                       `a\u{A}\u{301}`,
		";\u0301":                         `;\u{301}`, // a mark may hide an operator
		"r\u0336m\u20e0":                  `r\u{336}m\u{20E0}`,
		"x" + strings.Repeat("\u0301", 6): "x\u0301\u0301\u0301\u0301\\u{301}\\u{301}",
		"❤\ufe0f s\ufe0f \ufe0f":          "❤\ufe0f s\\u{FE0F} \\u{FE0F}",
		"❤\ufe0f\ufe0f":                   "❤\ufe0f\\u{FE0F}",
		"😀\U000e0100":                     `😀\u{E0100}`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// TestA22_EscapeRuns: long runs are counted, and the count cannot run into the text.
func TestA22_EscapeRuns(t *testing.T) {
	for in, want := range map[string]string{
		"a" + strings.Repeat(" ", 8) + "b":           "a        b",
		"a" + strings.Repeat(" ", 9) + "7":           `a\u{20×9}7`,
		"echo a" + strings.Repeat(" ", 300) + "; id": `echo a\u{20×300}; id`,
		"a ":                                  `a\u{20}`,
		"a  ":                                 `a\u{20×2}`,
		" a b":                                " a b",
		strings.Repeat("\u200b", 60000) + "x": `\u{200B×60000}x`,
		strings.Repeat("\n", 3) + "x":         `\u{A}\u{A}\u{A}x`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("%.40q is shown as %q, want %q", in, got, want)
		}
	}
}

// TestA22_NoForgery: text that looks like an escape is told apart from one, also where
// nothing is painted.
func TestA22_NoForgery(t *testing.T) {
	for in, want := range map[string]string{
		`a\u{200B}b`:  `a\u{5C}u{200B}b`,
		`a\\u{A}b`:    `a\\u{5C}u{A}b`,
		`\u{20×300}`:  `\u{5C}u{20×300}`,
		`a\u200B \x{`: `a\u200B \x{`,
	} {
		out, spans := EscapeSpans(in)
		if out != want {
			t.Errorf("%q is shown as %q, want %q", in, out, want)
		}
		if n := strings.Count(out, `\u{`); n != len(spans) {
			t.Errorf("%q: %d escapes, %d spans", out, n, len(spans))
		}
	}
}

func TestA22_EscapeSpans(t *testing.T) {
	out, spans := EscapeSpans("a\x1b\u200b\u00a0\xff e\n\u0301\u2800 \\u{1} ")
	want := []struct {
		text string
		kind Kind
	}{
		{`\u{1B}`, Control},
		{`\u{200B}`, Format},
		{`\u{A0}`, Space},
		{`\u{FF?}`, Byte},
		{`\u{A}`, Control},
		{`\u{301}`, Mark},
		{`\u{2800}`, Unseen},
		{`\u{5C}`, Backslash},
		{`\u{20}`, Blank},
	}
	if len(spans) != len(want) {
		t.Fatalf("%q: %v", out, spans)
	}
	for i, sp := range spans {
		if got := out[sp.Start:sp.End]; got != want[i].text || sp.Kind != want[i].kind {
			t.Errorf("span %d is %q of kind %d, want %q of kind %d", i, got, sp.Kind, want[i].text, want[i].kind)
		}
	}
}

func TestA22_EscapeLines(t *testing.T) {
	got := EscapeLines("a\r\n\n b \u2028c\n")
	if want := []string{`a\u{D}`, "", ` b \u{2028}c`, ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// harmless fails on anything in a shown text that a terminal, a page or a log would obey.
func harmless(t *testing.T, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%q is no UTF-8", out)
	}
	for _, r := range out {
		if r != ' ' && !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
			t.Errorf("%q holds U+%04X", out, r)
		}
	}
	if strings.Contains(out, strings.Repeat(" ", manyBlanks)) {
		t.Errorf("%q holds a long run of blanks", out)
	}
}

// unescape reads an escaped text back, as a reader who knows the rules would.
func unescape(t *testing.T, out string) string {
	t.Helper()
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(out, `\u{`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		escape, after, ok := strings.Cut(rest, "}")
		if !ok {
			t.Fatalf("%q: an escape without an end", out)
		}
		out = after
		hex, count, _ := strings.Cut(escape, "×")
		hex, isByte := strings.CutSuffix(hex, "?")
		r, n := number(t, hex, 16), 1
		if count != "" {
			n = number(t, count, 10)
		}
		for range n {
			if isByte {
				b.WriteByte(byte(r))
			} else {
				b.WriteRune(rune(r))
			}
		}
	}
}

func number(t *testing.T, digits string, radix int) int {
	t.Helper()
	n := 0
	for _, d := range digits {
		v := strings.IndexRune("0123456789ABCDEF", d)
		if v < 0 || v >= radix {
			t.Fatalf("%q is no number", digits)
		}
		n = n*radix + v
	}
	return n
}

// FuzzEscape: nothing deceiving is left, nothing is lost, and the spans are the escapes.
func FuzzEscape(f *testing.F) {
	f.Add("a\u200bb\x00\xff  \\u{41}")
	f.Add("\\\\u{A}" + strings.Repeat(" ", 20) + "3e\u0301\ufe0f")
	f.Fuzz(func(t *testing.T, s string) {
		out, spans := EscapeSpans(s)
		harmless(t, out)
		if again, _ := EscapeSpans(s); again != out {
			t.Errorf("%q is shown as %q and as %q", s, out, again)
		}
		if got := unescape(t, out); got != s {
			t.Errorf("%q is shown as %q, which reads %q", s, out, got)
		}
		last := 0
		for _, sp := range spans {
			if sp.Start < last || sp.End > len(out) || sp.Kind < Control || sp.Kind > Backtick {
				t.Fatalf("%q: span %v", out, sp)
			}
			if text := out[sp.Start:sp.End]; !strings.HasPrefix(text, `\u{`) || strings.IndexByte(text, '}') != len(text)-1 {
				t.Errorf("%q: span %q", out, text)
			}
			last = sp.End
		}
		if n := strings.Count(out, `\u{`); n != len(spans) {
			t.Errorf("%q: %d escapes, %d spans", out, n, len(spans))
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	const size = 64 << 10
	for name, unit := range map[string]string{
		"plain": "git commit -m 'x'; ", "letters": "größe 日本 ", "hidden": "a\u200bb\x1b", "nul": "\x00", "bytes": "\xff\xfe", "marks": "e\u0301\u0301",
	} {
		s := strings.Repeat(unit, size/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Escape(s)
			}
		})
	}
}
