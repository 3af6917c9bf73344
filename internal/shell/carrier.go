package shell

import (
	"slices"
	"strings"
	"sync"
)

// Carried says how a program starts another one that its arguments name (P-37).
type Carried struct {
	Why   string // "" = it does not
	Never bool   // no entry satisfies it: it names another user (sudo)
	Code  bool   // counts as inline code under strictInlineEval (P-40)
	At    int    // index of the word that says so
}

// Carrier looks for a program named in the arguments. name is the program's base name.
func Carrier(name string, words []Word) Carried {
	for _, prefix := range loaderPrefixes {
		if strings.HasPrefix(name, prefix) {
			return Carried{Why: alwaysCarries}
		}
	}
	for _, i := range carrierIndex().find(name) {
		if c := carrierTable[i].find(words); c.Why != "" {
			return c
		}
	}
	return Carried{}
}

var carrierIndex = sync.OnceValue(func() nameIndex {
	index := nameIndex{}
	for i := range carrierTable {
		index.add(carrierTable[i].names, i)
	}
	return index
})

func (row *carrierRow) find(words []Word) Carried {
	if row.class != carrierOptions {
		return Carried{Why: row.why, Never: row.class == carrierNever, Code: row.code}
	}
	for i := 1; i < len(words); i++ {
		w := &words[i]
		if !w.Lit {
			if w.MayStartWith('-') || w.MayStartWith('+') || row.check != nil || row.bundled && i == 1 || row.mayBecomeWord(w) {
				return Carried{Why: "an argument that is not literal may become an option that starts a program", At: i}
			}
			continue
		}
		if row.matches(w.Text, i == 1) {
			return Carried{Why: row.why + " (" + shorten(w.Text) + ")", Code: row.code, At: i}
		}
	}
	if row.check == nil {
		return Carried{}
	}
	if why, at := row.check(words); why != "" {
		return Carried{Why: why, Code: row.code, At: at}
	}
	return Carried{}
}

// mayBecomeWord says if an argument that is not literal may become a whole word of the row
// that does not look like an option: go g*.
func (row *carrierRow) mayBecomeWord(w *Word) bool {
	for word := range strings.FieldsSeq(row.words + row.starts) {
		if word[0] != '-' && w.MayStartWith(word[0]) {
			return true
		}
	}
	return false
}

// matches says if one argument is an option of the row. Where an argument could be the
// value of another option too, it counts.
func (row *carrierRow) matches(arg string, first bool) bool {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case listed(row.words, arg), listed(row.words, name):
		return true
	case row.starts != "" && slices.ContainsFunc(strings.Fields(row.starts), func(p string) bool { return strings.HasPrefix(arg, p) }):
		return true
	case abbreviates(row.long, name) && strings.HasPrefix(arg, "--"):
		return true
	case len(arg) > 1 && arg[0] == '-' && arg[1] != '-':
		return strings.ContainsAny(arg[1:], row.short) && row.short != ""
	case first && row.bundled && arg != "" && arg[0] != '-': // tar cIf
		return strings.ContainsAny(arg, row.short)
	}
	return false
}

func shorten(s string) string {
	if name, _, ok := strings.Cut(s, "="); ok {
		s = name
	}
	if len(s) > 40 {
		return s[:40]
	}
	return s
}

// multicall programs are many in one file: a link's name says which (P-37).
const multicall = " busybox toybox coreutils box "

// IsMulticall says if a file of this name holds many programs, picked by the name it is
// called by.
func IsMulticall(name string) bool { return listed(multicall, name) }

// checkGit looks at options in front of git's command and at commands that start what
// they are told to.
func checkGit(words []Word) (why string, at int) {
	i := 1
	for ; i < len(words); i++ {
		text := words[i].Text
		if text == "" || text[0] != '-' {
			break
		}
		name, _, hasValue := strings.Cut(text, "=")
		switch {
		case text == "-c":
			if i++; i >= len(words) || !harmlessGitSetting(words[i].Text) {
				return "git -c may set what git starts", min(i, len(words)-1)
			}
		case listed(gitInfo, text):
			return "", 0
		case listed(gitValueOptions, name):
			if !hasValue {
				i++
			}
		case listed(gitOptions, text):
		default:
			return "git's option " + shorten(text) + " is not known to start nothing", i
		}
	}
	if i >= len(words) {
		return "", 0
	}
	for k := range gitCommands {
		if row := &gitCommands[k]; listed(row.names, words[i].Text) {
			if c := row.find(words[i:]); c.Why != "" {
				return c.Why, i + c.At
			}
		}
	}
	return "", 0
}

