package inbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"openclaw/internal/protocol"
	"openclaw/internal/redact"
)

// style paints text; without colour it leaves it.
type style struct{ colour bool }

func (s style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) muted(text string) string  { return s.paint("2", text) }
func (s style) warn(text string) string   { return s.paint("33", text) }
func (s style) danger(text string) string { return s.paint("31", text) }

// card is a request as a person reads it, in lines that fit width. Command lines
// beyond maxLines are folded and counted, never cut without a word; 0 folds nothing.
func card(a *protocol.ExecApproval, st style, width, maxLines int, now time.Time) []string {
	width = max(width, 20)
	q := &a.Request
	var out []string
	head := who(a)
	left := remaining(a, now)
	if pad := width - ansi.StringWidth(head) - ansi.StringWidth(left); pad > 0 {
		out = append(out, st.bold(head)+strings.Repeat(" ", pad)+st.muted(left))
	} else {
		out = append(out, wrapped("", head, width)...)
		out = append(out, st.muted(left))
	}
	if q.Judge != nil {
		out = append(out, wrapped("  ", "because "+redact.Escape(strings.TrimSpace(q.Judge.Reason))+" ("+q.Judge.Rule+")", width)...)
	}
	out = append(out, "")
	if q.Title != "" {
		out = append(out, wrapped("  ", redact.Escape(q.Description), width)...)
		if q.Detail != nil {
			out = append(out, command(*q.Detail, st, width, maxLines)...)
		}
	} else {
		out = append(out, command(q.Command, st, width, maxLines)...)
	}
	out = append(out, "")
	for _, f := range facts(q) {
		label := fmt.Sprintf("  %-9s ", f[0])
		lines := wrapped("", redact.Escape(f[1]), width-len(label))
		for i, l := range lines {
			if i > 0 {
				label = strings.Repeat(" ", len(label))
			}
			out = append(out, st.muted(label)+l)
		}
	}
	for _, w := range redact.Warnings(q.Command) {
		for _, l := range wrapped("  ! ", w, width) {
			out = append(out, st.warn(l))
		}
	}
	return out
}

func who(a *protocol.ExecApproval) string {
	q := &a.Request
	agent := text(q.AgentID, "somebody")
	if q.Title != "" {
		return redact.Escape(q.Title) + " (" + agent + ", " + q.Severity + ")"
	}
	where := text(q.Host, "gateway")
	if q.NodeID != nil {
		where = "node " + *q.NodeID
	}
	return redact.Escape(agent) + " wants to run this on " + redact.Escape(where)
}

func text(s *string, fallback string) string {
	if s == nil || *s == "" {
		return fallback
	}
	return *s
}

// remaining is the time that is left, for people.
func remaining(a *protocol.ExecApproval, now time.Time) string {
	left := time.UnixMilli(a.ExpiresAtMs).Sub(now).Round(time.Second)
	if left <= 0 {
		return "time is up"
	}
	return short(left) + " left"
}

func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

// command is the text in numbered lines, each wrapped; a wrapped line goes on behind a
// mark of its own, so that nothing in the text can look like another line.
func command(s string, st style, width, maxLines int) []string {
	lines := redact.EscapeLines(s)
	var out []string
	shown := 0
	for i, line := range lines {
		label := fmt.Sprintf("%5d │ ", i+1)
		for k, part := range wrapped("", line, width-ansi.StringWidth(label)) {
			if maxLines > 0 && shown >= maxLines {
				rest := len(lines) - i
				if k > 0 {
					return append(out, st.warn(fmt.Sprintf("      … line %d goes on, and %d more: v shows all", i+1, rest-1)))
				}
				return append(out, st.warn(fmt.Sprintf("      … %d more lines: v shows all", rest)))
			}
			if k > 0 {
				label = "      ╎ "
			}
			out = append(out, st.muted(label)+part)
			shown++
		}
	}
	return out
}

// facts are what else a person should know.
func facts(q *protocol.ExecApprovalRequest) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("in", text(q.Cwd, ""))
	add("program", text(q.ResolvedPath, ""))
	add("env", strings.Join(q.EnvKeys, ", "))
	if n := q.Judge; n != nil {
		add("files", strings.Join(n.Files, ", "))
		if n.Shell != "" {
			add("runs by", n.Shell+" -c, as it stands: what it runs is not looked at again")
		}
		add("always", always(n))
	}
	if q.Security != nil && q.Ask != nil {
		add("policy", "security="+*q.Security+" ask="+*q.Ask)
	}
	return out
}

// always says in words what an answer "always" would do.
func always(n *protocol.JudgeNote) string {
	if len(n.Always) == 0 {
		if n.AlwaysWhy == "" {
			return ""
		}
		return "not on offer: " + n.AlwaysWhy
	}
	var list []string
	for _, e := range n.Always {
		if !slices.Contains(list, e.Pattern) {
			list = append(list, e.Pattern)
		}
	}
	return "stores " + strings.Join(list, ", ") + " with exactly these arguments, in this directory"
}

// wrapped breaks a line that has been escaped at the width; every line begins with indent.
func wrapped(indent, s string, width int) []string {
	width = max(width-ansi.StringWidth(indent), 8)
	var out []string
	for _, line := range redact.Wrap(s, width) {
		out = append(out, indent+line)
	}
	return out
}
