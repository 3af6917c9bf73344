//go:build unix

package cli

import "strings"

// plain are the characters that no shell treats specially anywhere in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"

// quote makes one word of a shell's text out of an argument.
func quote(arg string) string {
	// --flag=value stays as people write it; NAME=value in front would be an assignment.
	safe := plain
	if strings.HasPrefix(arg, "-") {
		safe += "="
	}
	if arg != "" && strings.Trim(arg, safe) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// commandText makes the shell's text out of arguments: a single one is that text
// already, several are one word each.
func commandText(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = quote(arg)
	}
	return strings.Join(words, " ")
}
