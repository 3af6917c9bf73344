package cli

import (
	"strings"
	"testing"
)

func TestX15_CommandLinesThatRunCommands(t *testing.T) {
	for line, want := range map[string]bool{
		"openclaw gateway run":               true,
		"/opt/bin/openclaw gateway run -p 0": true,
		"openclaw gateway --port 0 run":      true,
		"openclaw mcp --local":               true,
		"openclaw exec -- ls":                true,
		"openclaw --local exec ls":           true,
		"openclaw":                           false,
		"":                                   false,
		"exec":                               false, // the program's name
		"openclaw gateway":                   false,
		"openclaw status":                    false,
		"openclaw agents token create x":     false,
	} {
		if got := runsCommands(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestX15_ControlGroups(t *testing.T) {
	for list, want := range map[string]bool{
		"0::/system.slice/openclaw-77-ab12/3\n":                   true,
		"0::/openclaw-77-ab12\n":                                  true,
		"12:pids:/a\n0::/user.slice/openclaw-1-2/c\n":             true,
		"0::/user.slice/user-1000.slice/session-2.scope\n":        false,
		"0::/user.slice/app-openclaw-7.scope/my-openclaw-thing\n": false,
		"0::/\n": false,
		"":       false,
	} {
		if got := inOurGroup(list); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
}
