package mcp

import (
	"fmt"
	"strings"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/redact"
)

// questionText is a request as a client shows it to a person. All that comes from
// outside stands on lines of its own that begin with blanks, with nothing in it that could
// deceive: a client that reads the text as Markdown shows them as code.
func questionText(a *protocol.ExecApproval, now time.Time) string {
	var b strings.Builder
	left := time.UnixMilli(a.ExpiresAtMs).Sub(now).Round(time.Minute)
	fmt.Fprintf(&b, "An agent wants to run this command. Nothing has started, and without an answer within %d minutes nothing will.\n\n", int(left.Minutes()))
	for i, line := range redact.EscapeLines(a.Request.Command) {
		fmt.Fprintf(&b, "    %3d │ %s\n", i+1, line)
	}
	b.WriteString("\n")
	fact := func(name string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			fmt.Fprintf(&b, "    %s: %s\n", name, redact.Escape(text))
		}
	}
	q := &a.Request
	fact("agent", known(q.AgentID))
	fact("directory", known(q.Cwd))
	fact("program", known(q.ResolvedPath))
	fact("environment", q.EnvKeys...)
	if n := q.Judge; n != nil {
		fact("files", n.Files...)
		if n.Shell != "" {
			fact("runs by", n.Shell+" -c, as it stands: what it runs is not looked at again")
		}
		fact("asked because", strings.TrimSpace(n.Reason)+" ("+n.Rule+")")
	}
	for _, w := range redact.Warnings(q.Command) {
		b.WriteString("    ! " + w + "\n")
	}
	return b.String()
}

func known(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
