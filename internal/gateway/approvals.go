package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
)

// approvalMethods are those of people who decide.
func approvalMethods() map[string]method {
	return map[string]method{
		"exec.approval.request":        with((*server).methodAsk),
		"exec.approval.list":           with((*server).methodApprovalList),
		"exec.approval.get":            with((*server).methodApprovalGet),
		"exec.approval.resolve":        with((*server).methodApprovalResolve),
		"exec.approval.waitDecision":   with((*server).methodApprovalWait),
		"approval.get":                 with((*server).methodSnapshot),
		"approval.resolve":             with((*server).methodResolveAny),
		"approval.history":             with((*server).methodHistory),
		"plugin.approval.request":      with((*server).methodPluginRequest),
		"plugin.approval.list":         with((*server).methodPluginList),
		"plugin.approval.resolve":      with((*server).methodApprovalResolve),
		"plugin.approval.waitDecision": with((*server).methodApprovalWait),
		"exec.approvals.get":           with((*server).methodDocumentGet),
		"exec.approvals.set":           with((*server).methodDocumentSet),
	}
}

type approvalParams struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Decision string `json:"decision"`
	Reviewer string `json:"reviewer"`
}

// visible finds a request that the caller may see.
func (b *backend) visible(ctx context.Context, id string) (*approval.Registry, approval.Record, error) {
	reg, err := b.approvals(ctx)
	if err != nil {
		return nil, approval.Record{}, err
	}
	rec, err := reg.Get(id)
	if c := connOf(ctx); err == nil && c != nil && !c.sees(&rec) {
		err = fmt.Errorf("%w: %q", approval.ErrUnknown, id)
	}
	return reg, rec, err
}

func pendingOf(b *backend, ctx context.Context, kind approval.Kind) ([]protocol.ExecApproval, error) {
	reg, err := b.approvals(ctx)
	if err != nil {
		return nil, err
	}
	out := []protocol.ExecApproval{}
	for _, rec := range reg.Pending() {
		if c := connOf(ctx); rec.Request.Kind == kind && (c == nil || c.sees(&rec)) {
			out = append(out, rec.Wire())
		}
	}
	return out, nil
}

func (s *server) methodApprovalList(ctx context.Context, b *backend, _ none) (any, error) {
	return pendingOf(b, ctx, approval.KindExec)
}

func (s *server) methodPluginList(ctx context.Context, b *backend, _ none) (any, error) {
	return pendingOf(b, ctx, approval.KindPlugin)
}

func (s *server) methodApprovalGet(ctx context.Context, b *backend, p approvalParams) (any, error) {
	_, rec, err := b.visible(ctx, p.ID)
	if err == nil && rec.Final() {
		err = approval.ErrUnknown
	}
	if err != nil {
		return nil, approvalError(err)
	}
	view := rec.Snapshot().Presentation
	return struct {
		ID               string   `json:"id"`
		CommandText      string   `json:"commandText"`
		CommandPreview   *string  `json:"commandPreview"`
		AllowedDecisions []string `json:"allowedDecisions"`
		Host             *string  `json:"host"`
		NodeID           *string  `json:"nodeId"`
		AgentID          *string  `json:"agentId"`
		ExpiresAtMs      int64    `json:"expiresAtMs"`
	}{rec.ID, view.CommandText, nil, view.AllowedDecisions, view.Host, view.NodeID, view.AgentID, rec.ExpiresMs}, nil
}

// resolver is who decides: the client of the socket, or the operator by /rpc.
func resolver(ctx context.Context, name string) approval.Resolver {
	by := approval.Resolver{Kind: "device", ID: "operator", Name: clip(name)}
	if c := connOf(ctx); c != nil {
		if c.device != "" {
			by.ID = c.device
		}
		by.Name = clip(cmp.Or(c.client.DisplayName, c.client.ID)) // what it says of itself, not of others
	}
	if by.Name == "" {
		by.Name = "operator"
	}
	return by
}