// Options and commands of git config: with which it changes nothing or takes a setting
// away, those without and with a value of their own.
const (
	gitReads       = " --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l --unset --unset-all --remove-section "
	gitReadVerbs   = " get list unset remove-section "
	gitConfigFlags = " --global --system --local --worktree --add --append --replace-all --all --bool --int --bool-or-int --bool-or-str --path --expiry-date " +
		"--no-type --includes --no-includes -z --null --name-only --show-origin --show-scope --fixed-value --regexp -- "
	gitConfigValues = " --file -f --blob --type --default --comment --value --url "
)

// checkGitConfig looks for a setting that a later git starts a program from: git config
// alias.x '!id' is git -c in two commands. words[0] is config.
func checkGitConfig(words []Word) (why string, at int) {
	key := ""
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		name, _, has := strings.Cut(text, "=")
		switch {
		case listed(gitReads, text), i == 1 && listed(gitReadVerbs, text):
			return "", 0
		case i == 1 && text == "set", listed(gitConfigFlags, text):
		case listed(gitConfigValues, name):
			if !has {
				i++
			}
		case strings.HasPrefix(text, "-"):
			return "git config's option " + shorten(text) + " is not known to start nothing", i
		case key == "":
			if key = text; strings.IndexByte(key, '.') < 0 { // rename-section and what is to come
				return "git config may set what git starts", i
			}
		case !harmlessGitSetting(key + "=" + text):
			return "git config may set what git starts (" + shorten(key) + ")", i
		}
	}
	return "", 0
}

// harmlessGitSetting says if a -c value is one that starts nothing.
func harmlessGitSetting(setting string) bool {
	key, value, ok := strings.Cut(setting, "=")
	key = strings.ToLower(key)
	if key == "core.pager" || strings.HasPrefix(key, "pager.") {
		return ok && (value == "cat" || value == "" || value == "false")
	}
	if listed(gitSettings, key) {
		return true
	}
	section, _, _ := strings.Cut(key, ".")
	return listed(gitSections, section)
}

// checkSed looks for commands that run something in a sed program (its e command and flag).
func checkSed(words []Word) (why string, at int) {
	runs, _, at := sedProgram(words)
	if runs != "" {
		return runs, at
	}
	return "", 0
}

// SedWrites says if a sed program writes files, which P-40 counts as inline code.
func SedWrites(name string, words []Word) (why string, at int) {
	if !listed(" sed gsed ", name) {
		return "", 0
	}
	for i := range words {
		if !words[i].Lit {
			return "an argument of sed is not literal", i
		}
	}
	_, writes, at := sedProgram(words)
	return writes, at
}

// programFromInput says if an option -f or --file names standard input, or what is no file.
func programFromInput(option string, rest []Word) bool {
	next := len(rest) > 0 && fromInput(rest[0].Text)
	name, value, has := strings.Cut(option, "=")
	switch {
	case len(name) > 2 && strings.HasPrefix("--file", name):
		return has && fromInput(value) || !has && next
	case strings.HasPrefix(option, "-f"):
		return option == "-f" && next || option != "-f" && fromInput(option[2:])
	}
	return false
}

// checkAwk looks for what starts a program or loads code in an awk program. It is wider
// than need be: a | in a pattern counts too.
func checkAwk(words []Word) (why string, at int) {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		if programFromInput(text, words[i+1:]) {
			return "awk reads its program from standard input", i
		}
		if strings.Contains(text, "system") || strings.Contains(text, "@") || strings.Contains(strings.ReplaceAll(text, "||", ""), "|") {
			return "an awk program with system, | or @ may start another program", i
		}
	}
	return "", 0
}
