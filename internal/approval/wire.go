package approval

import (
	"net/url"

	"openclaw/internal/protocol"
)

// known is a text as the wire has it: null when it is not known.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func decisions(list []Decision) []string {
	out := make([]string, 0, len(list))
	for _, d := range list {
		out = append(out, string(d))
	}
	return out
}

// Wire is the request as clients see it (protocol 4.7, 4.9).
func (r *Record) Wire() protocol.ExecApproval {
	return protocol.ExecApproval{
		ID: r.ID, Slug: r.Slug, ApprovalKind: string(r.Request.Kind), Request: r.Request.wire(),
		CreatedAtMs: r.CreatedMs, ExpiresAtMs: r.ExpiresMs,
	}
}

func (q *Request) wire() protocol.ExecApprovalRequest {
	out := protocol.ExecApprovalRequest{
		Command: q.Command, CommandArgv: q.Argv, EnvKeys: q.Env, Cwd: known(q.Cwd), NodeID: known(q.Node), Host: known(q.Host),
		Security: known(string(q.Policy.Security.Value)), Ask: known(string(q.Policy.Ask.Value)),
		AllowedDecisions: decisions(q.Decisions), AgentID: known(q.Agent), ResolvedPath: known(q.ResolvedPath), SessionKey: known(q.SessionKey),
	}
	if p := q.Plugin; p != nil {
		out.PluginID, out.Title, out.Description, out.Detail, out.Severity = known(p.ID), p.Title, p.Description, known(p.Detail), p.Severity
		out.ToolName, out.ToolCallID = known(p.ToolName), known(p.ToolCallID)
		return out
	}
	note := &protocol.JudgeNote{Rule: q.Rule, Reason: q.Reason, Shell: q.Shell, Files: q.Files, AlwaysWhy: q.AlwaysWhy, Origin: q.Origin}
	for _, e := range q.Always {
		note.Always = append(note.Always, protocol.AlwaysEntry{Pattern: e.Pattern, ArgPattern: e.ArgPattern})
	}
	out.Judge = note
	for i := range q.Segments {
		s := &q.Segments[i]
		span := protocol.CommandSpan{Start: s.Span.Start, End: s.Span.End, Kind: "missed", Why: s.Why}
		if s.SatisfiedBy != nil {
			span.Kind = "satisfied"
		}
		out.CommandSpans = append(out.CommandSpans, span)
	}
	return out
}

// Resolved is the payload of the event that tells of a final request.
func (r *Record) Resolved() protocol.ExecApprovalResolved {
	out := protocol.ExecApprovalResolved{
		ID: r.ID, Decision: string(r.Decision), Ts: r.ResolvedMs, Request: r.Request.wire(), Status: string(r.Status),
	}
	if out.Decision == "" { // it timed out or was cancelled
		out.Decision = string(DenyIt)
	}
	if by := r.Resolver; by != nil {
		if out.ResolvedBy = known(by.Name); by.Name == "" {
			out.ResolvedBy = known(by.Kind + ":" + by.ID)
		}
	}
	return out
}

// Snapshot is the request with its state (protocol 4.8).
func (r *Record) Snapshot() protocol.ApprovalSnapshot {
	q := &r.Request
	out := protocol.ApprovalSnapshot{
		ID: r.ID, Status: string(r.Status), URLPath: "/approve/" + url.PathEscape(r.ID), CreatedAtMs: r.CreatedMs, ExpiresAtMs: r.ExpiresMs,
		Presentation: protocol.ApprovalView{
			Kind: string(q.Kind), CommandText: q.Command, Host: known(q.Host), NodeID: known(q.Node), AgentID: known(q.Agent),
			AllowedDecisions: decisions(q.Decisions),
		},
	}
	if p := q.Plugin; p != nil {
		v := &out.Presentation
		v.Title, v.Description, v.Detail, v.Severity = p.Title, p.Description, known(p.Detail), p.Severity
	}
	if !r.Final() {
		out.SourceSessionKey = q.SessionKey
		return out
	}
	out.Decision, out.Reason, out.ResolvedAtMs = string(r.Decision), r.Reason, r.ResolvedMs
	out.Source = &protocol.ApprovalSource{AgentID: q.Agent, SessionKey: q.SessionKey}
	if by := r.Resolver; by != nil {
		out.Resolver = &protocol.ApprovalResolver{Kind: by.Kind, ID: by.ID}
	}
	if r.Run != nil {
		out.Run = r.Run
	}
	return out
}

// View is the document as the wire has it (protocol 4.10): the file's object, without the
// socket's token.
func (f *File) View() (file any, hash string, exists bool, err error) {
	root, src, err := f.load()
	if err != nil {
		return nil, "", false, err
	}
	if hash, err = hashOf(root); err != nil {
		return nil, "", false, err
	}
	normalise(root, newUUID)
	for _, key := range []string{"defaults", "agents"} {
		if root.get(key) == nil {
			root.set(key, &object{})
		}
	}
	if socket, ok := root.get("socket").(*object); ok {
		socket.drop("token")
	}
	return root, hash, src != nil, nil
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) { return o.write() }
