package shell

import "strings"

// loaderOptions make an interpreter run further files before the script; their values are
// looked for where the program pleases.
var loaderOptions = []struct{ names, options string }{
	{" node nodejs iojs bun ts-node tsx babel-node ", " -r --require --import --loader --experimental-loader --preload "},
}

// ScriptFile finds the file that an interpreter or a shell runs. words[0] is the
// program, name its base name. at is the index of the word that names it, 0 = it runs none
// that is named. why says that files are run that cannot all be named.
func ScriptFile(name string, words []Word) (at int, why string) {
	row := findCode(name)
	if row == nil {
		return 0, ""
	}
	for i := 1; i < len(words); i++ {
		if !words[i].Lit {
			return 0, "an argument of an interpreter is not literal"
		}
	}
	for _, l := range loaderOptions {
		if !listed(l.names, name) {
			continue
		}
		for i := 1; i < len(words) && strings.HasPrefix(words[i].Text, "-"); i++ {
			option, _, _ := strings.Cut(words[i].Text, "=")
			if listed(l.options, option) || strings.HasPrefix(option, "-r") {
				return 0, "its option " + option + " loads further files"
			}
		}
	}
	s := codeScan{row: row, words: words, sure: true}
	if found, _ := s.run(); found != "" { // code in argv: bound by that
		return 0, ""
	}
	switch {
	case s.script > 0 && !s.sure:
		return 0, "which of its arguments is the script cannot be told"
	case s.script > 0:
		return s.script, ""
	}
	return 0, ""
}

// Runner is what a package runner does.
type Runner uint8

// The kinds of runners.
const (
	NoRunner     Runner = iota
	RunnerScript        // runs scripts of a package file
	RunnerTool          // runs a package's program, named by a word
	RunnerFile          // runs a script file, named by a word
)

// packageVerbs are commands of package managers that run no script of their own choice.
const packageVerbs = " add audit bin cache ci config create dedupe docs fund help i import info init install link list login logout ls outdated owner pack ping " +
	"prefix prune publish rebuild remove repo root search set store unlink uninstall update upgrade version view whoami why --version --help -v -h "

// PackageRunner says if the words are a package runner and which word names what it runs.
func PackageRunner(name string, words []Word) (kind Runner, at int) {
	switch name {
	case "npx", "bunx", "pnpx":
		return RunnerTool, firstOperand(words, 1)
	case "npm", "pnpm", "yarn", "bun":
	default:
		return NoRunner, 0
	}
	verb := firstOperand(words, 1)
	if verb == 0 || !words[verb].Lit {
		return NoRunner, 0
	}
	switch v := words[verb].Text; {
	case v == "exec" || v == "x" || v == "dlx":
		return RunnerTool, firstOperand(words, verb+1)
	case v == "node" && name != "npm":
		return RunnerFile, firstOperand(words, verb+1)
	case v == "run" || v == "run-script" || v == "start" || v == "stop" || v == "test" || v == "t" || v == "restart":
		return RunnerScript, verb
	case name == "bun" && strings.ContainsAny(v, "./"):
		return RunnerFile, verb
	case listed(packageVerbs, v) || name == "npm":
		return NoRunner, 0
	}
	return RunnerScript, verb
}

// firstOperand is the first word from i on that is no option, 0 = none.
func firstOperand(words []Word, i int) int {
	for ; i < len(words); i++ {
		if !strings.HasPrefix(words[i].Text, "-") {
			return i
		}
		if words[i].Text == "--" && i+1 < len(words) {
			return i + 1
		}
	}
	return 0
}
