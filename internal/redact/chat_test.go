package redact

import (
	"strings"
	"testing"
	"unicode"
)

func TestA22_Markdown(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "```\n\n```",
		"ls":                                 "```\nls\n```",
		"a\nb\n":                             "```\na\nb\n\n```",
		"a `b` ``c``":                        "```\na `b` ``c``\n```",
		"a ```` b":                           "```\na \\u{60×4} b\n```",
		"~~~\n<@123> @here <!everyone>":      "```\n~~~\n<@123> @here <!everyone>\n```",
		"``\n`":                              "```\n``\n`\n```",
		"a\n\n\nb":                           "```\na\n\n\nb\n```",
		"a" + strings.Repeat("\n", 41) + "b": "```\na\n\\u{A×40}\nb\n```",
		"a\n   \nb":                          "```\na\n\\u{20×3}\nb\n```",
		"echo x \\ \nid":                     "```\necho x \\\\u{20}\nid\n```",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("```\n````` ` ``\n\n\n\n\n\nx`\u200b``")
	f.Fuzz(func(t *testing.T, s string) {
		closed(t, Markdown(s))
	})
}

func TestA22_IsolateRTL(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"ls -la 日本":              "ls -la 日本",
		"\u05d0 && \u05d1 | 12":  "\u2066\u2068\u05d0\u2069 && \u2068\u05d1\u2069 | 12\u2069",
		"\u0645\u0650\u0646":     "\u2066\u2068\u0645\u0650\u0646\u2069\u2069", // a vowel mark stays with its letter
		"\u05d0\u2069\u202e; id": "\u2066\u2068\u05d0\u2069\\u{2069}\\u{202E}; id\u2069",
	} {
		if got := IsolateRTL(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// FuzzIsolateRTL: the isolates are balanced, no other control is there, no operator
// stands within a run, and without the isolates the text is as before.
func FuzzIsolateRTL(f *testing.F) {
	f.Add("rm \u05d0 && \u0661\u05d1\u0650")
	f.Fuzz(func(t *testing.T, s string) {
		s = Escape(s)
		depth := 0
		bare := strings.Map(func(r rune) rune {
			switch string(r) {
			case leftToRight, firstStrong:
				depth++
				return -1
			case popIsolate:
				depth--
				return -1
			}
			if depth == 2 && !rightToLeft(r) && !unicode.IsMark(r) || depth < 0 || depth > 2 {
				t.Errorf("%q: U+%04X at depth %d", s, r, depth)
			}
			return r
		}, IsolateRTL(s))
		if bare != s || depth != 0 {
			t.Errorf("%q comes back as %q, depth %d", s, bare, depth)
		}
	})
}

func TestA23_Env(t *testing.T) {
	for _, c := range []struct {
		name, value string
		reveal      bool
		want        string
	}{
		{"FOO", "x\ny", false, `FOO=x\u{A}y`},
		{"FOO", "", false, "FOO="},
		{"A\u202eB", "x", false, `A\u{202E}B=x`},
		{"API_TOKEN", "hunter2hunter2", false, "API_TOKEN=" + Mask},
		{"API_TOKEN", "hunter2\u200b", true, `API_TOKEN=hunter2\u{200B}`},
		{"API_TOKEN", "", false, "API_TOKEN="},
		{"FOO", "ghp_abcdefghij0123456789", false, "FOO=" + Mask},
	} {
		if got := Env(c.name, c.value, c.reveal); got != c.want {
			t.Errorf("Env(%q, %q, %v) = %q, want %q", c.name, c.value, c.reveal, got, c.want)
		}
	}
}
