package tool

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// ListTail is how many characters of output a row of a list carries.
const ListTail = 200

// SessionInfo is a session as one row of a list.
func SessionInfo(st session.Listed) protocol.SessionInfo {
	return protocol.SessionInfo{
		SessionID: st.ID, Name: runName(st.Command), Agent: st.Agent, Status: st.Status, Pid: st.Pid,
		Cwd: st.Dir, Host: st.Host, Command: st.Command, StartedAtMs: st.Started.UnixMilli(), RuntimeMs: ms(duration(st.State)),
		ExitCode: st.ExitCode, Signal: st.Signal, TimedOut: st.TimedOut, Tail: st.Tail, OutputBytes: st.Bytes,
		PTY: st.PTY, WaitingForInput: st.WaitingForInput,
	}
}

// runName derives a short name, verb and target, from a command text. It is a label
// for people, not a reading of the shell.
func runName(command string) string {
	words := strings.Fields(command)
	if len(words) >= 3 && words[0] == "cd" && words[2] == "&&" {
		words = words[3:]
	}
	for len(words) > 1 && (isAssignment(words[0]) || words[0] == "exec" || words[0] == "nohup" || words[0] == "env") {
		words = words[1:]
	}
	if len(words) == 0 {
		return "shell"
	}
	name := path.Base(trimQuotes(words[0]))
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.ContainsAny(w, "|&;<>") {
			name += " " + path.Base(trimQuotes(w))
			break
		}
	}
	if r := []rune(name); len(r) > 32 {
		name = string(r[:31]) + "…"
	}
	return name
}

func trimQuotes(w string) string { return strings.Trim(w, `"'();`) }

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-.\"'$")
}

func stateLine(st session.State) string {
	var text string
	switch {
	case st.Status == protocol.StatusRunning && st.WaitingForInput:
		text = "running, waiting for input"
	case st.Status == protocol.StatusRunning:
		text = "running"
	case st.TimedOut:
		text = "timed out; everything it had started was ended"
	case st.Status == protocol.StatusCompleted && st.Signal != "":
		text = "ended by " + st.Signal
	case st.Status == protocol.StatusCompleted && st.ExitCode != nil:
		text = fmt.Sprintf("completed, exit code %d", *st.ExitCode)
	default:
		text = string(st.Status)
	}
	for _, w := range st.Warnings {
		text += "; " + w
	}
	return "[" + text + "]"
}

func listText(rows []protocol.SessionInfo) string {
	if len(rows) == 0 {
		return "[no process sessions]"
	}
	var b strings.Builder
	for _, r := range rows {
		state := string(r.Status)
		switch {
		case r.WaitingForInput:
			state += ", waiting for input"
		case r.ExitCode != nil:
			state += fmt.Sprintf(", exit code %d", *r.ExitCode)
		case r.Signal != "":
			state += ", " + r.Signal
		}
		fmt.Fprintf(&b, "%s  %s  [%s]  %ds  %s\n", r.SessionID, r.Name, state, r.RuntimeMs/1000, oneLine(r.Command))
	}
	return b.String()
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return s
}

func screenText(sc protocol.Screen) string {
	var b strings.Builder
	last := len(sc.Lines)
	for last > 0 && sc.Lines[last-1] == "" && last-1 > sc.CursorRow {
		last--
	}
	for _, l := range sc.Lines[:last] {
		b.WriteString(l + "\n")
	}
	fmt.Fprintf(&b, "[screen %dx%d, cursor at row %d, column %d]", sc.Cols, sc.Rows, sc.CursorRow, sc.CursorCol)
	return b.String()
}

func isEnvError(err error) bool {
	var e *policy.EnvError
	return errors.As(err, &e)
}
