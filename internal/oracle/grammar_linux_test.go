package oracle

import (
	"math/rand/v2"
	"strings"
)

// grammar makes commands. What it makes is allowed about every second time; the rest is
// near to what is allowed.
type grammar struct{ r *rand.Rand }

func (g grammar) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g grammar) chance(percent int) bool    { return g.r.IntN(100) < percent }

// command is a whole text.
func (g grammar) command() string {
	s := g.list(3)
	if g.chance(5) {
		s += g.pick("\n", " # comment", ";", " &", "\n# c\n", " \\\n")
	}
	return s
}

func (g grammar) list(depth int) string {
	s := g.pipeline(depth)
	for g.chance(30) {
		s += g.pick(" && ", " || ", "; ", "\n", ";", "&&") + g.pipeline(depth)
	}
	return s
}

func (g grammar) pipeline(depth int) string {
	s := ""
	if g.chance(4) {
		s = g.pick("! ", "time ", "time -p ")
	}
	s += g.part(depth)
	for g.chance(20) {
		s += g.pick(" | ", "|", " |& ", " |\n") + g.filter(depth)
	}
	return s
}

// filter is often a safe bin, as it is in life.
func (g grammar) filter(depth int) string {
	if g.chance(60) {
		return g.safeBin()
	}
	return g.part(depth)
}

func (g grammar) part(depth int) string {
	if depth > 0 {
		switch n := g.r.IntN(100); {
		case n < 4:
			return "(" + g.list(depth-1) + ")"
		case n < 7:
			return "{ " + g.list(depth-1) + "; }"
		case n < 10:
			return "if " + g.list(depth-1) + "; then " + g.list(depth-1) + g.pick("", "; else "+g.list(depth-1)) + "; fi"
		case n < 13:
			return "for " + g.pick("i", "f", "file", "x_1", "i", "PATH", "IFS", "http_proxy") + " in " + g.args(2) + "; do " + g.list(depth-1) + "; done"
		case n < 15:
			return g.pick("while false", "until true", "until :", "while ! true", "while git; false", "until ls && true", "while true", "while git") + "; do " + g.list(depth-1) + "; done"
		case n < 20:
			return g.pick("sh", "bash", "/bin/sh", "dash", "bash --login", "zsh") + " " + g.pick("-c", "-c", "-lc", "-ic", "-ec", "-c --") + " " + g.quoted(g.list(depth-1)) + g.pick("", "", " a0", " a0 id")
		case n < 22:
			return g.pick("$(", "`", "<(", "eval ", "exec ", "command ", "builtin ", ". ", "source ") + g.simple() + g.pick(")", "`", "", "")
		}
	}
	return g.simple()
}

func (g grammar) simple() string {
	s := ""
	for g.chance(8) {
		s += g.pick("TERM=dumb ", "LANG=C ", "LC_ALL=C ", "NO_COLOR=1 ", "PATH=. ", "LD_PRELOAD=./x.so ", "A=b ", "LANG=$(id) ", "IFS=x ", "BASH_ENV=x.sh ")
	}
	for g.chance(12) {
		s += g.wrapper()
	}
	switch n := g.r.IntN(100); {
	case n < 8:
		s += g.cd()
	case n < 16:
		s += g.safeBin()
	default:
		s += g.program()
		if n := g.r.IntN(4); n > 0 {
			s += " " + g.args(n)
		}
	}
	for g.chance(10) {
		s += g.pick(" 2>&1", " >/dev/null", " 2>/dev/null", " </dev/null", " 1>&2", " > a.txt", " <b.txt", " 2>&-", " &>/dev/null", " <<<x", " 3>&1", " >/dev/null/../x", " >/dev/nul")
	}
	return s
}

func (g grammar) program() string {
	if g.chance(70) {
		return g.spell(g.pick(programsListed...))
	}
	return g.spell(g.pick(programsOther...))
}

// spell writes a name in one of the ways in which a shell reads the same.
func (g grammar) spell(name string) string {
	if g.chance(85) || len(name) < 2 || strings.ContainsAny(name, " $'\"{*?\\") {
		return name
	}
	at := 1 + g.r.IntN(len(name)-1)
	return g.pick(name[:at]+`""`+name[at:], name[:at]+"''"+name[at:], name[:at]+`\`+name[at:], `"`+name+`"`, "'"+name+"'", name[:at]+"\\\n"+name[at:], "$'"+name+"'", name[:at]+"'"+name[at:]+"'")
}

func (g grammar) args(n int) string {
	list := make([]string, 0, n)
	for range n {
		list = append(list, g.arg())
	}
	return strings.Join(list, " ")
}

func (g grammar) arg() string {
	switch n := g.r.IntN(100); {
	case n < 55:
		return g.pick(wordsPlain...)
	case n < 75:
		return g.pick(wordsQuoted...)
	case n < 90:
		return g.pick(wordsExpanded...)
	}
	return g.pick(wordsRefused...)
}

// wrapper is one of P-34's with options: those that are known to be harmless, and others.
func (g grammar) wrapper() string {
	if g.chance(60) {
		return g.pick(wrappersGood...)
	}
	return g.pick(wrappersBad...)
}

func (g grammar) cd() string {
	return g.pick(builtins...)
}

func (g grammar) safeBin() string {
	return g.pick(filters...)
}

// quoted puts a text into quotes.
func (g grammar) quoted(s string) string {
	if g.chance(75) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return `"` + s + `"`
}