func (s *server) methodApprovalResolve(ctx context.Context, b *backend, p approvalParams) (any, error) {
	reg, rec, err := b.visible(ctx, p.ID)
	if err != nil {
		return nil, approvalError(err)
	}
	if _, _, err := reg.Resolve(ctx, rec.ID, approval.Decision(p.Decision), resolver(ctx, p.Reviewer)); err != nil {
		return nil, approvalError(err)
	}
	return struct {
		OK bool `json:"ok"`
	}{true}, nil
}

func (s *server) methodApprovalWait(ctx context.Context, b *backend, p approvalParams) (any, error) {
	reg, rec, err := b.visible(ctx, p.ID)
	if err == nil {
		rec, err = reg.Wait(ctx, rec.ID)
	}
	if errors.Is(err, approval.ErrUnknown) {
		return nil, &protocol.Error{Type: protocol.ErrInvalid, Message: "approval expired or not found"}
	}
	if err != nil {
		return nil, err
	}
	var decision *string
	if rec.Decision != "" {
		d := string(rec.Decision)
		decision = &d
	}
	return struct {
		ID             string  `json:"id"`
		Decision       *string `json:"decision"`
		CreatedAtMs    int64   `json:"createdAtMs"`
		ExpiresAtMs    int64   `json:"expiresAtMs"`
		TerminalReason string  `json:"terminalReason,omitempty"`
	}{rec.ID, decision, rec.CreatedMs, rec.ExpiresMs, rec.Reason}, nil
}

type snapshotResult struct {
	Approval protocol.ApprovalSnapshot `json:"approval"`
}

func (s *server) methodSnapshot(ctx context.Context, b *backend, p approvalParams) (any, error) {
	_, rec, err := b.visible(ctx, p.ID)
	if err != nil {
		return nil, &protocol.Error{
			Type: protocol.ErrInvalid, Message: "approval not found", Hint: "openclaw approvals pending", Details: map[string]string{"reason": "APPROVAL_NOT_FOUND"},
		}
	}
	return snapshotResult{rec.Snapshot()}, nil
}

func (s *server) methodResolveAny(ctx context.Context, b *backend, p approvalParams) (any, error) {
	reg, rec, err := b.visible(ctx, p.ID)
	if err != nil {
		return nil, approvalError(err)
	}
	rec, applied, err := reg.Resolve(ctx, rec.ID, approval.Decision(p.Decision), resolver(ctx, p.Reviewer))
	if err != nil && !errors.Is(err, approval.ErrResolved) {
		return nil, approvalError(err)
	}
	return struct {
		Applied  bool                      `json:"applied"`
		Approval protocol.ApprovalSnapshot `json:"approval"`
	}{applied, rec.Snapshot()}, nil
}

type historyParams struct {
	Cursor  string `json:"cursor"`
	Limit   int    `json:"limit"`
	Kind    string `json:"kind"`
	AgentID string `json:"agentId"` // ours, as is status
	Status  string `json:"status"`
}

func (s *server) methodHistory(ctx context.Context, b *backend, p historyParams) (any, error) {
	if p.Limit < 0 || p.Limit > 100 {
		return nil, invalid(paramsPrefix + "limit goes from 1 to 100")
	}
	reg, err := b.approvals(ctx)
	if err != nil {
		return nil, err
	}
	list, next, err := reg.History(ctx, approval.Filter{Kind: approval.Kind(p.Kind), Agent: p.AgentID, Status: approval.Status(p.Status)}, p.Cursor, p.Limit)
	if err != nil {
		return nil, err
	}
	out := struct {
		Items      []protocol.ApprovalSnapshot `json:"items"`
		NextCursor string                      `json:"nextCursor,omitempty"`
	}{Items: []protocol.ApprovalSnapshot{}, NextCursor: next}
	for i := range list {
		out.Items = append(out.Items, list[i].Snapshot())
	}
	return out, nil
}

