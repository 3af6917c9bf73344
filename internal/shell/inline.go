package shell

import (
	"path"
	"strings"
	"sync"
)

// InlineCode finds code on the command line (P-40). words[0] is the program, name its base
// name; piped says that its standard input is another command's output. why is "" when
// there is none, else it says what was found, and at is the index of the word it stands in.
func InlineCode(name string, words []Word) (why string, at int) {
	row := findCode(name)
	if row == nil {
		return "", 0
	}
	s := codeScan{row: row, words: words, sure: true}
	return s.run()
}

// IsInterpreter says if a program of this name runs code that it is given (P-35, P-50).
func IsInterpreter(name string) bool { return findCode(name) != nil }

func findCode(name string) *codeRow {
	if rows := codeIndex().find(name); len(rows) > 0 {
		return &codeTable[rows[0]]
	}
	return nil
}

// nameIndex gives the rows of a table by program name. Every command is looked up in it.
type nameIndex map[string][]int

var codeIndex = sync.OnceValue(func() nameIndex {
	index := nameIndex{}
	for i := range codeTable {
		index.add(codeTable[i].names, i)
	}
	return index
})

func (x nameIndex) add(names string, row int) {
	for name := range strings.FieldsSeq(names) {
		x[name] = append(x[name], row)
	}
}

// variants are the endings by which distributions tell builds of one program apart:
// vim.basic, nc.traditional, busybox-static.
const variants = " basic tiny nox gtk gtk3 athena motif openbsd traditional static real distrib orig exe dbg debug bin "

// find gives the rows of a name, also with a version behind it: python3.12, lua5.4,
// guile-3.0.
func (x nameIndex) find(name string) []int {
	if rows := x[name]; rows != nil {
		return rows
	}
	if dot := strings.IndexAny(name, ".-"); dot > 0 && listed(variants, name[dot+1:]) {
		name = name[:dot]
		if rows := x[name]; rows != nil {
			return rows
		}
	}
	end := len(name)
	for end > 0 && (name[end-1] >= '0' && name[end-1] <= '9' || name[end-1] == '.' || name[end-1] == '-') {
		end--
	}
	return x[name[:end]]
}

// codeScan walks the arguments of one interpreter.
type codeScan struct {
	row     *codeRow
	words   []Word
	sure    bool // every option so far is known, so that the first operand is the script
	quiet   bool // an option was there after which nothing is run: --version
	script  int  // index of the word that names the script file
	given   bool // an option named a script file, so that operands are data
	moduled bool // an option named a module
}

func (s *codeScan) run() (why string, at int) {
	for i := 1; i < len(s.words); i++ {
		if w := &s.words[i]; !w.Lit {
			return "an argument of an interpreter is not literal", i
		}
	}
	options := true
	for i := 1; i < len(s.words); i++ {
		text := s.words[i].Text
		switch {
		case options && text == "--":
			options = false
		case options && len(text) > 1 && (text[0] == '-' || s.row.plus && text[0] == '+'):
			next, why := s.option(i)
			if why != "" {
				return why, i
			}
			i = next
		default:
			if done, why := s.operand(i); done {
				return why, i
			}
		}
	}
	if s.row.stdin && !s.quiet {
		return "it reads its code from standard input", 0
	}
	return "", 0
}

// option reads the option at words[i] and returns the index of its last word.
func (s *codeScan) option(i int) (last int, why string) {
	text, row := s.words[i].Text, s.row
	name, _, hasValue := strings.Cut(text, "=")
	if abbreviates(row.long, name) || listed(row.exact, name) {
		return i, "its option " + name + " takes code"
	}
	switch {
	case listed(row.info, text):
		s.quiet = true
		return i, ""
	case listed(row.longValue, name):
		s.given = s.given || listed(row.scriptOption, name)
		if !hasValue {
			i++
		}
		return i, s.module(name, i)
	case listed(row.known, name):
		return i, ""
	case strings.HasPrefix(text, "--"):
		s.sure = false
		return i, ""
	}
	for k := 1; k < len(text); k++ {
		c := text[k]
		switch {
		case strings.IndexByte(row.short, c) >= 0:
			return i, "its option -" + string(c) + " takes code"
		case strings.IndexByte(row.shortValue, c) >= 0:
			s.given = s.given || listed(row.scriptOption, "-"+string(c))
			if k+1 == len(text) {
				i++
			}
			return i, s.module("-"+string(c), i)
		case strings.IndexByte(row.shortKnown, c) >= 0:
		default:
			s.sure = false
		}
	}
	return i, ""
}

// module checks the value of an option that names a module, which ends the options.
func (s *codeScan) module(option string, i int) string {
	if option != s.row.moduleOption || i >= len(s.words) {
		return ""
	}
	s.moduled = true
	name := s.words[i].Text
	if strings.HasPrefix(name, "-") { // -mtimeit
		name = name[strings.IndexByte(name, option[1])+1:]
	}
	if s.sure && !listed(s.row.codeModules, name) {
		s.quiet = true
		s.words = s.words[:i+1] // what follows is the module's
		return ""
	}
	return "the module " + name + " runs code from its arguments or standard input"
}

// operand reads a word that is no option. done says that nothing behind it matters.
func (s *codeScan) operand(i int) (done bool, why string) {
	row, text := s.row, s.words[i].Text
	switch {
	case text == "-":
		return true, "it reads its code from standard input"
	case listed(row.verbs, text):
		return true, "its command " + text + " takes code"
	case row.operand == operandCode && s.given:
		return false, ""
	case row.operand == operandCode:
		return true, "its first argument is code"
	case row.operand == operandScript && (s.sure || strings.Contains(text, "/")) && NoFile(text):
		return true, "its script " + shorten(text) + " is no file with a content of its own"
	case row.operand == operandScript:
		s.quiet = true // there is a script, so standard input is data
		if s.script == 0 {
			s.script = i
		}
		return s.sure, ""
	}
	return false, ""
}

// NoFile says if a path looks like one whose content is standard input's, or the text of a
// command or environment: it lies in /dev or /proc, or has the last element of such a one,
// since a cd may have gone there.
func NoFile(file string) bool {
	if file == "" {
		return false
	}
	clean := path.Clean(file)
	last := base(clean)
	return strings.HasPrefix(clean, "/dev/") || strings.HasPrefix(clean, "/proc/") ||
		listed(" stdin tty cmdline environ comm ", last) || allDigits(last)
}

// abbreviates says if option is one of the list or the beginning of one, as long options
// may be shortened.
func abbreviates(list, option string) bool {
	if list == "" || len(option) < 3 || strings.IndexByte(option, ' ') >= 0 {
		return false
	}
	return strings.Contains(list, " "+option)
}
