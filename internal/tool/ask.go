package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
)

// question is what would run, kept with the request until it has ended. It is plain
// data: the program that runs it may be a later one.
type question struct {
	Args   json.RawMessage   `json:"args"` // of the call
	Env    map[string]string `json:"env,omitempty"`
	Caller Caller            `json:"caller"`
	Dir    string            `json:"dir"`
	Path   string            `json:"path"`
	Bound  *host.Binding     `json:"bound"`
	Judged []byte            `json:"judged,omitempty"` // an encoded shell.Plan; empty = a shell runs the text
	Policy policy.Effective  `json:"policy"`
}

// ask puts a command before a person (P-10, A-13) and answers for it: with what became of
// it when the caller waits, else with its approval id.
func (s *Service) ask(ctx context.Context, cfg *config.Config, r *run, env map[string]string, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if err := host.Startable(r.params.Command, env); err != nil { // nobody is asked for nothing
		return nil, err
	}
	reg, err := s.Approvals(ctx)
	if err != nil {
		return s.denied(r, protocol.Denied{Rule: "A-14", Reason: err.Error(), Hint: "the operator looks at the gateway's log and openclaw doctor"}, false), nil
	}
	own := r.caller.asks
	if !reg.Reachable() && own == nil {
		r.decision = policy.Unanswered(r.decision)
		if r.decision.Outcome == policy.OutcomeAllow {
			return s.launch(ctx, cfg, r, env, watch)
		}
		return s.denied(r, denial(r.decision), false), nil
	}
	q, err := s.question(r, env, req.Args)
	if err != nil {
		var unbound *host.UnboundError
		var moved *host.ChangedError
		if errors.As(err, &unbound) || errors.As(err, &moved) {
			return s.denied(r, protocol.Denied{Rule: "A-30", Reason: err.Error(), Hint: "run the program itself with one script file, or let the operator put it on the allowlist"}, false), nil
		}
		return nil, err
	}
	blob, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	shown := s.approvalRequest(r, q, blob)
	if own != nil {
		watch = nil // Answer brings its own
	}
	for {
		id := approval.NewID(approval.KindExec)
		f := s.flights.begin(id, watch)
		rec, joined, err := reg.Ask(ctx, id, shown, blob, 0)
		if err != nil {
			s.flights.finish(f, nil, err)
			if errors.Is(err, approval.ErrLimit) {
				return nil, &protocol.Error{Type: protocol.ErrLimit, Message: err.Error()}
			}
			return s.denied(r, protocol.Denied{Rule: "A-14", Reason: err.Error(), Hint: "nothing is asked that cannot be kept; mend the store or the disk"}, false), nil
		}
		if !joined {
			return s.goOn(ctx, reg, f, rec, own, req.Wait)
		}
		s.flights.finish(f, nil, nil) // nobody waits on it
		f, gone := s.flights.join(&rec, watch)
		if gone { // the last of its callers is taking it away: what is asked anew is our own
			if _, err := reg.Wait(ctx, rec.ID); err != nil && !errors.Is(err, approval.ErrUnknown) {
				return nil, err
			}
			continue
		}
		switch now, err := reg.Get(rec.ID); {
		case errors.Is(err, approval.ErrUnknown): // it could not be kept
			s.flights.drop(f)
			continue
		case err == nil && now.Final(): // perhaps before the flight was there
			s.flights.drop(f)
			return s.handle(ctx, r.caller, rec.ID)
		}
		return s.goOn(ctx, reg, f, rec, own, req.Wait)
	}
}

// goOn goes on with a request that is open: its caller waits, or puts it to its own person.
func (s *Service) goOn(ctx context.Context, reg *approval.Registry, f *flight, rec approval.Record, own *asked, wait protocol.Wait) (*protocol.ToolResult, error) {
	if own != nil {
		*own = asked{rec, f}
		return pendingResult(rec), nil
	}
	return s.await(ctx, reg, f, rec, wait)
}

// await waits for the answer and the command, as long as the caller wants.
func (s *Service) await(ctx context.Context, reg *approval.Registry, f *flight, rec approval.Record, wait protocol.Wait) (*protocol.ToolResult, error) {
	var limit <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(time.Duration(wait) * time.Millisecond)
		defer timer.Stop()
		limit = timer.C
	}
	if wait != 0 {
		select {
		case <-f.done:
			return f.res, f.err
		case <-limit:
		case <-ctx.Done():
			s.leave(ctx, reg, f)
			return nil, context.Cause(ctx)
		}
	}
	if err := reg.Detach(ctx, rec.ID); err != nil {
		s.leave(ctx, reg, f)
		return nil, err
	}
	s.flights.detach(f)
	select {
	case <-f.done:
		return f.res, f.err
	default:
	}
	if now, err := reg.Get(rec.ID); err == nil { // it may have been decided meanwhile
		rec = now
	}
	return s.standing(ctx, &rec), nil
}

// standing answers an exec call by where its approval stands.
func (s *Service) standing(ctx context.Context, rec *approval.Record) *protocol.ToolResult {
	switch {
	case !rec.Final():
		return pendingResult(*rec)
	case !rec.Decision.Allows():
		return refusedResult(rec)
	}
	d := &protocol.ExecResult{Status: protocol.StatusRunning, Host: rec.Request.Host, Cwd: rec.Request.Cwd, SessionID: rec.ID, Approval: approvalRef(rec)}
	text := "allowed; it is being started"
	if st, err := s.table.Get(ctx, rec.Request.Agent, rec.Slug); err == nil {
		d.Pid, text = st.Pid, "allowed, and started"
	}
	return &protocol.ToolResult{Content: protocol.Text("[" + text + ": process poll with sessionId " + rec.ID + " gives its output and exit state]"), Details: d}
}

