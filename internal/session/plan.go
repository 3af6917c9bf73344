package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"openclaw/internal/protocol"
)

// Plan says what to run. It is plain data, complete: nothing is looked up later.
type Plan struct {
	ID         string // from NewID; unique in the table
	Agent      string // owner (S-1)
	SessionKey string // the owner's conversation, for events
	Host       string // "gateway"
	Command    string // what people are shown
	Steps      []Step // exactly one, a shell and its text; none when Judged is set
	Judged     []byte // an encoded shell.Plan: what was judged, run as it stands (P-60)
	Dir        string // absolute
	Env        []string

	PTY        bool
	Cols, Rows int  // terminal size; 0 = 120x40
	Stdin      bool // keep standard input open
	Streams    bool // stdout and stderr apart

	Background bool          // hand over at once; ends in an event
	Timeout    time.Duration // total life; 0 = none
	Retain     time.Duration // how long to keep it once finished (S-5)
	IdleInput  time.Duration // silence after which it waits for input (S-4)

	LogMaxBytes  int64
	MaxRunning   int   // of this agent
	EndLeftovers bool  // end children that made a session of their own, too
	Notify       bool
	NotifySilent bool  // also for a silent success
	Outlive      bool  // not ended when the program that keeps the table dies (onSupervisorDeath: keep)

	// Record is the caller's own and comes back with the End, unread.
	Record json.RawMessage
}

// Step is one program start: an absolute path and its argv.
type Step struct {
	Path string
	Argv []string
}

func (p *Plan) check() error {
	if p.ID == "" || p.Agent == "" {
		return errors.New("plan without id or agent")
	}
	if strings.ContainsAny(p.ID, "/\\.\x00") { // it is part of file names
		return fmt.Errorf("plan with id %q; use letters, digits and hyphens", p.ID)
	}
	switch {
	case len(p.Judged) > 0 && len(p.Steps) > 0:
		return errors.New("plan with a judged tree and with a shell: only one of them may run")
	case len(p.Judged) > 0:
	case len(p.Steps) != 1:
		return fmt.Errorf("plan with %d steps; one is supported", len(p.Steps))
	case !filepath.IsAbs(p.Steps[0].Path) || len(p.Steps[0].Argv) == 0:
		return fmt.Errorf("plan starts %q, which is not an absolute path with an argv", p.Steps[0].Path)
	}
	if !filepath.IsAbs(p.Dir) {
		return fmt.Errorf("plan with working directory %q, which is not absolute", p.Dir)
	}
	return nil
}

// State is what is known of a session at one moment.
type State struct {
	ID, Agent, SessionKey string
	Key                   string // names it for ever: ids are used again
	Host, Command, Dir    string
	Status                protocol.Status
	Pid                   int
	ExitCode              *int
	Signal                string
	TimedOut              bool
	Started, Ended        time.Time // Ended is zero while it runs
	PTY, Streams          bool
	Background            bool // started in or handed to the background
	StdinOpen             bool
	WaitingForInput       bool
	Bytes                 int64 // output so far, in bytes
	Dropped               int64 // of these, bytes the log no longer holds
	LogPath               string
	Warnings              []string
}

// Finished reports whether the session has ended.
func (s State) Finished() bool { return s.Status != protocol.StatusRunning }

// Snapshot is a state with decoded output: all of a range of it, or head and tail.
type Snapshot struct {
	State
	Output         string
	Stdout, Stderr string // with streams
	Omitted        int64  // bytes of the range that Output leaves out
	Final          bool   // of Run: it waited for the end, of which nobody else is told
}

// End says that a session has ended. Whoever gets it calls Told when it is kept safe;
// until then it is given again to the next program that asks.
type End struct {
	State    State
	Record   json.RawMessage // Plan.Record
	Announce bool            // its owner does not know yet and wants to
	Tail     string          // the last output, when Announce
	Again    bool            // somebody was given it before and may have it safe
}

// Listed is a row of a list: a state with its last output.
type Listed struct {
	State
	Tail string
}

// Counts says how much a table holds.
type Counts struct {
	Running, Finished int
	LogBytes          int64 // size of all logs on disk
}

// Errors that callers tell apart.
var (
	ErrNotFound  = errors.New("no such process session")
	ErrRunning   = errors.New("the process session is still running; use kill or remove")
	ErrFinished  = errors.New("the process session has finished")
	ErrDuplicate = errors.New("session id is taken")
	ErrClosing   = errors.New("shutting down: nothing new is started")
	ErrInput     = errors.New("input that cannot be sent")
	ErrNoTTY     = errors.New("the process session has no terminal; start it with pty: true")
	ErrNoStdin   = errors.New("its standard input is closed; start it with background: true, stdin: true or pty: true to write to it")
)

// LimitError says that too many sessions run.
type LimitError struct {
	Running, Max int
	Agent        string // "" = all agents together
}

// Error names the limit and the way out.
func (e *LimitError) Error() string {
	if e.Agent == "" {
		return fmt.Sprintf("%d process sessions are running, the limit of this machine is %d; end some with process kill", e.Running, e.Max)
	}
	return fmt.Sprintf("agent %s has %d running process sessions, the limit is %d (tools.exec.maxSessions); end some with process kill", e.Agent, e.Running, e.Max)
}
