package tool

import (
	"sync"
	"time"

	"openclaw/internal/jsonlog"
	"openclaw/internal/protocol"
	"openclaw/internal/redact"
	"openclaw/internal/session"
)

// recorder keeps one record a run: who, from where, where it ran, the decision
// and its rule, exit and duration. Records are written in batches, at most 1 s late.
type recorder struct {
	lines *jsonlog.Log

	mu   sync.Mutex // guards open
	open map[string]runRecord
}

// runRecord is one line of the record. Command is shown with secrets masked.
type runRecord struct {
	AtMs       int64           `json:"atMs"`
	SessionID  string          `json:"sessionId,omitempty"`
	Agent      string          `json:"agent"`
	SessionKey string          `json:"sessionKey"`
	Credential string          `json:"credential"`
	Origin     string          `json:"origin"`
	Host       string          `json:"host"`
	Cwd        string          `json:"cwd,omitempty"`
	Command    string          `json:"command"`
	Decision   string          `json:"decision"`
	Rule       string          `json:"rule"`
	Reason     string          `json:"reason,omitempty"`
	Status     protocol.Status `json:"status"`
	ExitCode   *int            `json:"exitCode,omitempty"`
	Signal     string          `json:"signal,omitempty"`
	TimedOut   bool            `json:"timedOut,omitempty"`
	DurationMs int64           `json:"durationMs"`
}

func newRecorder(lines *jsonlog.Log) *recorder {
	return &recorder{lines: lines, open: map[string]runRecord{}}
}

func (r *recorder) entry(run *run) runRecord {
	c := run.caller
	return runRecord{
		AtMs: time.Now().UnixMilli(), Agent: c.Agent, SessionKey: c.SessionKey, Credential: c.Credential,
		Origin: c.Origin, Host: "gateway", Command: run.params.Command,
		Decision: string(run.decision.Outcome), Rule: run.decision.Rule,
	}
}

// begin notes who started a session; the line is written at its end.
func (r *recorder) begin(id string, run *run) {
	e := r.entry(run)
	r.mu.Lock()
	r.open[id] = e
	r.mu.Unlock()
}

// abandon forgets a session that was not started.
func (r *recorder) abandon(id string) {
	r.mu.Lock()
	delete(r.open, id)
	r.mu.Unlock()
}

// end writes the record of a session that has ended.
func (r *recorder) end(st session.State) {
	r.mu.Lock()
	e, ok := r.open[st.ID]
	delete(r.open, st.ID)
	r.mu.Unlock()
	if ok {
		r.write(e, st)
	}
}

// lost writes the record of a session whose daemon died.
func (r *recorder) lost(st session.State) {
	r.write(runRecord{
		AtMs: st.Started.UnixMilli(), Agent: st.Agent, SessionKey: st.SessionKey, Host: st.Host,
		Command: st.Command, Decision: "allow",
	}, st)
}

func (r *recorder) write(e runRecord, st session.State) {
	e.SessionID, e.Cwd, e.Status, e.ExitCode = st.ID, st.Dir, st.Status, st.ExitCode
	e.Signal, e.TimedOut, e.DurationMs = st.Signal, st.TimedOut, ms(duration(st))
	e.Command = redact.Text(e.Command)
	_ = r.lines.Append(e) // a record that cannot be kept does not stop a full/off run
}

func (r *recorder) denied(run *run, d protocol.Denied) {
	e := r.entry(run)
	e.Decision, e.Rule, e.Reason, e.Status = "deny", d.Rule, d.Reason, protocol.StatusDenied
	e.Command = redact.Text(e.Command)
	_ = r.lines.Append(e)
}

func (r *recorder) close() error { return r.lines.Close() }
