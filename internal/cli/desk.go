package cli

import (
	"context"
	"errors"
	"fmt"

	"openclaw/internal/approval"
	"openclaw/internal/inbox"
	"openclaw/internal/protocol"
)

// remoteDesk is a daemon's requests.
type remoteDesk struct{ client control }

// Listen begins with an empty event, once the daemon knows of the listener.
func (d remoteDesk) Listen(ctx context.Context, each func(inbox.Event)) error {
	return d.client.Approvals(ctx, func() { each(inbox.Event{}) },
		func(a protocol.ExecApproval) { each(inbox.Event{Requested: &a}) },
		func(r protocol.ExecApprovalResolved) { each(inbox.Event{Resolved: &r}) })
}

func (d remoteDesk) Resolve(ctx context.Context, id, decision string) error {
	_, err := resolveRemote(ctx, d.client, id, decision)
	return err
}

// resolution is the answer of approval.resolve.
type resolution struct {
	Applied  bool                      `json:"applied"`
	Approval protocol.ApprovalSnapshot `json:"approval"`
}

// resolveRemote gives an answer to a daemon. An error says that another one stands.
func resolveRemote(ctx context.Context, c control, id, decision string) (resolution, error) {
	var res resolution
	err := c.RPC(ctx, "approval.resolve", map[string]string{"id": id, "decision": decision}, &res)
	if err != nil {
		return res, err
	}
	if a := res.Approval; a.Decision != decision {
		what := a.Status
		if a.Decision != "" {
			what = a.Decision
		}
		return res, fmt.Errorf("approval already resolved: %s", what)
	}
	return res, nil
}

// localDesk is the requests of this process.
type localDesk struct{ reg *approval.Registry }

func (d localDesk) Listen(ctx context.Context, each func(inbox.Event)) error {
	sub := d.reg.Subscribe(true)
	defer sub.Close()
	each(inbox.Event{})
	for _, rec := range d.reg.Pending() {
		a := rec.Wire()
		each(inbox.Event{Requested: &a})
	}
	for {
		e, err := sub.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case e.Final:
			r := e.Record.Resolved()
			each(inbox.Event{Resolved: &r})
		default:
			a := e.Record.Wire()
			each(inbox.Event{Requested: &a})
		}
	}
}

func (d localDesk) Resolve(ctx context.Context, id, decision string) error {
	_, _, err := d.reg.Resolve(ctx, id, approval.Decision(decision), approval.Resolver{Kind: "device", ID: "terminal", Name: "you"})
	return err
}

// errNoAnswer ends a command whose prompt the person has left.
var errNoAnswer = errors.New("no answer was given")

// prompt shows the request that this command waits for, in the terminal that waits. It
// returns once the daemon counts on an answer; the rest is done beside, until the call is
// over.
func (x *execution) prompt(command string) {
	desk := x.link.desk
	known := make(chan struct{})
	asked := make(chan protocol.ExecApproval, 1)
	listening := make(chan struct{})
	x.side.Go(func() {
		defer close(listening)
		open := false
		err := desk.Listen(x.ctx, func(e inbox.Event) {
			if !open {
				open = true
				close(known)
			}
			if a := e.Requested; a != nil && a.Request.Command == command {
				select {
				case asked <- *a:
				default: // one is shown already
				}
			}
		})
		if !open {
			close(known)
		}
		if err != nil && x.ctx.Err() == nil {
			x.env.say("warning", "an approval could not be shown here: %v", err)
		}
	})
	x.side.Go(func() {
		select {
		case a := <-asked:
			err := inbox.Ask(x.ctx, desk, a, inbox.Options{In: x.env.Stdin, Out: x.env.Stderr, Env: x.env.Environ, Colour: x.env.colour(x.env.Stderr)})
			if errors.Is(err, inbox.ErrLeft) {
				x.cancel(errNoAnswer)
			} else if err != nil && x.ctx.Err() == nil {
				x.env.say("warning", "the approval prompt: %v", err)
			}
		case <-listening:
		case <-x.ctx.Done():
		}
	})
	<-known
}
