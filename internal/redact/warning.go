package redact

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	// farBlanks is the run of blanks behind which text could be missed.
	farBlanks = 40
	// manyWords is how many words are named; the rest are counted.
	manyWords = 3
)

// Warnings says what a person should know of a text before they trust their eyes,
// a sentence each, escaped: hidden characters, right-to-left letters, words whose letters
// pass for others, quotes that are none. None of them says that the text is safe or not.
func Warnings(s string) []string {
	var out []string
	if hidden(s) {
		out = append(out, "it holds characters that cannot be seen or that move others; they are shown as \\u{...}")
	}
	if strings.Contains(strings.Trim(s, " \n"), strings.Repeat(" ", farBlanks)) {
		out = append(out, "it goes on behind a long run of blanks")
	}
	if strings.ContainsFunc(s, rightToLeft) {
		out = append(out, "it holds letters that are written from right to left; the order is as they are written in the text")
	}
	out = append(out, lookalikeWarnings(s)...)
	if q := falseQuotes(s); q != 0 {
		out = append(out, fmt.Sprintf("%c is U+%04X, which is no quote: what follows it is not quoted", q, q))
	}
	return out
}

// hidden says if a text has an escape worth a warning: not for the newlines, tabs and
// blanks that many commands have, nor for the text's own backslashes.
func hidden(s string) bool {
	common := func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return common(r) < 0x20 || r >= 0x7f }) {
		return false
	}
	_, spans := EscapeSpans(strings.Map(common, s))
	return slices.ContainsFunc(spans, func(sp Span) bool { return sp.Kind != Backslash && sp.Kind != Blank })
}

func lookalikeWarnings(s string) []string {
	var out []string
	own := ownLetters(s)
	more := 0
	for _, word := range words(s) {
		r, looks := deceptive(word, own)
		switch {
		case r == 0:
		case len(out) == manyWords:
			more++
		default:
			out = append(out, fmt.Sprintf("the word %s %s: %c is U+%04X, %s", Escape(word), looks, r, r, scriptOf(r)))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more words have letters that pass for others", more))
	}
	return out
}

// words are the runs of letters, digits and marks that hold more than ASCII, each once.
func words(s string) []string {
	seen := map[string]bool{}
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	}) {
		if !seen[w] && strings.ContainsFunc(w, func(r rune) bool { return r > 0x7f }) {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// script is one whose letters pass for Latin ones.
type script struct {
	name  string
	table *unicode.RangeTable
	alike string // its letters that look Latin; "" = taken for all of them
	clear string // letters that nobody takes for Latin, used beside it in formulas
}

var scripts = []script{
	{"Cyrillic", unicode.Cyrillic, "асеорхуіјѕԁԛԝһӏкАВЕКМНОРСТХУІЈЅԚԜЬ", ""},
	{"Greek", unicode.Greek, "ονρυικτχηαΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ΔΘΛΞΠΣΦΨΩβδεζθλμξπφψ"},
	{"Armenian", unicode.Armenian, "օոսհցզգԼՕՍ", ""},
	{"Cherokee", unicode.Cherokee, "", ""},
	{"Coptic", unicode.Coptic, "", ""},
	{"Lisu", unicode.Lisu, "", ""},
	{"Deseret", unicode.Deseret, "", ""},
}

func scriptOf(r rune) string {
	for _, sc := range scripts {
		if unicode.Is(sc.table, r) {
			return sc.name
		}
	}
	return "a letter in another form"
}

// ownLetters says of which scripts a text has letters that do not look Latin: it is then
// written in that script, and its short words are not suspicious.
func ownLetters(s string) map[string]bool {
	own := map[string]bool{}
	for _, r := range s {
		if r < 0x370 {
			continue
		}
		for _, sc := range scripts {
			if unicode.Is(sc.table, r) && sc.alike != "" && !strings.ContainsRune(sc.alike, r) && unicode.IsLetter(r) {
				own[sc.name] = true
			}
		}
	}
	return own
}

// deceptive finds a letter in a word that passes for another one, and says how.
func deceptive(word string, own map[string]bool) (rune, string) {
	latin := false
	var first rune // of another script
	var from script
	alike := true // all letters of the word look Latin and none is
	for _, r := range word {
		switch {
		case styled(r):
			return r, "has letters in another form"
		case unicode.Is(unicode.Latin, r):
			latin, alike = true, false
			continue
		case !unicode.IsLetter(r):
			continue
		}
		found := false
		for _, sc := range scripts {
			if !unicode.Is(sc.table, r) || strings.ContainsRune(sc.clear, r) {
				continue
			}
			found = true
			if first == 0 {
				first, from = r, sc
			}
			alike = alike && sc.name == from.name && strings.ContainsRune(sc.alike, r)
		}
		alike = alike && found
	}
	switch {
	case first == 0:
		return 0, ""
	case latin:
		return first, "mixes scripts"
	case alike && !own[from.name]:
		return first, "only looks Latin"
	}
	return 0, ""
}

// styled finds Latin letters and digits in forms that a shell takes for other ones:
// wide, mathematical, enclosed, Roman numerals, phonetic.
func styled(r rune) bool {
	switch {
	case r == 0x251, r == 0x261: // a and g of phonetics
		return true
	case r >= 0x2160 && r <= 0x217f, r >= 0x24b6 && r <= 0x24e9:
		return true
	case r >= 0xff10 && r <= 0xff19, r >= 0xff21 && r <= 0xff3a, r >= 0xff41 && r <= 0xff5a:
		return true
	}
	return r >= 0x1d400 && r <= 0x1d7ff
}

// falseQuotes finds a typographic quote with an operator before its partner: to the eye
// the operator is quoted, to the shell it is not.
func falseQuotes(s string) rune {
	for _, pair := range [...][2]rune{{'‘', '’'}, {'“', '”'}, {'＇', '＇'}, {'＂', '＂'}} {
		rest := s
		for {
			_, after, ok := strings.Cut(rest, string(pair[0]))
			inside, tail, closed := strings.Cut(after, string(pair[1]))
			if !ok || !closed {
				break
			}
			if strings.ContainsAny(inside, ";|&`\n<>") || strings.Contains(inside, "$(") {
				return pair[0]
			}
			rest = tail
		}
	}
	return 0
}
