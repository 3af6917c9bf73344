package cli

import (
	"strings"
)

// sessionMarker is in the environment of everything a process session started.
const sessionMarker = "OPENCLAW_PROCESS_SESSION"

// guardTokens refuses to change tokens from inside a process session: an agent
// that can run a command could else make itself the operator. It is a guard rail: a
// program of the same user can find another way.
func (e *Env) guardTokens(what string) error {
	if !insideSession(e.Environ) {
		return nil
	}
	return hint("run it in a terminal of your own",
		"%s is refused inside a process session: this program was started by a command that openclaw runs for an agent", what)
}

// insideSession says whether this process descends from a process session. A command
// can take the mark out of its own environment, not out of what its parents were
// started with.
func insideSession(environ []string) bool { return marked(environ) || markedAncestor() }

func marked(environ []string) bool {
	for _, kv := range environ {
		if strings.HasPrefix(kv, sessionMarker+"=") {
			return true
		}
	}
	return false
}
