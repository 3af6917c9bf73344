//go:build !windows

package host

// ChooseShell picks the shell for commands: $SHELL when it is absolute, executable
// and one of sh, ash, bash, dash, zsh, ksh; else bash, else sh, from lookPath; else
// $SHELL itself. lookPath resolves a bare name, and answers for an absolute path if that
// is an executable file. The error wraps ErrNoShell.
func ChooseShell(getenv func(string) string, lookPath func(string) (string, error)) (Shell, error) {
	return choosePOSIX(getenv, lookPath)
}

// choosePlainShell picks the shell for approved text (P-61).
func choosePlainShell(_ func(string) string, lookPath func(string) (string, error)) (Shell, error) {
	return plainShell(lookPath)
}
