package shell

import "strings"

// sedProgram reads the programs among sed's arguments. runs says what makes them start
// something, or that they could not be read; writes what makes them write a file.
func sedProgram(words []Word) (runs, writes string, at int) {
	var script []string
	given := false // by -e or -f, so that operands are files
	input := -1    // index of a program that is no file's
	operand := -1
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		name, value, has := strings.Cut(text, "=")
		switch {
		case text == "--":
			if operand < 0 && i+1 < len(words) {
				operand = i + 1
			}
			i = len(words)
		case len(name) > 2 && strings.HasPrefix("--expression", name):
			given = true
			if !has {
				if i++; i < len(words) {
					value = words[i].Text
				}
			}
			script, at = append(script, value), i
		case len(name) > 2 && strings.HasPrefix("--file", name):
			given = true
			if !has {
				if i++; i < len(words) {
					value = words[i].Text
				}
			}
			if fromInput(value) {
				input = i
			}
		case strings.HasPrefix(text, "--"):
			if name == "--line-length" && !has {
				i++
			}
		case len(text) > 1 && text[0] == '-':
			i = sedBundle(words, i, &script, &given, &at, &input)
		case operand < 0:
			operand = i
		}
	}
	if !given && operand >= 0 {
		script, at = append(script, words[operand].Text), operand
	}
	if input >= 0 {
		return "sed reads its program from standard input", "", min(input, len(words)-1)
	}
	p := sedParser{s: strings.Join(script, "\n")}
	p.run()
	return p.runs, p.writes, min(at, len(words)-1)
}

// sedBundle reads a bundle of short options and returns the index of its last word.
func sedBundle(words []Word, i int, script *[]string, given *bool, at, input *int) int {
	text := words[i].Text
	for k := 1; k < len(text); k++ {
		switch text[k] {
		case 'e', 'f', 'l':
			value := text[k+1:]
			if value == "" {
				if i++; i < len(words) {
					value = words[i].Text
				}
			}
			if text[k] != 'l' {
				*given = true
			}
			if text[k] == 'e' {
				*script, *at = append(*script, value), i
			}
			if text[k] == 'f' && fromInput(value) {
				*input = i
			}
			return i
		case 'i': // the rest is the suffix of the copy that is kept
			return i
		}
	}
	return i
}

// sedParser walks a sed program far enough to know which commands are in it.
type sedParser struct {
	s            string
	i            int
	runs, writes string
}

func (p *sedParser) run() {
	for p.runs == "" {
		p.skip(" \t\n;{}")
		if p.i >= len(p.s) {
			return
		}
		if !p.address() || !p.command() {
			p.runs = "this sed program is not understood"
		}
	}
}

func (p *sedParser) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedParser) line() string {
	rest := p.s[p.i:]
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	p.i += len(rest)
	return rest
}

// address reads the addresses in front of a command.
func (p *sedParser) address() bool {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c >= '0' && c <= '9', strings.IndexByte("$,~+! \t", c) >= 0:
			p.i++
		case c == '/':
			p.i++
			if !p.until('/') {
				return false
			}
			p.skip("IM")
		case c == '\\' && p.i+1 < len(p.s):
			delim := p.s[p.i+1]
			p.i += 2
			if delim == '\n' || delim == '\\' || !p.until(delim) {
				return false
			}
			p.skip("IM")
		default:
			return true
		}
	}
	return false
}

// until moves behind the next delimiter that is not escaped. A bracket that holds one is
// read differently by different versions: not understood.
func (p *sedParser) until(delim byte) bool {
	open := false
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '\\':
			p.i++
		case c == delim:
			p.i++
			return !open
		case c == '[':
			open = true
		case c == ']':
			open = false
		}
	}
	return false
}

func (p *sedParser) command() bool {
	c := p.s[p.i]
	p.i++
	switch {
	case strings.IndexByte("{}=dDgGhHnNpPxzF", c) >= 0:
	case strings.IndexByte("lLqQ", c) >= 0:
		p.skip(" \t0123456789")
	case strings.IndexByte("btT:v", c) >= 0:
		start := p.i
		for p.i < len(p.s) && p.s[p.i] != '\n' && p.s[p.i] != ';' {
			p.i++
		}
		// Versions differ in what ends a label.
		return !strings.ContainsAny(strings.TrimSpace(p.s[start:p.i]), " \t}")
	case strings.IndexByte("aic", c) >= 0:
		p.text()
	case c == '#', c == 'r', c == 'R':
		p.line()
	case c == 'w' || c == 'W':
		p.line()
		p.writes = "a sed program writes a file"
	case c == 's':
		return p.substitute()
	case c == 'y':
		return p.pair()
	case c == 'e':
		p.runs = "a sed program runs a command"
	default:
		return false
	}
	return true
}

// text reads the text of a, i and c: to the end of a line without a backslash before it.
func (p *sedParser) text() {
	for p.i < len(p.s) {
		line := p.line()
		if p.i >= len(p.s) || !strings.HasSuffix(line, "\\") {
			return
		}
		p.i++
	}
}

func (p *sedParser) pair() bool {
	if p.i >= len(p.s) || p.s[p.i] == '\n' || p.s[p.i] == '\\' {
		return false
	}
	delim := p.s[p.i]
	p.i++
	return p.until(delim) && p.plainUntil(delim)
}

// plainUntil is until for a text in which brackets mean nothing.
func (p *sedParser) plainUntil(delim byte) bool {
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case delim:
			p.i++
			return true
		}
	}
	return false
}

func (p *sedParser) substitute() bool {
	if !p.pair() {
		return false
	}
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c >= '0' && c <= '9', strings.IndexByte("gpiImM", c) >= 0:
			p.i++
		case c == 'e':
			p.runs = "a sed program runs what it has made (flag e)"
			return true
		case c == 'w':
			p.line()
			p.writes = "a sed program writes a file"
			return true
		default:
			return strings.IndexByte(" \t\n;}#", c) >= 0
		}
	}
	return true
}