// approvalError turns the ways in which an answer is not taken into the wire's words
// (protocol 4.7).
func approvalError(err error) error {
	kind := protocol.ErrInvalid
	switch {
	case errors.Is(err, approval.ErrUnknown):
		return &protocol.Error{
			Type: protocol.ErrNotFound, Message: "unknown or expired approval id", Hint: "openclaw approvals pending",
			Details: map[string]string{"reason": "APPROVAL_NOT_FOUND", "remediation": "list the pending approvals and use an id from there"},
		}
	case errors.Is(err, approval.ErrResolved):
		return &protocol.Error{Type: protocol.ErrConflict, Message: err.Error(), Details: map[string]string{"reason": "APPROVAL_ALREADY_RESOLVED"}}
	case errors.Is(err, approval.ErrLimit):
		kind = protocol.ErrLimit
	case errors.Is(err, approval.ErrNotOffered):
		return &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error(), Details: map[string]string{"reason": "APPROVAL_ALLOW_ALWAYS_UNAVAILABLE"}}
	case errors.Is(err, approval.ErrTaken):
	default:
		return err
	}
	return &protocol.Error{Type: kind, Message: err.Error()}
}

// document is the answer of exec.approvals.get and set (protocol 4.10).
type document struct {
	Path     string         `json:"path"`
	Exists   bool           `json:"exists"`
	Hash     string         `json:"hash"`
	File     any            `json:"file"`
	Defaults documentPolicy `json:"resolvedDefaults"`
}

type documentPolicy struct {
	Security        string `json:"security"`
	Ask             string `json:"ask"`
	AskFallback     string `json:"askFallback"`
	AutoAllowSkills bool   `json:"autoAllowSkills"`
}

func (s *server) methodDocumentGet(_ context.Context, b *backend, _ none) (any, error) {
	file, hash, exists, err := b.document.View()
	if err != nil {
		return nil, documentError(err)
	}
	host, err := approval.NewReader(s.opt.StateDir, "").For("")
	if err != nil {
		return nil, documentError(err)
	}
	e := policy.Combine(policy.Layers{Host: host.Policy})
	return document{b.document.Path(), exists, hash, file, documentPolicy{
		string(e.Security.Value), string(e.Ask.Value), string(e.AskFallback.Value), host.Policy.AutoAllowSkills,
	}}, nil
}

type documentParams struct {
	File     json.RawMessage `json:"file"`
	Text     string          `json:"text"` // ours: the document as JSON5, in place of file
	BaseHash string          `json:"baseHash"`
	Force    bool            `json:"force"` // ours: over what stands there, damaged or not
}

func (s *server) methodDocumentSet(ctx context.Context, b *backend, p documentParams) (any, error) {
	src := []byte(p.File)
	if p.Text != "" {
		src = []byte(p.Text)
	}
	if len(src) == 0 {
		return nil, invalid("file is required: the approvals document")
	}
	if _, err := b.document.Replace(ctx, p.BaseHash, src, p.Force); err != nil {
		return nil, documentError(err)
	}
	s.opt.Log.Info("the approvals document was replaced by the operator")
	return s.methodDocumentGet(ctx, b, none{})
}

func documentError(err error) error {
	switch {
	case errors.Is(err, approval.ErrStale), errors.Is(err, approval.ErrNeedsHash):
		return &protocol.Error{Type: protocol.ErrConflict, Message: err.Error()}
	case errors.Is(err, approval.ErrDamaged):
		return &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error(), Hint: "mend the file, put a copy in its place, or write a new one: openclaw approvals set --force"}
	}
	return err
}

type pluginParams struct {
	ID               string   `json:"id"`
	PluginID         string   `json:"pluginId"`
	Title            string   `json:"title"`
	Description      string   `json:"description"`
	Detail           string   `json:"detail"`
	Severity         string   `json:"severity"`
	ToolName         string   `json:"toolName"`
	ToolCallID       string   `json:"toolCallId"`
	AllowedDecisions []string `json:"allowedDecisions"`
	AgentID          string   `json:"agentId"`
	SessionKey       string   `json:"sessionKey"`
	TimeoutMs        int64    `json:"timeoutMs"`
	TwoPhase         bool     `json:"twoPhase"`
}