// leave takes a caller away, and with the last one the request: it must not outlive those
// who want it.
func (s *Service) leave(ctx context.Context, reg *approval.Registry, f *flight) {
	if !s.flights.leave(f) {
		return
	}
	if _, _, err := reg.Cancel(context.WithoutCancel(ctx), f.id, approval.ReasonAborted); err != nil && !errors.Is(err, approval.ErrUnknown) {
		s.log.Warn("cancel an approval request", "approval", f.id, "err", err)
	}
}

func (s *Service) question(r *run, env map[string]string, args json.RawMessage) (*question, error) {
	q := &question{Args: args, Env: env, Caller: r.caller, Dir: r.place.dir, Path: r.place.path, Policy: r.decision.Effective}
	var err error
	if q.Bound, err = host.Bind(r.decision.Whole, r.place.dir, r.place.path); err != nil {
		return nil, err
	}
	if r.decision.Whole != nil {
		q.Judged = r.decision.Whole.Encode()
	}
	return q, nil
}

// approvalRequest is what people are shown.
func (s *Service) approvalRequest(r *run, q *question, blob []byte) approval.Request {
	d := r.decision
	sum := sha256.Sum256(blob)
	req := approval.Request{
		Kind: approval.KindExec, Agent: r.caller.Agent, SessionKey: r.caller.SessionKey, Credential: r.caller.Credential, Origin: r.caller.Origin,
		Command: r.params.Command, Cwd: q.Bound.Dir, Host: "gateway", Policy: d.Effective, Rule: d.Rule, Reason: d.Reason,
		Segments: d.Segments, Decisions: []approval.Decision{approval.AllowOnce}, Digest: hex.EncodeToString(sum[:]),
	}
	for name := range q.Env {
		req.Env = append(req.Env, name)
	}
	sort.Strings(req.Env)
	for _, f := range q.Bound.Files {
		if f.Script {
			req.Files = append(req.Files, f.Path)
		}
	}
	for i := range d.Segments {
		if real := d.Segments[i].RealPath; real != "" && req.ResolvedPath == "" {
			req.ResolvedPath = real
		}
	}
	if len(d.Segments) == 1 && len(d.Remarks) == 0 {
		req.Argv = d.Segments[0].Argv
	}
	if d.Whole == nil {
		if sh, err := s.host.PlainShell(); err == nil {
			req.Shell = sh.Path
		}
	}
	switch always := d.AllowAlways; {
	case r.caller.asks != nil:
		req.AlwaysWhy = "the caller puts the question to the person"
	case d.Effective.Ask.Value == policy.AskAlways:
		req.AlwaysWhy = "a person is asked every time (" + d.Effective.Ask.Source + ")"
	case always == nil || len(always.Entries) == 0:
		req.AlwaysWhy = "nothing can be stored"
		if always != nil && always.Why != "" {
			req.AlwaysWhy = always.Why
		}
	default:
		req.Always = always.Entries
		req.Decisions = append(req.Decisions, approval.AllowAlways)
	}
	req.Decisions = append(req.Decisions, approval.DenyIt)
	return req
}

// pendingResult is the answer to a caller that does not wait.
func pendingResult(rec approval.Record) *protocol.ToolResult {
	d := &protocol.ExecResult{
		Status: protocol.StatusApprovalPending, Host: rec.Request.Host, Cwd: rec.Request.Cwd, SessionID: rec.ID, Approval: approvalRef(&rec),
	}
	text := fmt.Sprintf("[waiting for a person's approval: %s (%s). Nothing has started and there is no output. "+
		"process poll with sessionId %s waits for the decision and gives the result; do other work meanwhile, and do not run the command in other words]",
		rec.Slug, rec.Request.Reason, rec.ID)
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}
}

func approvalRef(rec *approval.Record) *protocol.ApprovalRef {
	return &protocol.ApprovalRef{ID: rec.ID, Slug: rec.Slug, ExpiresAtMs: rec.ExpiresMs, Command: rec.Request.Command}
}

// notRun tells plainly that the command did not run.
func notRun(rec *approval.Record) (reason, text string) {
	switch {
	case rec.Status == approval.Expired:
		reason = "approval timeout: nobody answered"
	case rec.Status == approval.Cancelled:
		reason = "the request was cancelled (" + rec.Reason + ")"
	case rec.Reason != approval.ReasonUser && rec.Reason != "":
		reason = "denied (" + rec.Reason + ")"
	default:
		reason = "a person denied it"
		if by := rec.Resolver; by != nil && by.Name != "" {
			reason = "denied by " + by.Name
		}
	}
	text = "[not run: " + reason + ". The command did not run and there is no output. Do not use the output of an earlier run " +
		"of it in its place, and do not try it again in other words]"
	return reason, text
}

// refusedResult is the end of a request that did not lead to a run.
func refusedResult(rec *approval.Record) *protocol.ToolResult {
	reason, text := notRun(rec)
	d := &protocol.ExecResult{
		Status: protocol.StatusDenied, Host: rec.Request.Host, SessionID: rec.ID, Approval: approvalRef(rec),
		Denied: &protocol.Denied{Rule: "A-42", Reason: reason, Hint: "ask the person what they want instead"},
	}
	if rec.Status == approval.Cancelled {
		d.Status = protocol.StatusCancelled
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}
}
