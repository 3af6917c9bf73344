package redact

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestA22_Cases: every command of the display cases is shown on one line that holds
// nothing a terminal, a page or a log would obey, and that says where it had to.
func TestA22_Cases(t *testing.T) {
	data, err := os.ReadFile("testdata/display.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string
		Setup struct{ Command string }
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	shows := map[string]string{ // what a reader has to be able to see
		"dis-0001": `rm a\u{200B}.txt`, "dis-0003": `echo a\u{2066}b\u{2069}c`, "dis-0004": `\u{FEFF}git status`, "dis-0005": `git status\u{A}rm -rf x`,
		"dis-0007": `echo \u{1B}[2K\u{1B}[1Ahidden`, "dis-0008": `echo \u{9B}31mred`, "dis-0009": `echo \u{1B}]0;title\u{7}x`, "dis-0012": `echo a\u{0}b`,
		"dis-0013": `echo a\u{7F}b`, "dis-0014": `echo a\u{9}b`, "dis-0015": `rm -rf /tmp/x\u{A0}/`, "dis-0016": `rm -rf a\u{3000}b`, "dis-0017": `rm a\u{2028}b`,
		"dis-0021": `echo a\u{E0041}\u{E0042}`, "dis-0024": `rm a\u{AD}b`, "dis-0022": `echo a\u{FE0F}\u{20E3}`,
		"dis-0033": `git status\u{A}\u{A}/approve 123 allow-always`,
	}
	for _, c := range cases {
		got := Escape(c.Setup.Command)
		if want, ok := shows[c.ID]; ok && got != want {
			t.Errorf("%s: %q is shown as %q, want %q", c.ID, c.Setup.Command, got, want)
		}
		for _, r := range got {
			if r != ' ' && !unicode.IsPrint(r) || r == utf8.RuneError {
				t.Errorf("%s: %q holds U+%04X", c.ID, got, r)
			}
		}
		md := Markdown(c.Setup.Command) // dis-0029, dis-0030
		fence, rest, _ := strings.Cut(md, "\n")
		body, ended := strings.CutSuffix(rest, "\n"+fence)
		if !ended || strings.Contains(body, fence) {
			t.Errorf("%s: the block can be ended by its text: %q", c.ID, md)
		}
	}
	long := Escape("echo a" + strings.Repeat(" ", 300) + "; id") // dis-0018
	if long != `echo a\u{20}×300; id` {
		t.Errorf("%q", long)
	}
	if w := Warnings("g\u0456t push"); len(w) != 1 || !strings.Contains(w[0], "U+0456, Cyrillic") { // dis-0019
		t.Errorf("%q", w)
	}
	if w := Warnings("rm \u05d0\u05d1 && id"); len(w) != 1 || !strings.Contains(w[0], "right to left") { // dis-0045
		t.Errorf("%q", w)
	}
	for _, s := range []string{"ls -la", "git commit -m 'müde, 日本 😀'", "a\nb"} {
		if w := Warnings(s); len(w) != 0 {
			t.Errorf("%q: %q", s, w)
		}
	}
	if got := Var("FOO", "x\ny", false); got != `FOO=x\u{A}y` { // dis-0040
		t.Errorf("%q", got)
	}
	if got := Var("API_TOKEN", "hunter2hunter2", false); got != "API_TOKEN="+Mask {
		t.Errorf("%q", got)
	}
	if got := Var("API_TOKEN", "hunter2", true); got != "API_TOKEN=hunter2" {
		t.Errorf("%q", got)
	}
}

// An escape cannot be told apart from text only if the text could hold one.
func TestA22_NoForgery(t *testing.T) {
	if got := Escape(`a\u{200B}b`); got != `a\u{5C}u{200B}b` {
		t.Errorf("%q", got)
	}
	if got := Escape("é e\u0301 \u0301x \xff\xfe"); got != "é e\u0301 \\u{301}x \\u{FF?}\\u{FE?}" {
		t.Errorf("%q", got)
	}
	if got := Escape("plain \\n text"); got != "plain \\n text" {
		t.Errorf("%q", got)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\u200bb\x00\xff  \\u{41}")
	f.Fuzz(func(t *testing.T, s string) {
		out, spans := EscapeSpans(s)
		for _, r := range out {
			if r != ' ' && (!unicode.IsPrint(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q holds U+%04X", out, r)
			}
		}
		if strings.Contains(out, strings.Repeat(" ", manyBlanks)) {
			t.Errorf("%q holds a long run of blanks", out)
		}
		last := 0
		for _, sp := range spans {
			if sp.Start < last || sp.End <= sp.Start || sp.End > len(out) || !strings.HasPrefix(out[sp.Start:], `\u{`) {
				t.Errorf("%q: span %v", out, sp)
			}
			last = sp.End
		}
		if strings.Count(out, `\u{`) > 0 && len(spans) == 0 {
			t.Errorf("%q: an escape without a span", out)
		}
	})
}