// methodPluginRequest asks for a decision on a client's own action. It answers with
// the decision, or at once with twoPhase.
func (s *server) methodPluginRequest(ctx context.Context, b *backend, p pluginParams) (any, error) {
	req, timeout, err := p.request()
	if err != nil {
		return nil, err
	}
	reg, err := b.approvals(ctx)
	if err != nil {
		return nil, err
	}
	rec, _, err := reg.Ask(ctx, "", req, nil, timeout)
	if err != nil {
		return nil, approvalError(err)
	}
	route := "approval-client"
	if !reg.Reachable() { // protocol 4.7's rule holds for this kind, too
		route = "none"
		if rec, _, err = reg.Refuse(ctx, rec.ID, "no-route"); err != nil {
			return nil, err
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

func (p *pluginParams) request() (approval.Request, time.Duration, error) {
	req := approval.Request{
		Kind: approval.KindPlugin, Agent: p.AgentID, SessionKey: p.SessionKey, Command: p.Title,
		Plugin: &approval.Plugin{ID: p.PluginID, Title: p.Title, Description: p.Description, Detail: p.Detail, Severity: p.Severity, ToolName: p.ToolName, ToolCallID: p.ToolCallID},
	}
	timeout := 2 * time.Minute
	if p.TimeoutMs != 0 {
		timeout = time.Duration(p.TimeoutMs) * time.Millisecond
	}
	if p.Severity == "" {
		req.Plugin.Severity = "warning"
	}
	switch n := len([]rune(p.Title)); {
	case n < 1 || n > 80:
		return req, 0, invalid("title has %d characters; 1 to 80 are taken", n)
	case len([]rune(p.Description)) < 1 || len([]rune(p.Description)) > 512:
		return req, 0, invalid("description has to have 1 to 512 characters")
	case len([]rune(p.Detail)) > 16384:
		return req, 0, invalid("detail has more than 16384 characters")
	case req.Plugin.Severity != "info" && req.Plugin.Severity != "warning" && req.Plugin.Severity != "critical":
		return req, 0, invalid("severity is info, warning or critical, not %q", clip(p.Severity))
	case timeout < time.Millisecond || timeout > 10*time.Minute:
		return req, 0, invalid("timeoutMs is 1 to 600000")
	}
	for _, d := range p.AllowedDecisions {
		switch approval.Decision(d) {
		case approval.AllowOnce, approval.AllowAlways, approval.DenyIt:
			req.Decisions = append(req.Decisions, approval.Decision(d))
		default:
			return req, 0, invalid("allowedDecisions: %q is none of allow-once, allow-always, deny", clip(d))
		}
	}
	if len(req.Decisions) == 0 {
		req.Decisions = []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DenyIt}
	}
	return req, timeout, nil
}

// approvalEvents streams what is asked and decided to somebody who can answer; while it is
// open, there is somebody. What is pending comes first.
func (s *server) approvalEvents(req *request) {
	if !req.who.operator {
		refuse(req.w, &protocol.Error{Type: protocol.ErrForbidden, Message: "approvals are the operator's"})
		return
	}
	ctx, end := s.context(req)
	defer end()
	reg, err := req.backend.approvals(ctx)
	if err != nil {
		writeError(req.w, wireError(err))
		return
	}
	sub := reg.Subscribe(true)
	defer sub.Close()
	header := req.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies would hold events back
	out := &eventStream{w: req.w, control: http.NewResponseController(req.w)}
	if out.send(": connected\n\n") != nil {
		return
	}
	seen := map[string]bool{}
	for _, rec := range reg.Pending() {
		seen[rec.ID] = true
		if out.data(protocol.EventApprovalRequested, rec.Wire()) != nil {
			return
		}
	}
	for {
		wait, cancel := context.WithTimeout(ctx, s.heartbeat)
		e, err := sub.Next(wait)
		cancel()
		if ctx.Err() == nil && !req.signedIn() {
			_ = out.send("event: unauthorized\ndata: " + unauthorizedBody + "\n\n") // it ends either way
			return
		}
		switch {
		case err == nil && e.Final:
			delete(seen, e.Record.ID)
			err = out.data(protocol.EventApprovalResolved, e.Record.Resolved())
		case err == nil && seen[e.Record.ID]:
		case err == nil:
			err = out.data(protocol.EventApprovalRequested, e.Record.Wire())
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = out.send(": still here\n\n")
		}
		if err != nil {
			return
		}
	}
}

// data sends an event without an id: it is not for who comes back after it.
func (o *eventStream) data(kind string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return o.send(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, data))
}
