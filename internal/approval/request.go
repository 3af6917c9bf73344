package approval

import (
	"openclaw/internal/policy"
)

// Kind is what a request is about.
type Kind string

// The kinds (protocol 4.8).
const (
	KindExec   Kind = "exec"
	KindPlugin Kind = "plugin"
)

// Decision is an answer to a request.
type Decision string

// The answers.
const (
	AllowOnce   Decision = "allow-once"
	AllowAlways Decision = "allow-always"
	DenyIt      Decision = "deny"
)

// Allows reports whether the answer lets it run.
func (d Decision) Allows() bool { return d == AllowOnce || d == AllowAlways }

// Status is where a request stands. All but pending are final.
type Status string

// The states (protocol 4.8).
const (
	Pending   Status = "pending"
	Allowed   Status = "allowed"
	Denied    Status = "denied"
	Expired   Status = "expired"
	Cancelled Status = "cancelled"
)

// Reasons of a final state (protocol 4.8).
const (
	ReasonUser    = "user"
	ReasonTimeout = "timeout"
	ReasonAborted = "run-aborted"
	ReasonRestart = "gateway-restart"
)

// Request is what is asked. It does not change once it was asked.
type Request struct {
	Kind       Kind   `json:"kind"`
	Agent      string `json:"agentId"`
	SessionKey string `json:"sessionKey"`
	Credential string `json:"credential,omitempty"` // of the caller
	Origin     string `json:"origin,omitempty"`     // surface it came by

	Command      string   `json:"command"`
	Argv         []string `json:"argv,omitempty"` // when it is one program
	Cwd          string   `json:"cwd,omitempty"`  // all links resolved
	Host         string   `json:"host,omitempty"`
	Node         string   `json:"node,omitempty"`
	ResolvedPath string   `json:"resolvedPath,omitempty"`
	Env          []string `json:"env,omitempty"` // names of the overrides
	Shell        string   `json:"shell,omitempty"`
	Files        []string `json:"files,omitempty"` // bound by content

	Policy      policy.Effective     `json:"policy"`
	Rule        string               `json:"rule,omitempty"`
	Reason      string               `json:"reason,omitempty"` // why it is asked
	Segments    []policy.Segment     `json:"segments,omitempty"`
	Always      []policy.StoredEntry `json:"always,omitempty"`    // what allow-always would store
	AlwaysWhy   string               `json:"alwaysWhy,omitempty"` // why it is not on offer
	Decisions   []Decision           `json:"allowedDecisions"`
	Explanation string               `json:"explanation,omitempty"` // the caller's own words, shown apart

	Plugin *Plugin `json:"plugin,omitempty"`

	// of a request that a client has asked for, which runs its command itself (protocol 4.7)
	Asker     string   `json:"asker,omitempty"` // device or connection
	Reviewers []string `json:"reviewers,omitempty"`
	EnvHash   string   `json:"envHash,omitempty"`

	// Digest names all that is bound and the other parameters: an identical pending request
	// joins the first. "" joins nothing.
	Digest string `json:"digest,omitempty"`
}

// Plugin is the action a plugin request is about.
type Plugin struct {
	ID          string `json:"pluginId,omitempty"`
	Title       string `json:"title"`       // 1 to 80 characters
	Description string `json:"description"` // 1 to 512
	Detail      string `json:"detail,omitempty"`
	Severity    string `json:"severity"` // info, warning or critical
	ToolName    string `json:"toolName,omitempty"`
	ToolCallID  string `json:"toolCallId,omitempty"`
}

// Resolver is who decided.
type Resolver struct {
	Kind string `json:"kind"` // device, channel, runtime or system
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Run is what became of an allowed command.
type Run struct {
	State      string `json:"state"` // starting, running, ended, cancelled or refused
	SessionID  string `json:"sessionId,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Status     string `json:"status,omitempty"` // of the command that ended
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	EndedMs    int64  `json:"endedAtMs,omitempty"`
}

// The states of a Run.
const (
	RunStarting  = "starting"
	RunRunning   = "running"
	RunEnded     = "ended"
	RunCancelled = "cancelled"
	RunRefused   = "refused"
)

// Over reports whether nothing more will become of the command.
func (r *Run) Over() bool {
	return r != nil && (r.State == RunEnded || r.State == RunCancelled || r.State == RunRefused)
}

// Record is a request with its state, as it is kept.
type Record struct {
	ID        string  `json:"id"`   // UUID, or plugin:UUID
	Slug      string  `json:"slug"` // short form for people, a prefix of the id
	Request   Request `json:"request"`
	CreatedMs int64   `json:"createdAtMs"` // Unix time in ms, as are the others
	ExpiresMs int64   `json:"expiresAtMs"`

	Status     Status    `json:"status"`
	Decision   Decision  `json:"decision,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Resolver   *Resolver `json:"resolver,omitempty"`
	ResolvedMs int64     `json:"resolvedAtMs,omitempty"`
	Stored     bool      `json:"stored,omitempty"` // what allow-always promised is in the document
	Run        *Run      `json:"run,omitempty"`
	Detached   bool      `json:"detached,omitempty"` // its caller was answered approval-pending and comes back
}

// Final reports whether the request has been decided or has ended.
func (r *Record) Final() bool { return r.Status != Pending }

// Offers reports whether a decision is on offer.
func (r *Record) Offers(d Decision) bool {
	for _, one := range r.Request.Decisions {
		if one == d {
			return true
		}
	}
	return false
}
