package tool

import (
	"context"
	"errors"
	"sync"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
)

// clientName is who decided, where the caller's own program put the question (A-60b).
const clientName = "mcp-client"

// badVerdict is why a request ends whose caller brought no answer that could be one.
const badVerdict = "malformed-verdict"

// Ask is Call for a caller that puts questions to its own person (A-60b): it counts as
// somebody who can answer, for its own calls. With a question there is no result yet, and
// nothing has started: the caller brings the answer to Answer, or the request expires.
func (s *Service) Ask(ctx context.Context, c Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *protocol.Question, error) {
	if req.IdempotencyKey != "" { // its answer may be an earlier call's
		return nil, nil, invalid("a call that puts its question itself has no idempotencyKey")
	}
	var own asked
	c.asks = &own
	res, err := s.Call(ctx, c, req, watch)
	if err != nil || own.flight == nil {
		return res, nil, err
	}
	reg, err := s.Approvals(ctx)
	if err != nil {
		return nil, nil, WireError(ctx, err)
	}
	state, ok := s.tickets.issue(own, callSum(c, req), time.Now())
	if !ok {
		s.leave(ctx, reg, own.flight)
		return nil, nil, &protocol.Error{Type: protocol.ErrLimit, Message: "too many questions are open; answer some"}
	}
	return nil, &protocol.Question{Approval: own.rec.Wire(), State: state}, nil
}

// Answer settles the question of a call and gives what comes of it, as a call that waits
// gets it. The request is that of the call once more. Person says whether the command may
// run this once; it is called at most once, may take its time, and returns soon when its
// context ends: then the question has gone. Its error means that nobody could answer, which
// denies. A state that is not of an open question of this call changes nothing.
func (s *Service) Answer(ctx context.Context, c Caller, req protocol.ToolRequest, state string, person func(context.Context) (allow bool, err error), watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	own, err := s.tickets.redeem(state, callSum(c, req))
	if err != nil {
		return nil, &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error(), Hint: "nothing was started; make the call again without it"}
	}
	reg, err := s.Approvals(ctx)
	if err != nil {
		return nil, WireError(ctx, err)
	}
	s.flights.attend(own.flight, watch)
	waiting, stop := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	asking.Go(func() {
		if err := s.settle(waiting, reg, own.rec.ID, person); err != nil {
			stop(err)
		}
	})
	res, err := s.await(waiting, reg, own.flight, own.rec, protocol.WaitForever)
	stop(nil)
	asking.Wait()
	if err != nil {
		return nil, WireError(ctx, err)
	}
	return res, nil
}

// settle gets the answer and records it. An error means that it could not be.
func (s *Service) settle(ctx context.Context, reg *approval.Registry, id string, person func(context.Context) (bool, error)) error {
	allow, err := person(ctx)
	switch {
	case ctx.Err() != nil: // whatever it says comes too late
		return nil
	case err != nil:
		s.log.Warn("an approval got no answer that could be one", "approval", id, "err", err)
		_, _, err = reg.Refuse(ctx, id, badVerdict)
	default:
		d := approval.DenyIt
		if allow {
			d = approval.AllowOnce
		}
		_, _, err = reg.Resolve(ctx, id, d, approval.Resolver{Kind: "runtime", ID: clientName, Name: clientName})
	}
	if errors.Is(err, approval.ErrResolved) || errors.Is(err, approval.ErrUnknown) { // what stands is told
		return nil
	}
	return err
}
