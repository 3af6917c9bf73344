package protocol

// ExecApproval is one request as clients see it (protocol 4.7): an element of
// exec.approval.list, and the payload of exec.approval.requested.
type ExecApproval struct {
	ID           string              `json:"id"`
	Slug         string              `json:"slug,omitempty"` // ours: short form for people
	ApprovalKind string              `json:"approvalKind"`   // "exec" or "plugin"
	Request      ExecApprovalRequest `json:"request"`
	CreatedAtMs  int64               `json:"createdAtMs"` // Unix time in ms
	ExpiresAtMs  int64               `json:"expiresAtMs"`
}

// ExecApprovalRequest is what is asked (protocol 4.7); null means not known.
type ExecApprovalRequest struct {
	Command          string   `json:"command"`
	CommandArgv      []string `json:"commandArgv,omitempty"`
	EnvKeys          []string `json:"envKeys,omitempty"`
	Cwd              *string  `json:"cwd"`
	NodeID           *string  `json:"nodeId"`
	Host             *string  `json:"host"`
	Security         *string  `json:"security"`
	Ask              *string  `json:"ask"`
	WarningText      *string  `json:"warningText"`
	AllowedDecisions []string `json:"allowedDecisions"`
	AgentID          *string  `json:"agentId"`
	ResolvedPath     *string  `json:"resolvedPath"`
	SessionKey       *string  `json:"sessionKey"`

	CommandSpans []CommandSpan `json:"commandSpans,omitempty"`
	Judge        *JudgeNote    `json:"judge,omitempty"` // ours

	// of a plugin's request (protocol 4.9)
	PluginID    *string `json:"pluginId,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Detail      *string `json:"detail,omitempty"`
	Severity    string  `json:"severity,omitempty"`
	ToolName    *string `json:"toolName,omitempty"`
	ToolCallID  *string `json:"toolCallId,omitempty"`
}

// CommandSpan is a part of the command, in bytes.
type CommandSpan struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Kind  string `json:"kind"` // satisfied or missed
	Why   string `json:"why,omitempty"`
}

// JudgeNote says why a person is asked and what their answer would do.
type JudgeNote struct {
	Rule      string        `json:"rule"`
	Reason    string        `json:"reason"`
	Shell     string        `json:"shell,omitempty"`     // runs the text as it stands; "" = each program by itself
	Files     []string      `json:"files,omitempty"`     // bound by content
	Always    []AlwaysEntry `json:"always,omitempty"`    // what allow-always would store
	AlwaysWhy string        `json:"alwaysWhy,omitempty"` // why it is not on offer
	Origin    string        `json:"origin,omitempty"`    // surface the request came by
}

// AlwaysEntry is an allowlist entry.
type AlwaysEntry struct {
	Pattern    string `json:"pattern"`
	ArgPattern string `json:"argPattern,omitempty"`
}

// ExecApprovalResolved is the payload of exec.approval.resolved.
type ExecApprovalResolved struct {
	ID         string              `json:"id"`
	Decision   string              `json:"decision"`
	ResolvedBy *string             `json:"resolvedBy"`
	Ts         int64               `json:"ts"`
	Request    ExecApprovalRequest `json:"request"`
	Status     string              `json:"status,omitempty"` // ours: allowed, denied, expired or cancelled
}

// Kinds of approval events.
const (
	EventApprovalRequested = "exec.approval.requested"
	EventApprovalResolved  = "exec.approval.resolved"
)

// ApprovalSnapshot is a request of either kind with its state (protocol 4.8).
type ApprovalSnapshot struct {
	ID               string            `json:"id"`
	Status           string            `json:"status"`
	Presentation     ApprovalView      `json:"presentation"`
	URLPath          string            `json:"urlPath"`
	CreatedAtMs      int64             `json:"createdAtMs"`
	ExpiresAtMs      int64             `json:"expiresAtMs"`
	SourceSessionKey string            `json:"sourceSessionKey,omitempty"` // while pending
	Decision         string            `json:"decision,omitempty"`
	ResolvedAtMs     int64             `json:"resolvedAtMs,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Source           *ApprovalSource   `json:"source,omitempty"`
	Resolver         *ApprovalResolver `json:"resolver,omitempty"`
	Run              any               `json:"run,omitempty"` // ours: what became of the command
}

// ApprovalView is what people are shown of a request.
type ApprovalView struct {
	Kind             string   `json:"kind"`
	CommandText      string   `json:"commandText,omitempty"`
	CommandPreview   *string  `json:"commandPreview"`
	WarningText      *string  `json:"warningText"`
	Host             *string  `json:"host"`
	NodeID           *string  `json:"nodeId"`
	AgentID          *string  `json:"agentId"`
	AllowedDecisions []string `json:"allowedDecisions"`
	Title            string   `json:"title,omitempty"`
	Description      string   `json:"description,omitempty"`
	Detail           *string  `json:"detail,omitempty"`
	Severity         string   `json:"severity,omitempty"`
}

// ApprovalSource is where a decided request came from.
type ApprovalSource struct {
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
}

// ApprovalResolver is who decided.
type ApprovalResolver struct {
	Kind string `json:"kind"` // device, channel, runtime or system
	ID   string `json:"id,omitempty"`
}

// Question is a request that its caller puts to its own person (A-60b).
type Question struct {
	Approval ExecApproval
	State    string // comes back with the answer; good for one
}
