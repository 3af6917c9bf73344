package shell

import (
	"strings"
	"sync"
)

// shells are the shells whose -c text is judged in their place (P-34).
const shells = " sh ash bash dash zsh ksh mksh "

// IsShell says if a program of this name is a shell whose -c text can be judged.
func IsShell(name string) bool { return listed(shells, name) }

// bashLike says if a shell reads what this package understands as bash does; the others
// know no $'...', no braces, no time and no |&.
func bashLike(name string) bool { return listed(" bash zsh ksh mksh ", name) }

// IsAnyShell says if a program of this name is a shell of any kind (P-35).
func IsAnyShell(name string) bool { return len(shellIndex().find(name)) > 0 }

var shellIndex = sync.OnceValue(func() nameIndex {
	index := nameIndex{}
	index.add(shells+otherShells+foreignShells, 0)
	return index
})

// shellText finds the text that a shell is given with -c: the index of its word, or -1 and
// why it cannot be walked in the shell's place; why is "" when there is no -c. Known are -c,
// -l and --login, --norc, --noprofile; any other option changes how the text is read or
// run, and a word behind the text would be a positional parameter.
func shellText(words []Word) (at int, why string) {
	login := false
	for i := 1; i < len(words); i++ {
		w := &words[i]
		if !w.Lit {
			return -1, "an option of the shell is not literal"
		}
		switch w.Text {
		case "--login", "--norc", "--noprofile", "-l":
			login = true
			continue
		case "-c", "-lc", "-cl":
		default:
			if login || !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "+") {
				return -1, ""
			}
			return -1, "the shell's option " + w.Text + " is not known to be harmless"
		}
		switch {
		case i+1 >= len(words):
			return -1, "-c has no text"
		case !words[i+1].Lit:
			return -1, "the text of -c is not literal"
		case strings.HasPrefix(words[i+1].Text, "-") || strings.HasPrefix(words[i+1].Text, "+"):
			return -1, "the text of -c looks like an option"
		case i+2 < len(words):
			return -1, "the text of -c gets positional parameters"
		}
		return i + 1, ""
	}
	return -1, ""
}
