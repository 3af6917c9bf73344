package cli

import "strings"

// quote makes one word of PowerShell's text out of an argument. Inside single quotes
// only the quote itself is special; PowerShell takes typographic ones for it too.
func quote(arg string) string {
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(arg) + "'"
}

// commandText makes the shell's text out of arguments: a single one is that text
// already, several are a program, called with &, and its words.
func commandText(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = quote(arg)
	}
	return "& " + strings.Join(words, " ")
}
