package shell

import (
	"strings"
	"sync"
)

// loaderOptions make an interpreter run further files before the script; their values are
// looked for where the program pleases.
var loaderOptions = []struct{ names, options, prefix string }{
	{" node nodejs iojs bun ts-node tsx babel-node ", " -r --require --import --loader --experimental-loader --preload ", "-r"},
	{shells + otherShells, " --rcfile --init-file ", ""},
}

// fileOptions name the script itself. flags are letters that may stand before the option's
// own in a bundle: sed -nf x.
var fileOptions = []struct{ names, letters, flags, long string }{
	{" awk gawk mawk nawk original-awk bwk ", "fEi", "", " --file --exec --include "},
	{" sed gsed ", "f", "nErsuz", " --file "},
	{" php php-cgi hhvm ", "fF", "aChHlmnqvw", " --file --process-file "},
	{" R ", "f", "", " --file "},
	{" guile ", "sl", "", ""},
	{" julia ", "L", "iq", " --load "},
	{" racket gracket ", "tfru", "", " --require --load --script "},
}

var fileOptionIndex = sync.OnceValue(func() nameIndex {
	index := nameIndex{}
	for i := range fileOptions {
		index.add(fileOptions[i].names, i)
	}
	return index
})

// ScriptFiles finds the files that an interpreter or a shell is given to run.
// words[0] is the program, name its base name. why says that files are run that cannot all
// be named.
func ScriptFiles(name string, words []Word) (files []string, why string) {
	row, options := findCode(name), fileOptionIndex().find(name)
	if row == nil && len(options) == 0 {
		return nil, ""
	}
	for i := 1; i < len(words); i++ {
		if !words[i].Lit {
			return nil, "an argument of an interpreter is not literal"
		}
	}
	for _, l := range loaderOptions {
		if !listed(l.names, name) {
			continue
		}
		for i := 1; i < len(words) && strings.HasPrefix(words[i].Text, "-"); i++ {
			option, _, _ := strings.Cut(words[i].Text, "=")
			if listed(l.options, option) || l.prefix != "" && strings.HasPrefix(option, l.prefix) {
				return nil, "its option " + option + " loads further files"
			}
		}
	}
	for _, o := range options {
		files = append(files, namedByOption(o, words)...)
	}
	if row == nil {
		return files, ""
	}
	s := codeScan{row: row, words: words, sure: true}
	if found, _ := s.run(); found != "" { // code in argv: bound by that
		return files, ""
	}
	switch {
	case s.script > 0 && !s.sure:
		return nil, "which of its arguments is the script cannot be told"
	case s.script > 0:
		files = append(files, words[s.script].Text)
	}
	return files, ""
}

// namedByOption gives the values of options that name a script. A word that only looks like
// one, because it is another's value, counts: one file more is bound.
func namedByOption(row int, words []Word) (files []string) {
	o := &fileOptions[row]
	for i := 1; i < len(words) && words[i].Text != "--"; i++ {
		text, value, has := words[i].Text, "", false
		switch {
		case len(text) < 2 || text[0] != '-':
			continue
		case text[1] == '-':
			name, v, cut := strings.Cut(text, "=")
			if !abbreviates(o.long, name) {
				continue
			}
			value, has = v, cut
		default:
			k := 1
			for k < len(text) && strings.IndexByte(o.flags, text[k]) >= 0 {
				k++
			}
			if k == len(text) || strings.IndexByte(o.letters, text[k]) < 0 {
				continue
			}
			value, has = text[k+1:], k+1 < len(text)
		}
		if !has && i+1 < len(words) {
			value = words[i+1].Text
		}
		if value != "" && value != "-" {
			files = append(files, value)
		}
	}
	return files
}

// CompletesNames says if an interpreter of this name tries further endings when the script
// it is given is not there.
func CompletesNames(name string) bool { return listed(" node nodejs iojs ", name) }

// RunsModule says if an interpreter is given a module by name, which it looks for in the
// directory first: which file that is cannot be told from the words.
func RunsModule(name string, words []Word) bool {
	row := findCode(name)
	if row == nil || row.moduleOption == "" {
		return false
	}
	s := codeScan{row: row, words: words, sure: true}
	_, _ = s.run()
	return s.moduled
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
