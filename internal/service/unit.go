package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unitName is the systemd unit.
const unitName = "openclaw-gateway.service"

// unitHead and unitTail stand around what differs from one machine to the other.
// KillMode=process is what lets sessions outlive the daemon: they live in a process of
// their own that the daemon started, and a stop must end the daemon alone.
const (
	unitHead = `
[Unit]
Description=OpenClaw gateway: runs shell commands for agents
After=network.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
`
	unitTail = `Restart=on-failure
RestartSec=2
# A wrong command line stays wrong.
RestartPreventExitStatus=2
# Background sessions go on when the daemon ends.
KillMode=process
TimeoutStopSec=30
# The daemon makes control groups for commands below its own.
Delegate=yes

[Install]
WantedBy=default.target
`
)

// UnitText is the systemd user unit for a service. It is an error if the Spec holds
// relative paths or control characters, or the program a quote or a backslash, which
// systemd refuses in that place.
func UnitText(s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	if strings.ContainsAny(s.Program, `"'\`) {
		return "", fmt.Errorf("service definition: systemd runs no program with a quote or a backslash in its path: %s", s.Program)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n%s", s.header("# "), unitHead)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&b, "Environment=%s\n", unitQuote(name+"="+s.Env[name]))
	}
	fmt.Fprintf(&b, "ExecStart=%s\n%s", unitCommand(append([]string{s.Program}, s.Args...)), unitTail)
	return b.String(), nil
}

// unitCommand is a command line for ExecStart. A leading colon turns the replacement of
// $NAME off for the whole line; doubling each $ would not do, since systemd takes the
// program's path as it stands.
func unitCommand(argv []string) string {
	words := make([]string, len(argv))
	prefix := ""
	for i, arg := range argv {
		words[i] = unitQuote(arg)
		if strings.Contains(arg, "$") {
			prefix = ":"
		}
	}
	return prefix + strings.Join(words, " ")
}

// unitQuote writes one word so that systemd reads it back unchanged: specifiers (%h)
// are replaced even within quotes, and a backslash begins an escape.
func unitQuote(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word)
	if word == "" || strings.ContainsAny(word, " \\\"'`$;#") {
		return `"` + word + `"`
	}
	return word
}
