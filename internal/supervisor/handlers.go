package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"openclaw/internal/session"
)

// handler answers one request.
type handler func(ctx context.Context, c *served, f frame)

// handlers is the table of all ops. Each is a method of the table.
var handlers = map[op]handler{
	opHello: with(func(_ context.Context, c *served, a hello) (welcome, error) { return c.hello(a), nil }),
	opRun:   func(ctx context.Context, c *served, f frame) { c.runFor(ctx, f, c, nil) },
	opPoll: func(ctx context.Context, c *served, f frame) {
		withTexts(ctx, c, f, func(a pollArgs) (session.Page, error) {
			snap, err := c.server.table.Poll(ctx, a.Agent, a.ID, a.Wait, a.Limit)
			return session.Page{Snapshot: snap}, err
		})
	},
	opLog: func(ctx context.Context, c *served, f frame) {
		withTexts(ctx, c, f, func(a logArgs) (session.Page, error) {
			return c.server.table.Log(ctx, a.Agent, a.ID, a.Offset, a.Limit, a.MaxChars)
		})
	},
	opRead: func(ctx context.Context, c *served, f frame) {
		a, err := decode[session.ReadRequest](f)
		if err != nil {
			c.fail(f, errors.Join(errBadRequest, err))
			return
		}
		chunk, err := c.server.table.Read(ctx, a)
		if err != nil {
			c.fail(f, err)
			return
		}
		c.write(frame{id: f.id, kind: kindAnswer, op: f.op, raw: chunk.Data}, chunkBody{Offset: chunk.Offset, End: chunk.End})
	},
	opGet: with(func(ctx context.Context, c *served, a sessionArgs) (session.State, error) {
		return c.server.table.Get(ctx, a.Agent, a.ID)
	}),
	opTail: with(func(ctx context.Context, c *served, a tailArgs) (string, error) {
		return c.server.table.Tail(ctx, a.Agent, a.ID, a.Limit)
	}),
	opList: with(func(ctx context.Context, c *served, a listArgs) ([]session.Listed, error) {
		return c.server.table.List(ctx, a.Agent, a.Tail)
	}),
	opCounts: with(func(ctx context.Context, c *served, _ struct{}) (session.Counts, error) {
		return c.server.table.Counts(ctx)
	}),
	opKill: with(func(ctx context.Context, c *served, a sessionArgs) (killBody, error) {
		st, ended, err := c.server.table.Kill(ctx, a.Agent, a.ID)
		return killBody{State: st, Ended: ended}, err
	}),
	opSignal: with(func(ctx context.Context, c *served, a signalArgs) (struct{}, error) {
		return struct{}{}, c.server.table.Signal(ctx, a.Agent, a.ID, a.Name)
	}),
	opWrite: func(ctx context.Context, c *served, f frame) { c.input(ctx, f) },
	opResize: with(func(ctx context.Context, c *served, a resizeArgs) (struct{}, error) {
		return struct{}{}, c.server.table.Resize(ctx, a.Agent, a.ID, a.Cols, a.Rows)
	}),
	opScreen: with(func(ctx context.Context, c *served, a sessionArgs) (screenBody, error) {
		sc, err := c.server.table.Screen(ctx, a.Agent, a.ID)
		return screenBody{State: sc.State, Screen: sc.Screen}, err
	}),
	opPaint: func(ctx context.Context, c *served, f frame) { c.paint(ctx, f) },
	opView: with(func(ctx context.Context, c *served, a session.ViewRequest) (session.State, error) {
		return c.server.table.View(ctx, a)
	}),
	opClear: with(func(ctx context.Context, c *served, a sessionArgs) (struct{}, error) {
		return struct{}{}, c.server.table.Clear(ctx, a.Agent, a.ID)
	}),
	opRemove: with(func(ctx context.Context, c *served, a sessionArgs) (struct{}, error) {
		return struct{}{}, c.server.table.Remove(ctx, a.Agent, a.ID)
	}),
	opCapture: func(ctx context.Context, c *served, f frame) { c.capture(ctx, f) },
	opLimit: with(func(_ context.Context, c *served, a limitArgs) (struct{}, error) {
		if a.LogTotal > 0 {
			c.server.table.LimitLogs(a.LogTotal)
		}
		return struct{}{}, nil
	}),
	opAdopt: with(func(_ context.Context, c *served, _ struct{}) (struct{}, error) {
		if !c.server.retired() {
			c.server.table.Adopt()
		}
		return struct{}{}, nil
	}),
	opRetire: with(func(_ context.Context, c *served, _ struct{}) (struct{}, error) {
		c.server.opt.Log.Info("supervisor retires")
		c.server.retire()
		return struct{}{}, nil
	}),
}

