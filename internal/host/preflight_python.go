package host

import (
	"regexp"
	"strings"
)

// pythonDollar is shell's use of $. Python has no $ outside strings and comments at all,
// so what is found here never ran.
var pythonDollar = regexp.MustCompile(`\$(?:\{[A-Za-z_]|\(|[A-Za-z_0-9@#?*])`)

func pythonSlip(text string, _ bool) (line int, cause string) {
	for i, line := range pythonCode(text) {
		if cause := commonSlip(line); cause != "" {
			return i + 1, cause + `; in Python use print(), os.environ["NAME"], or subprocess`
		}
		if at := pythonDollar.FindString(line.text); at != "" {
			if strings.HasPrefix(at, "$(") {
				return i + 1, "$(...) is a shell command substitution; in Python use subprocess.run"
			}
			return i + 1, `$NAME is a shell variable; in Python use os.environ["NAME"]`
		}
	}
	return 0, ""
}

// pythonScan blanks strings and comments.
type pythonScan struct {
	src   string
	pos   int
	lines []codeLine
	cur   strings.Builder
	top   bool
	depth int // open brackets
}

// pythonCode returns the lines up to the first thing that is not understood (a string that
// does not end): after it code and string could be taken for each other.
func pythonCode(src string) []codeLine {
	s := &pythonScan{src: src, top: true}
	if s.code(false) {
		s.newline(false)
	}
	return s.lines
}

func (s *pythonScan) newline(continued bool) {
	s.lines = append(s.lines, codeLine{s.cur.String(), s.top})
	s.cur.Reset()
	s.top = s.depth == 0 && !continued
}

// code reads code up to the end, or, inside an f-string's braces, up to their end. false =
// not understood.
func (s *pythonScan) code(inField bool) bool {
	outer := s.depth
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '\n':
			s.pos++
			s.newline(s.pos >= 2 && s.src[s.pos-2] == '\\')
			continue
		case c == '#':
			for s.pos < len(s.src) && s.src[s.pos] != '\n' {
				s.pos++
			}
			continue
		case c == '"' || c == '\'':
			if !s.quoted(c) {
				return false
			}
			continue
		case c == '(' || c == '[' || c == '{':
			s.depth++
		case c == ')' || c == ']' || c == '}':
			if inField && s.depth == outer {
				return c == '}' // the caller takes the brace
			}
			if s.depth > 0 {
				s.depth--
			}
		case inField && s.depth == outer && (c == ':' || c == '!' && !strings.HasPrefix(s.src[s.pos:], "!=")):
			return s.formatSpec()
		}
		s.cur.WriteByte(c)
		s.pos++
	}
	return !inField
}

// formatSpec reads what stands behind ":" or "!" in an f-string's braces.
func (s *pythonScan) formatSpec() bool {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case '}':
			return true
		case '{':
			s.pos++
			if !s.code(true) {
				return false
			}
		case '\n', '"', '\'':
			return false
		}
		s.pos++
	}
	return false
}

// quoted reads a string, from its first quote to behind its last.
func (s *pythonScan) quoted(quote byte) bool {
	prefix := strings.ToLower(s.prefix())
	end := string(quote)
	if strings.HasPrefix(s.src[s.pos:], strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	s.pos += len(end)
	s.cur.WriteByte(quote)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case strings.HasPrefix(s.src[s.pos:], end):
			s.pos += len(end)
			s.cur.WriteByte(quote)
			return true
		case c == '\\':
			s.pos++ // in a raw string, too, a backslash keeps the next quote inside
			if s.pos < len(s.src) && s.src[s.pos] == '\n' {
				s.insideNewline()
			}
		case c == '\n':
			if len(end) == 1 {
				return false
			}
			s.insideNewline()
		case c == '{' && strings.ContainsAny(prefix, "ft"):
			if strings.HasPrefix(s.src[s.pos:], "{{") {
				s.pos++
				break
			}
			s.pos++
			s.depth++
			ok := s.code(true)
			s.depth--
			if !ok {
				return false
			}
		}
		s.pos++
	}
	return false
}

// insideNewline ends a line within a string: the next one begins no statement.
func (s *pythonScan) insideNewline() {
	s.newline(true)
}

// prefix is the letters right before a quote (r, b, f, u, t and pairs).
func (s *pythonScan) prefix() string {
	start := s.pos
	for start > 0 && strings.IndexByte("rbfutRBFUT", s.src[start-1]) >= 0 {
		start--
	}
	if s.pos-start > 2 || start > 0 && isWordByte(s.src[start-1]) {
		return ""
	}
	return s.src[start:s.pos]
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
