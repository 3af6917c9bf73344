package shell

import "strings"

// Builtins of bash 5.3 and before (P-22, P-23). A name that stands here never means a
// program in shell text, unless it is in builtinPrograms.
const (
	// builtinHarmless start nothing and change nothing but the directory (P-23).
	builtinHarmless = " : true false pwd cd "
	// builtinPrograms exist as programs too and are run as those (P-23).
	builtinPrograms = " echo printf test [ kill "
	// builtinOthers are a miss always.
	builtinOthers = " . alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown " +
		"enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray " +
		"readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait "
	// builtinCode are those that run text they are given, for P-40.
	builtinCode = " eval trap alias compgen complete mapfile readarray fc bind enable "
)

// BuiltinKind says what a bare name is to bash.
type BuiltinKind uint8

// The kinds of P-22 and P-23.
const (
	NotBuiltin BuiltinKind = iota
	BuiltinHarmless
	BuiltinProgram // judged and run as the program of that name
	BuiltinOther   // never satisfied
)

// Builtin says what bash makes of a bare name in command position.
func Builtin(name string) BuiltinKind {
	switch {
	case listed(builtinHarmless, name):
		return BuiltinHarmless
	case listed(builtinPrograms, name):
		return BuiltinProgram
	case listed(builtinOthers, name):
		return BuiltinOther
	}
	return NotBuiltin
}

// BuiltinRunsCode says if the builtin runs text from its arguments.
func BuiltinRunsCode(name string) bool { return listed(builtinCode, name) }

// BuiltinOnly says why the arguments make a builtin that exists as a program too do what
// the program cannot (P-23); "" = they do not.
func BuiltinOnly(name string, args []Word) string {
	switch name {
	case "test", "[":
		for _, a := range args {
			if a.Lit && (a.Text == "-v" || a.Text == "-R" || a.Text == "-o") {
				return "only bash's own " + name + " has " + a.Text
			}
		}
	case "printf":
		if len(args) > 0 && args[0].Lit && strings.HasPrefix(args[0].Text, "-v") {
			return "only bash's own printf has -v, which sets a variable"
		}
	case "kill":
		for _, a := range args {
			if a.Lit && strings.HasPrefix(a.Text, "%") {
				return "only bash's own kill knows jobs"
			}
		}
	}
	return ""
}

// IsCommandV says if the words are exactly command -v NAME, which starts nothing (P-22).
func IsCommandV(words []Word) bool {
	return len(words) == 3 && words[0].Lit && words[0].Text == "command" && words[1].Lit && words[1].Text == "-v" &&
		words[2].Lit && words[2].Text != "" && words[2].Text[0] != '-'
}

// listed looks for a word in a list that has a blank before and behind each.
func listed(list, word string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for i := 0; ; {
		at := strings.Index(list[i:], word)
		if at < 0 {
			return false
		}
		at += i
		if list[at-1] == ' ' && list[at+len(word)] == ' ' {
			return true
		}
		i = at + 1
	}
}
