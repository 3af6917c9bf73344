package protocol

// Status is the state of a run or of a process session as callers see it.
type Status string

// The states of exec.md "Result" and process.md.
const (
	StatusRunning         Status = "running"          // started and not ended
	StatusCompleted       Status = "completed"        // ended by itself, whatever its exit code
	StatusFailed          Status = "failed"           // could not be started, or ended by a time-out
	StatusKilled          Status = "killed"           // ended by process kill or by shutdown
	StatusLost            Status = "lost"             // its daemon died; the log remains
	StatusApprovalPending Status = "approval-pending" // waits for a person; nothing has started
	StatusDenied          Status = "denied"           // refused; nothing has started
	StatusCancelled       Status = "cancelled"        // its caller went away
)

// ExecResult is the one answer of the exec tool over every interface (exec.md,
// "Result"). Output is decoded text, bounded; the whole is in the session's log.
type ExecResult struct {
	Status     Status       `json:"status"`
	ExitCode   *int         `json:"exitCode,omitempty"` // set when the command ended by itself
	Signal     string       `json:"signal,omitempty"`   // "SIGSEGV": set when a signal ended it
	TimedOut   bool         `json:"timedOut,omitempty"`
	DurationMs int64        `json:"durationMs"`
	Output     *string      `json:"output,omitempty"` // whole or head and tail; set once ended
	Tail       string       `json:"tail,omitempty"`   // last output so far; set while running
	Stdout     *string      `json:"stdout,omitempty"` // with streams: true only
	Stderr     *string      `json:"stderr,omitempty"`
	Truncated  *Truncated   `json:"truncated,omitempty"`
	SessionID  string       `json:"sessionId,omitempty"`
	Pid        int          `json:"pid,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Host       string       `json:"host,omitempty"`
	Node       string       `json:"node,omitempty"`
	Warnings   []string     `json:"warnings,omitempty"`
	Approval   *ApprovalRef `json:"approval,omitempty"`
	Denied     *Denied      `json:"denied,omitempty"`
}

// Truncated says what a result left out and where the rest is.
type Truncated struct {
	OmittedBytes int64  `json:"omittedBytes"`           // bytes not in the result, ours and the log's
	DroppedBytes int64  `json:"droppedBytes,omitempty"` // of these, bytes the log itself no longer has
	LogPath      string `json:"logPath,omitempty"`      // file on the daemon's machine, or a glob of files in order
}

// ApprovalRef names a pending approval.
type ApprovalRef struct {
	ID          string `json:"id"`
	Slug        string `json:"slug,omitempty"`
	ExpiresAtMs int64  `json:"expiresAtMs,omitempty"` // Unix time in ms
	Command     string `json:"command,omitempty"`
}

// Denied is a refusal: which rule, why, and the one thing that would change it (P-12).
type Denied struct {
	Reason string `json:"reason"`
	Rule   string `json:"rule,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// ProcessResult is the answer of every process action; which fields are set
// depends on the action (process.md). SessionID and Status are always set but for list.
type ProcessResult struct {
	SessionID       string         `json:"sessionId,omitempty"`
	Status          Status         `json:"status,omitempty"`
	ExitCode        *int           `json:"exitCode,omitempty"`
	Signal          string         `json:"signal,omitempty"`
	TimedOut        bool           `json:"timedOut,omitempty"`
	DurationMs      int64          `json:"durationMs,omitempty"`
	Output          *string        `json:"output,omitempty"`     // poll and log
	Offset          *int64         `json:"offset,omitempty"`     // log: first line of the page, counted from 0
	TotalLines      *int64         `json:"totalLines,omitempty"` // log
	Truncated       *Truncated     `json:"truncated,omitempty"`
	Written         *int           `json:"written,omitempty"` // write, send-keys, submit, paste: bytes that went in
	WaitingForInput bool           `json:"waitingForInput,omitempty"`
	Sessions        *[]SessionInfo `json:"sessions,omitempty"` // list
	Screen          *Screen        `json:"screen,omitempty"`   // screen
	Warnings        []string       `json:"warnings,omitempty"`
}

// SessionInfo is one row of process list.
type SessionInfo struct {
	SessionID       string `json:"sessionId"`
	Name            string `json:"name"` // verb and target, made from the command
	Agent           string `json:"agent,omitempty"`
	Status          Status `json:"status"`
	Pid             int    `json:"pid,omitempty"`
	Cwd             string `json:"cwd"`
	Host            string `json:"host,omitempty"`
	Command         string `json:"command"`
	StartedAtMs     int64  `json:"startedAtMs"` // Unix time in ms
	RuntimeMs       int64  `json:"runtimeMs"`
	ExitCode        *int   `json:"exitCode,omitempty"`
	Signal          string `json:"signal,omitempty"`
	TimedOut        bool   `json:"timedOut,omitempty"`
	Tail            string `json:"tail,omitempty"`
	OutputBytes     int64  `json:"outputBytes"`
	PTY             bool   `json:"pty,omitempty"`
	WaitingForInput bool   `json:"waitingForInput,omitempty"`
}

// Screen is a PTY's screen as text.
type Screen struct {
	Cols      int      `json:"cols"`
	Rows      int      `json:"rows"`
	Lines     []string `json:"lines"`     // one string a row, trailing blanks cut
	CursorRow int      `json:"cursorRow"` // from 0
	CursorCol int      `json:"cursorCol"`
	Title     string   `json:"title,omitempty"`
	AltScreen bool     `json:"altScreen"`
}
