package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/shell"
)

// decided is called once for every request that has become final: what was allowed runs,
// and who waits is told.
func (s *Service) decided(ctx context.Context, rec approval.Record) {
	if rec.Request.Kind != approval.KindExec || rec.Request.Asker != "" { // the asker runs it, or not
		return
	}
	f := s.flights.of(rec.ID)
	if !rec.Decision.Allows() {
		s.notAllowed(&rec)
		s.flights.finish(f, refusedResult(&rec), nil)
		return
	}
	res, err := s.runApproved(ctx, &rec, f)
	s.flights.finish(f, res, err)
}

// notAllowed records a denial and tells the session that owns the request, without waking
// it.
func (s *Service) notAllowed(rec *approval.Record) {
	reason, text := notRun(rec)
	req := &rec.Request
	s.record.refused(req, reason)
	if !rec.Detached || s.events == nil {
		return
	}
	s.events.Publish(protocol.Event{
		Kind: protocol.EventDenied, Key: rec.ID, Agent: req.Agent, SessionKey: req.SessionKey, RunID: rec.ID, Host: req.Host,
		Command: req.Command, Status: protocol.StatusDenied, Text: fmt.Sprintf("Exec denied (%s): %s\n%s", rec.Slug, req.Command, text),
	})
}

// keepPromise writes what allow-always said it would to the document, once.
func (s *Service) keepPromise(ctx context.Context, reg *approval.Registry, rec *approval.Record) error {
	if rec.Decision != approval.AllowAlways || rec.Stored {
		return nil
	}
	if err := s.judge.file.AddAlways(ctx, rec.Request.Agent, rec.Request.Always, rec.Request.Command); err != nil {
		s.log.Error("an allow-always entry could not be stored", "approval", rec.ID, "err", err)
		return err
	}
	if err := reg.SetStored(ctx, rec.ID); err != nil {
		s.log.Warn("that an allow-always entry is stored is not kept", "approval", rec.ID, "err", err)
	}
	rec.Stored = true
	return nil
}

