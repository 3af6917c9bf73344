package cli

import "os"

// restartSignals: Windows has no such thing.
var restartSignals []os.Signal

// askEnd says that there is no way to ask: a process could only be cut off.
func askEnd(*os.Process) error {
	return hint("press Ctrl-C in the window where it runs", "one program cannot ask another to end in order on Windows")
}

// askRestart says that there is no way to ask.
func askRestart(*os.Process) error {
	return hint("press Ctrl-C in the window where it runs, then start it again: openclaw gateway run",
		"one program cannot ask another to begin anew on Windows")
}

// gone is not known here; the daemon's lock says it.
func gone(*os.Process) bool { return false }

// become is never reached: nothing asks for it.
func become(string, []string, []string) error { return askRestart(nil) }
