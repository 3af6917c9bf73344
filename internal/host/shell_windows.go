package host

// ChooseShell picks the shell for commands: PowerShell 7 from Program Files,
// ProgramW6432 or PATH, then Windows PowerShell 5.1. The error wraps ErrNoShell.
func ChooseShell(getenv func(string) string, lookPath func(string) (string, error)) (Shell, error) {
	return choosePowerShell(getenv, lookPath, func(path string) bool { return isExecutable(path) == nil })
}

// choosePlainShell is ChooseShell: on Windows nothing is approved.
func choosePlainShell(getenv func(string) string, lookPath func(string) (string, error)) (Shell, error) {
	return ChooseShell(getenv, lookPath)
}
