package tool

import (
	"fmt"
	"strings"

	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// execResult is the answer of a command that was started.
func execResult(r *run, launch *host.Launch, snap session.Snapshot) *protocol.ToolResult {
	d := &protocol.ExecResult{
		Status: snap.Status, ExitCode: snap.ExitCode, Signal: snap.Signal, TimedOut: snap.TimedOut,
		DurationMs: ms(duration(snap.State)), SessionID: snap.ID, Pid: snap.Pid, Cwd: launch.Dir, Host: snap.Host,
		Warnings: append(r.warnings, snap.Warnings...),
	}
	if snap.Finished() {
		d.Output = &snap.Output
		if snap.Streams {
			d.Stdout, d.Stderr = &snap.Stdout, &snap.Stderr
		}
		d.Truncated = truncated(snap)
		return &protocol.ToolResult{Content: protocol.Text(execText(r, d)), Details: d}
	}
	d.Tail = snap.Output
	return &protocol.ToolResult{Content: protocol.Text(execText(r, d)), Details: d}
}

func truncated(snap session.Snapshot) *protocol.Truncated {
	if snap.Omitted == 0 {
		return nil
	}
	return &protocol.Truncated{OmittedBytes: snap.Omitted, DroppedBytes: snap.Dropped, LogPath: snap.LogPath}
}

// execText is the short form for models: output first, then one status line when it
// says something.
func execText(r *run, d *protocol.ExecResult) string {
	var b strings.Builder
	switch {
	case d.Output != nil && d.Stdout != nil && *d.Stderr != "":
		b.WriteString(section(*d.Stdout) + "[stderr]\n" + *d.Stderr)
	case d.Output != nil:
		b.WriteString(*d.Output)
	default:
		b.WriteString(d.Tail)
	}
	if line := statusLine(r, d); line != "" {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

func section(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func statusLine(r *run, d *protocol.ExecResult) string {
	var parts []string
	switch {
	case d.Status == protocol.StatusRunning:
		parts = append(parts, fmt.Sprintf("still running in the background: sessionId %s, pid %d", d.SessionID, d.Pid))
	case d.TimedOut:
		parts = append(parts, fmt.Sprintf("timed out after %s; everything it had started was ended", r.timeoutText()))
	case d.Status == protocol.StatusCancelled:
		parts = append(parts, "cancelled; everything it had started was ended")
	case d.Status == protocol.StatusKilled:
		parts = append(parts, "killed")
	case d.Signal != "":
		parts = append(parts, "ended by "+d.Signal)
	case d.ExitCode != nil && *d.ExitCode != 0:
		parts = append(parts, fmt.Sprintf("exit code %d", *d.ExitCode))
	case d.Output != nil && *d.Output == "":
		parts = append(parts, "no output, exit code 0")
	}
	if d.Truncated != nil {
		parts = append(parts, fmt.Sprintf("output was cut: %d bytes are only in the log, read them with process log, sessionId %s", d.Truncated.OmittedBytes, d.SessionID))
	}
	parts = append(parts, d.Warnings...)
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

func (r *run) timeoutText() string { return timeoutOf(r.params, r.settings).String() }

// denied is a refusal: nothing has started. It is recorded like a run.
func (s *Service) denied(r *run, d protocol.Denied, dry bool) *protocol.ToolResult {
	if dry {
		decision := policy.Decision{Outcome: policy.OutcomeDeny, Rule: d.Rule, Reason: d.Reason, Hint: d.Hint}
		return dryRun(decision)
	}
	s.record.denied(r, d)
	res := &protocol.ExecResult{Status: protocol.StatusDenied, Host: "gateway", Denied: &d, Warnings: r.warnings}
	text := fmt.Sprintf("[refused: %s (%s); the command did not run and there is no output", d.Reason, d.Rule)
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	return &protocol.ToolResult{Content: protocol.Text(text + "]"), Details: res}
}

// dryRun answers with the decision alone (P-12).
func dryRun(d policy.Decision) *protocol.ToolResult {
	text := fmt.Sprintf("[%s: %s (%s)]", d.Outcome, d.Reason, d.Rule)
	return &protocol.ToolResult{Content: protocol.Text(text), Details: &d}
}
