package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/policy"
)

// askParams are those of exec.approval.request (protocol 4.7). The command runs elsewhere:
// only the decision is ours.
type askParams struct {
	ID                   string            `json:"id"`
	Command              string            `json:"command"`
	CommandArgv          []string          `json:"commandArgv"`
	SystemRunPlan        json.RawMessage   `json:"systemRunPlan"`
	Env                  map[string]string `json:"env"`
	Cwd                  *string           `json:"cwd"`
	NodeID               *string           `json:"nodeId"`
	Host                 *string           `json:"host"`
	Security             *string           `json:"security"`
	Ask                  *string           `json:"ask"`
	WarningText          *string           `json:"warningText"`
	Scope                json.RawMessage   `json:"scope"`
	UnavailableDecisions []string          `json:"unavailableDecisions"`
	CommandSpans         json.RawMessage   `json:"commandSpans"`
	AgentID              *string           `json:"agentId"`
	ResolvedPath         *string           `json:"resolvedPath"`
	SessionKey           *string           `json:"sessionKey"`
	SessionID            *string           `json:"sessionId"`
	RunID                *string           `json:"runId"`
	ToolCallID           *string           `json:"toolCallId"`
	TurnSourceChannel    *string           `json:"turnSourceChannel"`
	TurnSourceTo         *string           `json:"turnSourceTo"`
	TurnSourceAccountID  *string           `json:"turnSourceAccountId"`
	TurnSourceThreadID   json.RawMessage   `json:"turnSourceThreadId"`
	ReviewerDevices      []string          `json:"approvalReviewerDeviceIds"`
	RequireRoute         *bool             `json:"requireDeliveryRoute"`
	SuppressDelivery     bool              `json:"suppressDelivery"`
	ClientsOnly          bool              `json:"deliverToApprovalClientsOnly"`
	TimeoutMs            int64             `json:"timeoutMs"`
	TwoPhase             bool              `json:"twoPhase"`
}

var approvalID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// methodAsk asks for a decision on a command that the client runs itself. It answers with
// the decision; with twoPhase at once, and the decision is had by waitDecision.
func (s *server) methodAsk(ctx context.Context, b *backend, p askParams) (any, error) {
	req, err := p.request(ctx)
	if err != nil {
		return nil, err
	}
	reg, err := b.approvals(ctx)
	if err != nil {
		return nil, err
	}
	rec, _, err := reg.Ask(ctx, p.ID, req, nil, time.Duration(p.TimeoutMs)*time.Millisecond)
	if err != nil {
		return nil, approvalError(err)
	}
	route := "approval-client"
	if s.hub.shownTo(connOf(ctx), &rec) == 0 {
		route = "none"
		if p.RequireRoute == nil || *p.RequireRoute {
			if rec, _, err = reg.Refuse(ctx, rec.ID, "no-route"); err != nil {
				return nil, err
			}
		}
	}
	if p.TwoPhase {
		return phased{
			first: accepted{"accepted", rec.ID, route, rec.CreatedMs, rec.ExpiresMs},
			second: func(ctx context.Context) (any, error) {
				return s.methodApprovalWait(ctx, b, approvalParams{ID: rec.ID})
			},
		}, nil
	}
	answer, err := s.methodApprovalWait(ctx, b, approvalParams{ID: rec.ID})
	if ctx.Err() != nil {
		_, _, _ = reg.Cancel(context.WithoutCancel(ctx), rec.ID, approval.ReasonAborted)
	}
	return answer, err
}

// phased is an answer in two responses to one request (protocol 4.7). By /rpc only the first
// is given.
type phased struct {
	first  any
	second func(context.Context) (any, error)
}

// MarshalJSON writes the first.
func (p phased) MarshalJSON() ([]byte, error) { return json.Marshal(p.first) }

// accepted is the first answer of a request in two phases.
type accepted struct {
	Status        string `json:"status"`
	ID            string `json:"id"`
	DeliveryRoute string `json:"deliveryRoute"`
	CreatedAtMs   int64  `json:"createdAtMs"`
	ExpiresAtMs   int64  `json:"expiresAtMs"`
}

func (p *askParams) request(ctx context.Context) (approval.Request, error) {
	switch {
	case p.ID != "" && (!approvalID.MatchString(p.ID) || p.ID == "." || p.ID == ".." || strings.HasPrefix(p.ID, "plugin:")):
		return approval.Request{}, invalid("id has to be 1 to 128 letters, digits, . _ : or -, and not begin with plugin:")
	case p.Command == "" && len(p.CommandArgv) == 0:
		return approval.Request{}, invalid("command is required")
	case str(p.Host) == "node" && str(p.NodeID) == "":
		return approval.Request{}, invalid("nodeId is required for host=node")
	case str(p.Host) == "node":
		return approval.Request{}, invalid("host=node: this version has no nodes")
	case p.TimeoutMs < 0 || p.TimeoutMs > approval.MaxTimeout.Milliseconds():
		return approval.Request{}, invalid("timeoutMs is 1 to %d", approval.MaxTimeout.Milliseconds())
	}
	if p.Command == "" {
		p.Command = strings.Join(p.CommandArgv, " ")
	}
	req := approval.Request{
		Kind: approval.KindExec, Agent: str(p.AgentID), SessionKey: str(p.SessionKey), Origin: "rpc",
		Command: p.Command, Argv: p.CommandArgv, Cwd: str(p.Cwd), Host: str(p.Host), ResolvedPath: str(p.ResolvedPath),
		Reason: str(p.WarningText), Rule: "A-51", Reviewers: p.ReviewerDevices, Decisions: []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DenyIt},
	}
	req.Policy.Security.Value, req.Policy.Ask.Value = policy.Security(str(p.Security)), policy.Ask(str(p.Ask))
	if str(p.Ask) == "always" || slices.Contains(p.UnavailableDecisions, "allow-always") {
		req.Decisions = []approval.Decision{approval.AllowOnce, approval.DenyIt}
	}
	for name := range p.Env {
		req.Env = append(req.Env, name)
	}
	slices.Sort(req.Env)
	req.EnvHash = envHash(p.Env)
	if c := connOf(ctx); c != nil {
		if req.Asker = c.device; req.Asker == "" {
			req.Asker = c.id
		}
	} else {
		req.Asker = "operator"
	}
	return req, nil
}

// envHash names the overrides that a request is bound to (protocol 4.7); "" without any.
func envHash(env map[string]string) string {
	if len(env) == 0 {
		return ""
	}
	pairs := make([][2]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, [2]string{name, value})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	text, err := encode(pairs)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sees reports whether a connection may see a request (protocol 4.7): one of our own exec
// is everybody's who shows approvals; one that a client has asked for is its own
// device's, the named reviewers' and the admins'.
func (c *socketConn) sees(rec *approval.Record) bool {
	asker := rec.Request.Asker
	return c.holds("operator.approvals") && (asker == "" || c.holds("operator.admin") ||
		asker == c.device || asker == c.id || c.device != "" && slices.Contains(rec.Request.Reviewers, c.device))
}

// shownTo counts the connections other than the asker's that show a request to somebody.
func (h *hub) shownTo(asker *socketConn, rec *approval.Record) int {
	n := 0
	for _, c := range h.all() {
		if c != asker && c.showsApprovals() && c.sees(rec) {
			n++
		}
	}
	return n
}
