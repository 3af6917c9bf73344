package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestA22_Warnings(t *testing.T) {
	for in, want := range map[string][]string{
		"rm a\u200b.txt":          {"cannot be seen"},
		"echo \x1b[2K":            {"cannot be seen"},
		"rm \xff":                 {"cannot be seen"},
		"rm a\u00a0b":             {"cannot be seen"},
		"g\u0456t push":           {"the word g\u0456t mixes scripts: \u0456 is U+0456, Cyrillic"},
		"p\u03bfwer off":          {"U+03BF, Greek"},
		"rm \u0440\u0430\u0441":   {"only looks Latin: \u0440 is U+0440, Cyrillic"},
		"rm -rf \u0445":           {"U+0445, Cyrillic"},
		"\uff52\uff4d -rf x":      {"U+FF52"},
		"\U0001d42bm x":           {"in another form"},
		"rm \u05d0\u05d1 && id":   {"right to left"},
		"rm \u0627 ; id":          {"right to left"},
		"echo \u2018; id; \u2019": {"U+2018, which is no quote"},
		"echo a" + strings.Repeat(" ", 60) + "; id":       {"long run of blanks"},
		"g\u0456t\u200b \u05d0":                           {"cannot be seen", "right to left", "mixes scripts"},
		"a\u0430 b\u0430 c\u0430 d\u0430 e\u0430 a\u0430": {"U+0430", "U+0430", "U+0430", "2 more words"},
	} {
		got := Warnings(in)
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		for _, w := range got {
			harmless(t, w)
		}
	}
}

// Everyday texts get no warning, or people stop reading them.
func TestA22_NoWarnings(t *testing.T) {
	for _, in := range []string{
		"", "ls -la", "a\nb\n", "if x; then\n\tmake\nfi", "cat <<E\n              deep\nE",
		"git commit -m 'müde, 日本 😀 ❤\ufe0f'", `printf '\u{41}\n'`, "echo “fine” and don’t",
		"cd ~/Документы && ls фото_2024", "git commit -m 'хорошо, а не с ними'", "echo Δt=5 αβγ 3μs", "cat /home/алиса/notes.txt",
	} {
		if got := Warnings(in); len(got) != 0 {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzWarnings(f *testing.F) {
	f.Add("g\u0456t \u2018a;\u2019 \u05d0\u200b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range Warnings(s) {
			harmless(t, w)
		}
	})
}