// with makes a handler of a function from arguments to a body.
func with[A, B any](do func(ctx context.Context, c *served, args A) (B, error)) handler {
	return func(ctx context.Context, c *served, f frame) {
		args, err := decode[A](f)
		if err != nil {
			c.fail(f, errors.Join(errBadRequest, err))
			return
		}
		body, err := do(ctx, c, args)
		if err != nil {
			c.fail(f, err)
			return
		}
		c.write(frame{id: f.id, kind: kindAnswer, op: f.op}, body)
	}
}

// withTexts is with for answers that carry output.
func withTexts[A any](_ context.Context, c *served, f frame, do func(args A) (session.Page, error)) {
	args, err := decode[A](f)
	if err != nil {
		c.fail(f, errors.Join(errBadRequest, err))
		return
	}
	page, err := do(args)
	if err != nil {
		c.fail(f, err)
		return
	}
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op, raw: encodeSnapshot(page.Snapshot)}, pageBody{page.First, page.Total})
}

// hello answers a client and, if it wants the ends of sessions, begins to give them.
func (c *served) hello(h hello) welcome {
	c.gateway = h.Gateway
	c.name = rand.Text()
	c.server.enroll(c)
	if h.Ends {
		c.server.hub.join(c)
	}
	return welcome{
		Version: c.server.opt.Version, Instance: c.server.table.Instance(), PID: pid(),
		Retired: c.server.retired(), Features: []string{}, Client: c.name,
	}
}

// input writes to a session. What went in before an error is said with it.
func (c *served) input(ctx context.Context, f frame) {
	a, err := decode[writeArgs](f)
	if err != nil {
		c.fail(f, errors.Join(errBadRequest, err))
		return
	}
	n, err := c.server.table.Write(ctx, a.Agent, a.ID, a.Input)
	if err != nil {
		fail := failureOf(err)
		fail.Written = n
		c.write(frame{id: f.id, kind: kindFailure, op: f.op}, fail)
		return
	}
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op}, n)
}

// paint answers with a screen for a viewer.
func (c *served) paint(ctx context.Context, f frame) {
	a, err := decode[sessionArgs](f)
	if err != nil {
		c.fail(f, errors.Join(errBadRequest, err))
		return
	}
	p, err := c.server.table.Paint(ctx, a.Agent, a.ID)
	if err != nil {
		c.fail(f, err)
		return
	}
	body := paintBody{State: p.State, Cols: p.Cols, Rows: p.Rows, Offset: p.Offset}
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op, raw: p.Data}, body)
}

// captureArgs is a helper's run; argv, environment and directory are raw.
type captureArgs struct {
	Limit int `json:"limit"`
}

func (c *served) capture(ctx context.Context, f frame) {
	var a captureArgs
	err := json.Unmarshal(f.body, &a)
	r := rawReader{b: f.raw}
	argv, env, dir := r.texts(), r.texts(), r.text()
	if err != nil || r.bad || len(argv) == 0 {
		c.fail(f, errBadRequest)
		return
	}
	out, err := c.server.table.Capture(ctx, argv, env, dir, a.Limit)
	if err != nil {
		c.fail(f, err)
		return
	}
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op, raw: out}, nil)
}
