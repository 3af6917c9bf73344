package host

import (
	"regexp"
	"strings"
)

// nodeDollar is a line that is nothing but a shell variable. In JavaScript $ may stand in
// names, so it counts only if the file has no such name.
var nodeDollar = regexp.MustCompile(`^\s*\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))\s*;?\s*$`)

func nodeSlip(text string, whole bool) (line int, cause string) {
	for i, line := range nodeCode(text) {
		if cause := commonSlip(line); cause != "" {
			return i + 1, cause + "; in JavaScript use console.log, process.env.NAME, or child_process"
		}
		if !line.top || !whole {
			continue // a name may be declared in the part that was not read
		}
		m := nodeDollar.FindStringSubmatch(line.text)
		if m != nil && strings.Count(text, "$"+m[1]+m[2]) <= 1 {
			return i + 1, "$NAME is a shell variable; in JavaScript use process.env.NAME"
		}
	}
	return 0, ""
}

// nodeScan blanks strings, templates, regular expressions and comments.
type nodeScan struct {
	src   string
	pos   int
	lines []codeLine
	cur   strings.Builder
	top   bool
	depth int
	last  string // last word or character of code, to tell a division from a regular expression
}

// nodeCode returns the lines up to the first thing that is not understood.
func nodeCode(src string) []codeLine {
	s := &nodeScan{src: src, top: true}
	if strings.HasPrefix(src, "#!") {
		s.skipLine()
	}
	if s.code(false) {
		s.newline()
	}
	return s.lines
}

func (s *nodeScan) newline() {
	s.lines = append(s.lines, codeLine{s.cur.String(), s.top})
	s.cur.Reset()
	s.top = s.depth == 0
}

func (s *nodeScan) skipLine() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
}

// code reads code up to the end, or, inside a template's ${}, to behind the closing brace.
func (s *nodeScan) code(inTemplate bool) bool {
	outer := s.depth
	for s.pos < len(s.src) {
		c, rest := s.src[s.pos], s.src[s.pos:]
		switch {
		case c == '\n':
			s.newline()
		case strings.HasPrefix(rest, "//"):
			s.skipLine()
			continue
		case strings.HasPrefix(rest, "/*"):
			if !s.until("*/", 2) {
				return false
			}
			continue
		case c == '"' || c == '\'':
			if !s.quoted(c) {
				return false
			}
			continue
		case c == '`':
			if !s.template() {
				return false
			}
			continue
		case c == '/':
			if s.regexpMayStart() {
				if !s.regexp() {
					return false
				}
				continue
			}
			s.put(c)
		case isWordByte(c):
			start := s.pos
			for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
				s.pos++
			}
			s.last = s.src[start:s.pos]
			s.cur.WriteString(s.last)
			continue
		case c == '(' || c == '[' || c == '{':
			s.depth++
			s.put(c)
		case c == ')' || c == ']' || c == '}':
			if inTemplate && s.depth == outer {
				s.pos++
				return c == '}'
			}
			if s.depth > 0 {
				s.depth--
			}
			s.put(c)
		default:
			s.put(c)
		}
		s.pos++
	}
	return !inTemplate
}

func (s *nodeScan) put(c byte) {
	s.cur.WriteByte(c)
	if c > ' ' {
		s.last = string(c)
	}
}

// until skips to behind end; the lines between begin no statement.
func (s *nodeScan) until(end string, from int) bool {
	stop := strings.Index(s.src[s.pos+from:], end)
	if stop < 0 {
		return false
	}
	stop += s.pos + from + len(end)
	for ; s.pos < stop; s.pos++ {
		if s.src[s.pos] == '\n' {
			s.newline()
			s.top = false
		}
	}
	return true
}

func (s *nodeScan) quoted(quote byte) bool {
	s.put(quote)
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case quote:
			s.put(quote)
			s.pos++
			return true
		case '\\':
			s.pos++
			if s.pos < len(s.src) && s.src[s.pos] == '\n' {
				s.newline()
				s.top = false
			}
		case '\n':
			return false
		}
	}
	return false
}

// template reads a template literal with the code in its ${}.
func (s *nodeScan) template() bool {
	s.put('`')
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '`':
			s.put('`')
			s.pos++
			return true
		case c == '\\':
			s.pos++
			if s.pos < len(s.src) && s.src[s.pos] == '\n' {
				s.newline()
				s.top = false
			}
		case c == '\n':
			s.newline()
			s.top = false
		case strings.HasPrefix(s.src[s.pos:], "${"):
			s.pos += 2
			s.depth++
			s.last = "{"
			ok := s.code(true)
			s.depth--
			if !ok {
				return false
			}
			s.pos-- // the loop's step
		}
	}
	return false
}

// regexpMayStart says if a slash here begins a regular expression. After a value it
// divides; after a closing brace nobody can tell without parsing, but a division there is
// far more rare.
func (s *nodeScan) regexpMayStart() bool {
	switch s.last {
	case "", "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "do", "else", "yield", "await":
		return true
	case ")", "]", "\"", "'", "`":
		return false
	}
	return !isWordByte(s.last[0])
}

func (s *nodeScan) regexp() bool {
	class := false
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '[':
			class = true
		case ']':
			class = false
		case '\n':
			return false
		case '/':
			if !class {
				s.pos++
				s.last = "0" // a value
				s.cur.WriteByte('0')
				return true
			}
		}
	}
	return false
}
