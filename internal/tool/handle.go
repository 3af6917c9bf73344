package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// handle answers an exec call by the state of its approval, where the call itself cannot
// wait for it.
func (s *Service) handle(ctx context.Context, c Caller, id string) (*protocol.ToolResult, error) {
	reg, err := s.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := reg.Get(id)
	if err != nil || rec.Request.Agent != c.Agent {
		return nil, &protocol.Error{Type: protocol.ErrNotFound, Message: "no such approval: " + clip(id)}
	}
	return s.standing(ctx, &rec), nil
}

// byApproval lets an approval id stand for its command in the process tool. It
// returns the session to act on, or the answer; neither when the id is no approval's.
func (s *Service) byApproval(ctx context.Context, c Caller, p *processParams) (*protocol.ToolResult, error) {
	if p.SessionID == "" {
		return nil, nil
	}
	if _, err := s.table.Get(ctx, c.Agent, p.SessionID); !errors.Is(err, session.ErrNotFound) {
		return nil, nil
	}
	reg, err := s.Approvals(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // then it is just an unknown session
	}
	rec, err := reg.Get(p.SessionID)
	if err != nil || rec.Request.Agent != c.Agent || rec.Request.Kind != approval.KindExec || rec.Request.Asker != "" {
		return nil, nil //nolint:nilerr // an unknown session
	}
	switch {
	case p.Action == "kill":
		if !rec.Final() {
			rec, _, err = reg.Cancel(ctx, rec.ID, approval.ReasonAborted)
			if err != nil {
				return nil, err
			}
		}
		rec = s.keepFromStarting(ctx, reg, rec)
	case p.Action == "poll":
		rec = s.awaitApproval(ctx, reg, rec, p.Timeout)
	case p.Action != "log" && !rec.Final():
		return nil, invalid("%s waits for approval; nothing has started", rec.Slug)
	}
	if s.hasSession(ctx, &rec) {
		p.SessionID = rec.Run.SessionID
		return nil, nil
	}
	return approvalState(&rec), nil
}

// keepFromStarting stops what was allowed, also in the moment of the kill, and has no
// session yet.
func (s *Service) keepFromStarting(ctx context.Context, reg *approval.Registry, rec approval.Record) approval.Record {
	if !rec.Decision.Allows() || s.hasSession(ctx, &rec) {
		return rec
	}
	s.flights.stop(ctx, rec.ID)
	if now, err := reg.Get(rec.ID); err == nil {
		rec = now
	}
	return rec
}

// hasSession reports whether the session of an allowed command is there.
func (s *Service) hasSession(ctx context.Context, rec *approval.Record) bool {
	if rec.Run == nil || rec.Run.SessionID == "" {
		return false
	}
	_, err := s.table.Get(ctx, rec.Request.Agent, rec.Run.SessionID)
	return err == nil
}

// awaitApproval waits a while for the decision, and for the start of what it allows.
func (s *Service) awaitApproval(ctx context.Context, reg *approval.Registry, rec approval.Record, wait time.Duration) approval.Record {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if now, err := reg.Wait(ctx, rec.ID); err == nil || now.ID != "" {
		rec = now
	}
	if f := s.flights.get(rec.ID); f != nil && rec.Decision.Allows() {
		select { // a detached flight ends when its command has been started
		case <-f.done:
		case <-ctx.Done():
		}
	}
	if now, err := reg.Get(rec.ID); err == nil {
		rec = now
	}
	return rec
}

// approvalState is the answer for a request without a session.
func approvalState(rec *approval.Record) *protocol.ToolResult {
	d := &protocol.ProcessResult{SessionID: rec.ID, Status: protocol.StatusApprovalPending}
	var none string
	d.Output = &none
	var text string
	run := rec.Run
	switch {
	case !rec.Final():
		text = fmt.Sprintf("[still waiting for a person's approval: %s; nothing has started]", rec.Slug)
	case !rec.Decision.Allows():
		var reason string
		reason, text = notRun(rec)
		d.Status = protocol.StatusDenied
		if rec.Status == approval.Cancelled {
			d.Status = protocol.StatusCancelled
		}
		d.Warnings = append(d.Warnings, reason)
	case run == nil || run.State == approval.RunStarting:
		d.Status = protocol.StatusRunning
		text = "[allowed; it is being started]"
	case run.State == approval.RunRefused:
		d.Status = protocol.StatusDenied
		d.Warnings = append(d.Warnings, run.Reason)
		text = fmt.Sprintf("[not run: it was allowed, but %s. The command did not run and there is no output]", run.Reason)
	case run.State == approval.RunCancelled:
		d.Status = protocol.StatusCancelled
		d.Warnings = append(d.Warnings, "cancelled: "+run.Reason)
		text = fmt.Sprintf("[cancelled: %s. The command did not run and there is no output]", run.Reason)
	default: // it has run, and its output is kept no longer
		d.Status = protocol.Status(run.Status)
		d.ExitCode, d.Signal, d.DurationMs = run.ExitCode, run.Signal, run.DurationMs
		text = "[it has ended; its output is no longer kept]"
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}
}
