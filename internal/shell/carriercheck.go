package shell

import (
	"path"
	"slices"
	"strings"
)

// checkPlus finds commands of an editor: vim +CMD.
func checkPlus(words []Word) (why string, at int) {
	for i := 1; i < len(words); i++ {
		if strings.HasPrefix(words[i].Text, "+") && strings.Trim(words[i].Text[1:], "0123456789") != "" {
			return "an editor's command may start another program", i
		}
	}
	return "", 0
}

// checkLess finds commands of a pager: less +CMD.
func checkLess(words []Word) (why string, at int) {
	for i := 1; i < len(words); i++ {
		if strings.HasPrefix(words[i].Text, "+") {
			return "a pager's command may start another program", i
		}
	}
	return "", 0
}

// checkMake finds a makefile that comes from standard input, and variables that make
// takes programs from.
func checkMake(words []Word) (why string, at int) {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		if makefileFromInput(text, words[i+1:]) {
			return "make reads its commands from standard input", i
		}
		if strings.HasPrefix(text, "-") {
			continue
		}
		if name, value, ok := strings.Cut(text, "="); ok {
			name = strings.TrimRight(name, ":+?!")
			if name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKE" || name == "MAKEFLAGS" || strings.HasSuffix(name, "!") {
				return "make takes the program it starts from " + name, i
			}
			if strings.ContainsAny(value, "$`;|&") {
				return "a variable given to make holds shell text", i
			}
		}
	}
	return "", 0
}

// makefileFromInput says if an option of make names standard input, or what is no file, as
// the makefile. One that could be the end of a bundle counts.
func makefileFromInput(option string, rest []Word) bool {
	next := len(rest) > 0 && fromInput(rest[0].Text)
	name, value, has := strings.Cut(option, "=")
	switch {
	case strings.HasPrefix(option, "--"):
		long := len(name) > 2 && (strings.HasPrefix("--file", name) || strings.HasPrefix("--makefile", name))
		return long && (has && fromInput(value) || !has && next)
	case strings.HasPrefix(option, "-"):
		_, file, bundled := strings.Cut(option, "f")
		return bundled && file != "" && fromInput(file) || strings.HasSuffix(option, "f") && next
	}
	return name == "MAKEFILES" && has && slices.ContainsFunc(strings.Fields(value), fromInput)
}

// fromInput says if a program's text named so is standard input, or no file's with a content
// of its own; /dev/null holds nothing.
func fromInput(file string) bool {
	return file == "-" || NoFile(file) && path.Clean(file) != "/dev/null"
}

// packageX finds npm's short form of exec. It is a subcommand only where nothing but options
// and their values stand in front: npm install x takes a package of that name.
func packageX(words []Word) (why string, at int) {
	for i := 1; i < len(words); i++ {
		switch option := i > 1 && strings.HasPrefix(words[i-1].Text, "-"); {
		case words[i].Text == "x" || !words[i].Lit: // what it becomes is not known
			return "it starts the program of a package", i
		case !option && !strings.HasPrefix(words[i].Text, "-"):
			return "", 0
		}
	}
	return "", 0
}