// runApproved runs what a person has allowed, exactly that, if nothing has changed since.
func (s *Service) runApproved(ctx context.Context, rec *approval.Record, f *flight) (*protocol.ToolResult, error) {
	reg, err := s.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	var note string
	if err := s.keepPromise(ctx, reg, rec); err != nil {
		note = fmt.Sprintf("allowed this once: it could not be added to the allowlist (%v)", err)
	}
	r, q, err := s.approvedRun(ctx, reg, rec)
	if err != nil {
		return s.refuseApproved(ctx, reg, rec, err), nil
	}
	if note != "" {
		r.warn(note)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.detached = !s.flights.running(f, cancel)
	r.before = func() error {
		return reg.SetRun(ctx, rec.ID, approval.Run{State: approval.RunStarting, SessionID: rec.Slug})
	}
	r.started = func() { s.noticeRunning(reg, rec) }
	res, err := s.launchAs(ctx, s.cfg.Load(), r, q.Env, s.flights.progress(f))
	if err != nil {
		if ctx.Err() != nil { // all who wanted it have gone
			s.setRun(context.WithoutCancel(ctx), reg, rec.ID, approval.Run{State: approval.RunCancelled, Reason: approval.ReasonAborted})
			return nil, err
		}
		return s.refuseApproved(ctx, reg, rec, err), nil
	}
	if d, ok := res.Details.(*protocol.ExecResult); ok {
		d.Approval = approvalRef(rec)
	}
	return res, nil
}

// approvedRun makes the run of a stored question, and checks once more all that it was
// bound to.
func (s *Service) approvedRun(ctx context.Context, reg *approval.Registry, rec *approval.Record) (*run, *question, error) {
	blob, err := reg.Plan(ctx, rec.ID)
	if err != nil {
		return nil, nil, err
	}
	q := &question{}
	if err := json.Unmarshal(blob, q); err != nil {
		return nil, nil, fmt.Errorf("the stored plan cannot be read: %w", err)
	}
	p, err := readExec(q.Args)
	if err != nil {
		return nil, nil, err
	}
	cfg := s.cfg.Load()
	r := &run{
		caller: q.Caller, params: p, settings: cfg.Exec(q.Caller.Agent), approval: rec,
		place:    place{dir: q.Dir, path: q.Path},
		decision: policy.Decision{Outcome: policy.OutcomeAllow, Rule: "A-11", Reason: string(rec.Decision), Effective: q.Policy},
	}
	if err := s.stillPermitted(cfg, r); err != nil {
		return nil, nil, err
	}
	if q.Bound == nil {
		return nil, nil, errors.New("the stored plan is bound to nothing")
	}
	if err := q.Bound.Verify(); err != nil {
		return nil, nil, err
	}
	if real, err := filepath.EvalSymlinks(q.Dir); err != nil || real != q.Bound.Dir {
		return nil, nil, &host.ChangedError{Path: q.Dir}
	}
	if len(q.Judged) == 0 { // nothing compares the directory again: the one that was shown, by no link
		r.place.dir = q.Bound.Dir
		return r, q, nil
	}
	if r.walked, err = shell.DecodePlan(q.Judged); err != nil {
		return nil, nil, err
	}
	return r, q, nil
}

// stillPermitted holds a run against the rules as they are now: an operator who has closed
// the door meanwhile wins over an earlier question.
func (s *Service) stillPermitted(cfg *config.Config, r *run) error {
	key := s.deniedBy(r.caller, protocol.ToolExec)
	if ok, closed := cfg.GatewayToolAllowed(protocol.ToolExec); !ok && s.events != nil { // in the gateway, where callers come through its doors
		key = closed
	}
	if key != "" {
		return fmt.Errorf("the exec tool is not available any more (%s)", key)
	}
	switch denied, err := s.route(cfg, r); {
	case err != nil:
		return err
	case denied != nil: // it was to run here
		return errors.New(denied.Reason)
	}
	doc, err := s.judge.document.For(r.caller.Agent)
	if err != nil {
		return err
	}
	e := policy.Combine(policy.Layers{
		Security: policy.Security(r.settings.Security), SecuritySource: r.settings.SecurityKey,
		Ask: policy.Ask(r.settings.Ask), AskSource: r.settings.AskKey, Host: doc.Policy,
	})
	if e.Security.Value == policy.Deny {
		return fmt.Errorf("security is deny by now (%s)", e.Security.Source)
	}
	return nil
}

// refuseApproved ends an allowed request that could not be started.
func (s *Service) refuseApproved(ctx context.Context, reg *approval.Registry, rec *approval.Record, err error) *protocol.ToolResult {
	s.setRun(ctx, reg, rec.ID, approval.Run{State: approval.RunRefused, Reason: err.Error()})
	s.record.refused(&rec.Request, err.Error())
	rule := "A-14"
	var moved *host.ChangedError
	if errors.As(err, &moved) || errors.Is(err, proc.ErrChanged) {
		rule = "A-30"
	}
	d := &protocol.ExecResult{
		Status: protocol.StatusDenied, Host: rec.Request.Host, SessionID: rec.ID, Approval: approvalRef(rec),
		Denied: &protocol.Denied{Rule: rule, Reason: err.Error(), Hint: "ask again; what is there now is looked at anew"},
	}
	text := fmt.Sprintf("[not run: it was allowed, but %v. The command did not run and there is no output]", err)
	if rec.Detached && s.events != nil {
		s.events.Publish(protocol.Event{
			Kind: protocol.EventDenied, Key: rec.ID, Agent: rec.Request.Agent, SessionKey: rec.Request.SessionKey, RunID: rec.ID,
			Host: rec.Request.Host, Command: rec.Request.Command, Status: protocol.StatusDenied, Text: fmt.Sprintf("Exec denied (%s): %s", rec.Slug, text),
		})
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}
}

// noticeRunning tells the owner once when an approved command takes long.
func (s *Service) noticeRunning(reg *approval.Registry, rec *approval.Record) {
	if err := reg.SetRun(context.Background(), rec.ID, approval.Run{State: approval.RunRunning}); err != nil && !errors.Is(err, approval.ErrResolved) {
		s.log.Warn("that an approved command runs is not kept", "approval", rec.ID, "err", err)
	}
	after := s.cfg.Load().Exec(rec.Request.Agent).ApprovalRunningNoticeMs
	if after <= 0 || s.events == nil {
		return
	}
	req := &rec.Request
	id, slug := rec.ID, rec.Slug
	s.notices.after(time.Duration(after)*time.Millisecond, func() {
		st, err := s.table.Get(context.Background(), req.Agent, slug)
		if err != nil || st.Finished() {
			return
		}
		s.events.Publish(protocol.Event{
			Kind: protocol.EventRunning, Key: id + "#running", Agent: req.Agent, SessionKey: req.SessionKey, RunID: id, SessionID: slug,
			Host: req.Host, Command: req.Command, Status: protocol.StatusRunning, Text: fmt.Sprintf("Exec running (%s): %s", slug, req.Command),
		})
	})
}

// ranTo is the end of a session as an approval keeps it.
func ranTo(st session.State) approval.Run {
	run := approval.Run{
		State: approval.RunEnded, SessionID: st.ID, Status: string(st.Status), ExitCode: st.ExitCode, Signal: st.Signal,
		DurationMs: ms(duration(st)),
	}
	if !st.Ended.IsZero() {
		run.EndedMs = st.Ended.UnixMilli()
	}
	return run
}
