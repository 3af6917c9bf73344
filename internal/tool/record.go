package tool

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/jsonlog"
	"openclaw/internal/protocol"
	"openclaw/internal/redact"
	"openclaw/internal/session"
)

// recorder keeps one record a run: who, from where, where it ran, the decision
// and its rule, exit and duration. Records are written in batches, at most 1 s late.
//
// What is known at the start travels with the plan and comes back with the End, so that
// a run whose daemon died is recorded by the next one, whole.
type recorder struct {
	lines *jsonlog.Log
	path  string
}

// runRecord is one line of the record. Command is shown with secrets masked.
type runRecord struct {
	AtMs       int64           `json:"atMs"`
	SessionID  string          `json:"sessionId,omitempty"`
	Key        string          `json:"key,omitempty"` // session.State.Key
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
	Approval   string          `json:"approval,omitempty"`
	ResolvedBy string          `json:"resolvedBy,omitempty"` // who allowed it
	Status     protocol.Status `json:"status"`
	ExitCode   *int            `json:"exitCode,omitempty"`
	Signal     string          `json:"signal,omitempty"`
	TimedOut   bool            `json:"timedOut,omitempty"`
	DurationMs int64           `json:"durationMs"`
}

// origin is what a plan carries of the record: the rest is in the session's state.
type origin struct {
	Credential string `json:"credential"`
	Origin     string `json:"origin"`
	Decision   string `json:"decision"`
	Rule       string `json:"rule"`
	Approval   string `json:"approval,omitempty"` // id of what a person allowed
	ResolvedBy string `json:"resolvedBy,omitempty"`
	Detached   bool   `json:"detached,omitempty"` // nobody waits for its end
}

func originOf(r *run) json.RawMessage {
	from := origin{
		Credential: r.caller.Credential, Origin: r.caller.Origin,
		Decision: string(r.decision.Outcome), Rule: r.decision.Rule, Detached: r.detached,
	}
	if r.approval != nil {
		from.Approval = r.approval.ID
		if by := r.approval.Resolver; by != nil {
			from.ResolvedBy = cmp.Or(by.Name, by.Kind+":"+by.ID)
		}
	}
	data, err := json.Marshal(from)
	if err != nil { // strings always can be
		return nil
	}
	return data
}

// end writes the record of a session that has ended, under its key.
func (r *recorder) end(e session.End) {
	st := e.State
	from := readOrigin(e)
	// A record that cannot be kept does not stop a full/off run.
	_ = r.lines.AppendKey(runRecord{
		AtMs: st.Started.UnixMilli(), SessionID: st.ID, Key: st.Key, Agent: st.Agent, SessionKey: st.SessionKey,
		Credential: from.Credential, Origin: from.Origin, Host: st.Host, Cwd: st.Dir, Command: redact.Text(st.Command),
		Decision: from.Decision, Rule: from.Rule, Approval: from.Approval, ResolvedBy: from.ResolvedBy, Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal,
		TimedOut: st.TimedOut, DurationMs: ms(duration(st)),
	}, st.Key)
}

func readOrigin(e session.End) (from origin) {
	if json.Unmarshal(e.Record, &from) != nil { // of a version that wrote it otherwise
		return origin{}
	}
	return from
}

// has reports whether the record of a session is in the file: a daemon that died may have
// written it without being able to say so.
func (r *recorder) has(key string) bool {
	f, err := os.Open(r.path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > recentRecords {
		_, _ = f.Seek(-recentRecords, io.SeekEnd) // from the start then, which is only slower
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Key string }
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Key == key {
			return true
		}
	}
	return false
}

// recentRecords is how much of the end of the record is looked at, in bytes.
const recentRecords = 4 << 20

func (r *recorder) denied(run *run, d protocol.Denied) {
	c := run.caller
	_ = r.lines.Append(runRecord{
		AtMs: time.Now().UnixMilli(), Agent: c.Agent, SessionKey: c.SessionKey, Credential: c.Credential, Origin: c.Origin,
		Host: "gateway", Command: redact.Text(run.params.Command), Decision: "deny", Rule: d.Rule, Reason: d.Reason,
		Status: protocol.StatusDenied,
	})
}

// refused records a command that was asked for and did not run.
func (r *recorder) refused(req *approval.Request, reason string) {
	_ = r.lines.Append(runRecord{
		AtMs: time.Now().UnixMilli(), Agent: req.Agent, SessionKey: req.SessionKey, Credential: req.Credential, Origin: req.Origin,
		Host: req.Host, Cwd: req.Cwd, Command: redact.Text(req.Command), Decision: "deny", Rule: "A-11", Reason: reason,
		Status: protocol.StatusDenied,
	})
}

func (r *recorder) close() error { return r.lines.Close() }
