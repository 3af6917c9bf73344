package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of P-26, checked before the parser sees the text.
const (
	MaxText  = 64 << 10 // bytes
	MaxDepth = 200      // levels of brackets of any kind
	MaxCalls = 2000     // simple commands, those of looked-through shells included
	maxWords = 256      // words of a command with brace expansion
	maxBrace = 6        // braces in one word: each may double the words
	maxBig   = 4096     // bytes of a word with braces: it is copied that often
	maxShell = 8        // shells within shells that are looked through
)

// guard looks at the bytes of the text (P-25, P-26). What it finds makes the whole text
// unreadable: the parser is known to differ from bash there, or people are misled.
func guard(text string) []Remark {
	whole := Span{0, len(text)}
	if len(text) > MaxText {
		return []Remark{{whole, "text", fmt.Sprintf("is %d bytes long; more than %d are not judged", len(text), MaxText), "P-26"}}
	}
	if r, ok := badRune(text); ok {
		return []Remark{r}
	}
	if at := tooDeep(text); at >= 0 {
		return []Remark{{Span{at, at + 1}, "text", fmt.Sprintf("is nested deeper than %d levels", MaxDepth), "P-26"}}
	}
	return nil
}

// badRune finds the first character of P-25.
func badRune(text string) (Remark, bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c < 0x7f || c == '\t' || c == '\n' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if why := badRuneWhy(r, n); why != "" {
			return Remark{Span{i, i + n}, "character", why, "P-25"}, true
		}
		i += n
	}
	return Remark{}, false
}

func badRuneWhy(r rune, n int) string {
	switch {
	case r == utf8.RuneError && n <= 1:
		return "is not valid UTF-8"
	case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
		return fmt.Sprintf("is a control character (U+%04X)", r)
	case unicode.Is(unicode.Cf, r):
		return fmt.Sprintf("is an invisible or direction-changing character (U+%04X)", r)
	case r == 0x2028 || r == 0x2029:
		return fmt.Sprintf("is a line separator (U+%04X)", r)
	}
	return ""
}

// tooDeep gives the place where brackets nest too deep, or -1. It does not know quotes:
// a text with so many brackets open is refused whatever they mean.
func tooDeep(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case ')', '}', ']':
			if depth > 0 {
				depth--
			}
		}
	}
	return tooManyKeywords(text)
}

// tooManyKeywords bounds the nesting that needs no bracket: each of these words and each
// backquote may open a level for the parser, which recurses.
func tooManyKeywords(text string) int {
	const limit = 10 * MaxDepth
	n := 0
	word := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] == '`' {
			n++
		}
		if i < len(text) && ('a' <= text[i] && text[i] <= 'z') {
			if word < 0 {
				word = i
			}
			continue
		}
		if word >= 0 && strings.Contains(nesting, " "+text[word:i]+" ") {
			n++
		}
		word = -1
		if n > limit {
			return min(i, len(text)-1)
		}
	}
	return -1
}

// nesting are the words that open a level.
const nesting = " if elif while until for select case function coproc time do then else "
