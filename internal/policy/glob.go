package policy

import "strings"

// glob is a compiled path pattern (P-31): * and ? stay within an element, ** as a whole
// element stands for any number of them, also none. Letters match without regard to case
// (ASCII: another alphabet's look-alikes must not fold into a name).
type glob struct {
	text     string   // folded
	elements []string // of text, without the leading slash
	literal  int      // elements before the first wildcard
	exact    bool     // no wildcard at all
	prefix   string   // text in front of the first wildcard
}

func compileGlob(pattern string) glob {
	text := foldPath(pattern)
	g := glob{text: text, exact: !strings.ContainsAny(text, "*?")}
	g.elements = strings.Split(strings.TrimPrefix(text, "/"), "/")
	for g.literal < len(g.elements) && !strings.ContainsAny(g.elements[g.literal], "*?") {
		g.literal++
	}
	g.prefix = text
	if i := strings.IndexAny(text, "*?"); i >= 0 {
		g.prefix = text[:i]
	}
	return g
}

// foldPath lowers ASCII letters.
func foldPath(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for k := i; k < len(b); k++ {
				if 'A' <= b[k] && b[k] <= 'Z' {
					b[k] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// match says if an absolute, clean, folded path matches.
func (g *glob) match(path string) bool {
	if g.exact {
		return g.text == path
	}
	if path == "" || path[0] != '/' {
		return false
	}
	return matchElements(g.elements, path[1:])
}

// matchElements matches element by element, going back to the last ** when it fails. The
// work is bounded by elements times path elements.
func matchElements(elements []string, path string) bool {
	e, rest := 0, path
	backE, backRest := -1, ""
	done := false // rest is used up
	for {
		switch {
		case e == len(elements) && done:
			return true
		case e < len(elements) && elements[e] == "**":
			backE, backRest = e, rest
			e++
			if done && e == len(elements) {
				return true
			}
			continue
		case e < len(elements) && !done:
			element, after, more := strings.Cut(rest, "/")
			if matchName(elements[e], element) {
				e++
				rest, done = after, !more
				continue
			}
		}
		if backE < 0 || backRest == "" {
			return false
		}
		_, after, more := strings.Cut(backRest, "/")
		backRest, rest, done = after, after, !more
		e = backE + 1
		if done {
			backRest = ""
			if e == len(elements) {
				return true
			}
		}
	}
}

// matchName matches one element: * is any text, ? one character.
func matchName(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			n += runeLen(name[n:])
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			from += runeLen(name[from:])
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func runeLen(s string) int {
	n := 1
	for n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	return n
}
