package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestA22_Wrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"short", 10, []string{"short"}},
		{"exactly 10", 10, []string{"exactly 10"}},
		{"one two three", 8, []string{"one two ", "three"}},
		{"aaaaaaaaaaaa", 5, []string{"aaaaa", "aaaaa", "aa"}},
		{"a bbbbbbbbbbbb", 8, []string{"a bbbbbb", "bbbbbb"}}, // a piece less than half full is not worth it
		{"日本語", 4, []string{"日本", "語"}},
		{"日本語", 1, []string{"日", "本", "語"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{`ab\u{200B}cd`, 6, []string{"ab", `\u{200B}`, "cd"}}, // wider than the width: it stands alone, whole
		{`abc\u{A}d`, 6, []string{"abc", `\u{A}d`}},
		{"ab", 0, []string{"a", "b"}},
	} {
		if got := Wrap(c.in, c.width); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// FuzzWrap: the pieces joined are the line, and each fits unless it is one unit.
func FuzzWrap(f *testing.F) {
	f.Add("one two\u200b 日本 e\u0301 "+strings.Repeat("x", 40), 7)
	f.Add("❤\ufe0f 🇩🇪 👍🏽\xff", 3)
	f.Fuzz(func(t *testing.T, s string, width int) {
		for _, line := range []string{Escape(s), s} {
			pieces := Wrap(line, width)
			if got := strings.Join(pieces, ""); got != line {
				t.Fatalf("%q comes back as %q", line, got)
			}
		}
		for _, piece := range Wrap(Escape(s), width) {
			if size, _ := unit(piece + "x"); ansi.StringWidth(piece) > max(width, 1) && size < len(piece) {
				t.Errorf("%q is wider than %d", piece, width)
			}
		}
	})
}
