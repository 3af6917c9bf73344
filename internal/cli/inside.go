package cli

import (
	"slices"
	"strings"

	"openclaw/internal/supervisor"
)

// sessionMarker is in the environment of everything a process session started.
const sessionMarker = "OPENCLAW_PROCESS_SESSION"

// groupPrefix begins the names of the control groups of commands.
const groupPrefix = "openclaw-"

// refuseInside refuses what is the operator's alone, such as to change tokens or to stop
// the gateway, from inside a process session: an agent that can run a command
// could else make itself the operator. It is a guard rail: a program of the same user
// can find another way.
func (e *Env) refuseInside(what string) error {
	if !insideSession(e.Environ) {
		return nil
	}
	return hint("run it in a terminal of your own",
		"%s is refused inside a process session: this program was started by a command that openclaw runs for an agent", what)
}

// insideSession says whether this process descends from a process session. A command
// can take the mark out of its own environment, and replace the shell that has it; then
// its ancestors and its control group still tell.
func insideSession(environ []string) bool { return marked(environ) || startedByUs() }

// runsCommands says whether a command line of this program is of one that starts
// commands for others: gateway run, mcp, exec or a supervisor. Words count wherever they stand, so that
// no flag in between hides them.
func runsCommands(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	has := func(word string) bool { return slices.Contains(argv[1:], word) }
	return has("exec") || has("mcp") || has(supervisor.Role) || has("gateway") && has("run")
}

// inOurGroup says whether the content of /proc/self/cgroup names a group that a gateway
// made for its commands.
func inOurGroup(list string) bool {
	for line := range strings.Lines(list) {
		for part := range strings.SplitSeq(strings.TrimSpace(line), "/") {
			if strings.HasPrefix(part, groupPrefix) {
				return true
			}
		}
	}
	return false
}

func marked(environ []string) bool {
	for _, kv := range environ {
		if strings.HasPrefix(kv, sessionMarker+"=") {
			return true
		}
	}
	return false
}
