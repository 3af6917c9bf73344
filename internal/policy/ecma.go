package policy

import (
	"errors"
	"fmt"
	"strings"
)

// endOfText is $ as ECMAScript means it: not in front of a last newline.
const endOfText = `(?![\s\S])`

// checkECMA accepts the part of ECMAScript's regular expressions on which our engine and
// ECMAScript agree, and returns the pattern for the engine. Anything else is an error: an
// entry that says something else than its author meant would be worse than none.
func checkECMA(pattern string) (string, error) {
	if len(pattern) > 4096 {
		return "", errors.New("it is longer than 4096 bytes")
	}
	var out strings.Builder
	names := map[string]bool{}
	for i := 0; i < len(pattern); {
		var n int
		var err error
		text := ""
		switch c := pattern[i]; {
		case c == '\\':
			n, err = ecmaEscape(pattern[i:], false)
		case c == '[':
			n, err = ecmaClass(pattern[i:])
		case c == '(' && strings.HasPrefix(pattern[i:], "(?"):
			n, err = ecmaGroup(pattern[i:], names)
		case c == '$':
			n, text = 1, endOfText
		case c == '+' && i > 0 && strings.IndexByte("*+?}", pattern[i-1]) >= 0 && !escaped(pattern, i-1):
			err = errors.New("it has a possessive quantifier")
		default:
			n = 1
		}
		if err != nil {
			return "", err
		}
		if text == "" {
			text = pattern[i : i+n]
		}
		out.WriteString(text)
		i += n
	}
	return out.String(), nil
}

// escaped says if the byte at i has an odd number of backslashes in front.
func escaped(s string, i int) bool {
	n := 0
	for k := i - 1; k >= 0 && s[k] == '\\'; k-- {
		n++
	}
	return n%2 == 1
}

// ecmaEscape checks a backslash and what it stands before.
func ecmaEscape(s string, class bool) (n int, err error) {
	if len(s) < 2 {
		return 0, errors.New("it ends in a backslash")
	}
	c := s[1]
	switch {
	case strings.IndexByte("dDwWsStnvfr", c) >= 0:
		return 2, nil
	case (c == 'b' || c == 'B') && !class:
		return 2, nil
	case c == 'x' && hexDigits(s[2:], 2):
		return 4, nil
	case c == 'u' && hexDigits(s[2:], 4):
		return 6, nil
	case c < 0x80 && !isWordByte(c):
		return 2, nil
	}
	return 0, fmt.Errorf("\\%c means different things to different engines", c)
}

// quoteECMA makes a pattern that matches the text itself.
func quoteECMA(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte("\\^$.|?*+()[]{}/-", text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func hexDigits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	return strings.Trim(s[:n], "0123456789abcdefABCDEF") == ""
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// ecmaClass checks a class to its closing bracket.
func ecmaClass(s string) (n int, err error) {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		return 0, errors.New("it has an empty class")
	}
	for i < len(s) {
		switch s[i] {
		case ']':
			return i + 1, nil
		case '[':
			return 0, errors.New("it has a [ within a class; write \\[")
		case '\\':
			n, err := ecmaEscape(s[i:], true)
			if err != nil {
				return 0, err
			}
			i += n
		default:
			i++
		}
	}
	return 0, errors.New("a class has no end")
}

// ecmaGroup checks what stands behind (?.
func ecmaGroup(s string, names map[string]bool) (n int, err error) {
	for _, known := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(s, known) {
			return len(known), nil
		}
	}
	if rest, ok := strings.CutPrefix(s, "(?<"); ok {
		name, _, found := strings.Cut(rest, ">")
		if found && validEnvName(name) && !names[name] {
			names[name] = true
			return len("(?<") + len(name) + 1, nil
		}
	}
	return 0, errors.New("it has a group that ECMAScript does not know")
}
