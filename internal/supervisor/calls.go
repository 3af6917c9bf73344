package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"openclaw/internal/session"
)

// Run starts a plan in the supervisor that takes new sessions; see session.Table.Run. If
// that supervisor dies while the command runs, what its successor knows of the session is
// returned: it reads lost, with its output up to then.
func (c *Client) Run(ctx context.Context, req session.RunRequest, started func(session.State)) (session.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return session.Snapshot{}, context.Cause(ctx)
	}
	for try := 0; ; try++ {
		l, err := c.accepting(ctx, true)
		if err != nil {
			return session.Snapshot{}, err
		}
		snap, err := l.runThrough(ctx, req, started)
		switch {
		case err == nil:
			if snap.Final && c.opt.OnEnd != nil {
				c.gaveLater(l, session.End{State: snap.State, Record: req.Plan.Record})
			}
			return snap, nil
		case errors.Is(err, session.ErrClosing) && try < launchTries: // nothing was started
			l.setRetired()
		case errors.Is(err, errGone):
			return c.afterDeath(ctx, l, req)
		default:
			return session.Snapshot{}, err
		}
	}
}

// deathWait is how long a call waits for a supervisor to take over from a dead one.
const deathWait = 15 * time.Second

// afterDeath finds out what became of a command whose supervisor died.
func (c *Client) afterDeath(ctx context.Context, dead *link, req session.RunRequest) (session.Snapshot, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deathWait)
	defer cancel()
	dead.conn.Close() // a lane may have noticed first
	<-dead.gone
	died := fmt.Errorf("the supervisor (pid %d) died while the command was about to run; if it ran, it was ended", dead.peer.PID)
	l, err := c.accepting(ctx, true)
	if err != nil {
		return session.Snapshot{}, errors.Join(died, err)
	}
	page, err := c.log(ctx, l, req.Plan.Agent, req.Plan.ID, 0, 0, req.MaxChars)
	if err != nil || page.Key != dead.peer.Instance+"."+req.Plan.ID {
		return session.Snapshot{}, died
	}
	return page.Snapshot, nil
}

// each makes a request of the supervisors in turn until one knows the session. Without
// any it starts one if there are records of sessions.
func each[T any](ctx context.Context, c *Client, id string, request func(*link) (T, error)) (T, error) {
	var none T
	if _, err := c.accepting(ctx, c.leftSomethingUnless()); err != nil && !errors.Is(err, errNone) {
		return none, err
	}
	unknown := fmt.Errorf("%w: %q; process list shows yours", session.ErrNotFound, id)
	for _, l := range c.newestFirst() {
		got, err := request(l)
		if err == nil || !errors.Is(err, session.ErrNotFound) && !errors.Is(err, errGone) {
			return got, err
		}
		unknown = err
	}
	if errors.Is(unknown, errGone) {
		unknown = fmt.Errorf("%w: the supervisor of process sessions has just died; try again", session.ErrNotFound)
	}
	return none, unknown
}

// leftSomethingUnless is leftSomething that does not look when a supervisor is connected.
func (c *Client) leftSomethingUnless() bool { return c.current() == nil && c.leftSomething() }

func (c *Client) newestFirst() []*link {
	c.mu.Lock()
	defer c.mu.Unlock()
	links := slices.Clone(c.links)
	slices.Reverse(links)
	return links
}

// Poll is session.Table.Poll.
func (c *Client) Poll(ctx context.Context, agent, id string, wait time.Duration, limit int) (session.Snapshot, error) {
	return each(ctx, c, id, func(l *link) (session.Snapshot, error) {
		f, err := l.do(ctx, opPoll, pollArgs{sessionArgs{agent, id}, wait, limit}, nil)
		if err != nil {
			return session.Snapshot{}, err
		}
		return decodeSnapshot(f.raw)
	})
}

// Log is session.Table.Log.
func (c *Client) Log(ctx context.Context, agent, id string, offset, limit int64, maxChars int) (session.Page, error) {
	return each(ctx, c, id, func(l *link) (session.Page, error) {
		return c.log(ctx, l, agent, id, offset, limit, maxChars)
	})
}

func (c *Client) log(ctx context.Context, l *link, agent, id string, offset, limit int64, maxChars int) (session.Page, error) {
	f, err := l.do(ctx, opLog, logArgs{sessionArgs{agent, id}, offset, limit, maxChars}, nil)
	if err != nil {
		return session.Page{}, err
	}
	body, err := decode[pageBody](f)
	if err != nil {
		return session.Page{}, err
	}
	snap, err := decodeSnapshot(f.raw)
	return session.Page{Snapshot: snap, First: body.First, Total: body.Total}, err
}

// Read is session.Table.Read.
func (c *Client) Read(ctx context.Context, req session.ReadRequest) (session.Chunk, error) {
	return each(ctx, c, req.ID, func(l *link) (session.Chunk, error) {
		f, err := l.do(ctx, opRead, req, nil)
		if err != nil {
			return session.Chunk{}, err
		}
		body, err := decode[chunkBody](f)
		return session.Chunk{Offset: body.Offset, Data: f.raw, End: body.End}, err
	})
}

// Get is session.Table.Get.
func (c *Client) Get(ctx context.Context, agent, id string) (session.State, error) {
	return each(ctx, c, id, func(l *link) (session.State, error) {
		return ask[session.State](ctx, l, opGet, sessionArgs{agent, id})
	})
}

// Tail is session.Table.Tail.
func (c *Client) Tail(ctx context.Context, agent, id string, limit int) (string, error) {
	return each(ctx, c, id, func(l *link) (string, error) {
		return ask[string](ctx, l, opTail, tailArgs{sessionArgs{agent, id}, limit})
	})
}

// Kill is session.Table.Kill.
func (c *Client) Kill(ctx context.Context, agent, id string) (session.State, bool, error) {
	b, err := each(ctx, c, id, func(l *link) (killBody, error) {
		return ask[killBody](ctx, l, opKill, sessionArgs{agent, id})
	})
	return b.State, b.Ended, err
}

// Signal is session.Table.Signal.
func (c *Client) Signal(ctx context.Context, agent, id, name string) error {
	return c.tell(ctx, id, opSignal, signalArgs{sessionArgs{agent, id}, name})
}

// Write is session.Table.Write.
func (c *Client) Write(ctx context.Context, agent, id string, in session.Input) (int, error) {
	written := 0
	n, err := each(ctx, c, id, func(l *link) (int, error) {
		f, err := l.do(ctx, opWrite, writeArgs{sessionArgs{agent, id}, in}, nil)
		if err != nil {
			if fail, derr := decode[failure](f); derr == nil && f.kind == kindFailure {
				written = fail.Written
			}
			return 0, err
		}
		return decode[int](f)
	})
	if err != nil {
		return written, err
	}
	return n, nil
}

// Resize is session.Table.Resize.
func (c *Client) Resize(ctx context.Context, agent, id string, cols, rows int) error {
	return c.tell(ctx, id, opResize, resizeArgs{sessionArgs{agent, id}, cols, rows})
}

// Screen is session.Table.Screen.
func (c *Client) Screen(ctx context.Context, agent, id string) (session.Screen, error) {
	b, err := each(ctx, c, id, func(l *link) (screenBody, error) {
		return ask[screenBody](ctx, l, opScreen, sessionArgs{agent, id})
	})
	return session.Screen{State: b.State, Screen: b.Screen}, err
}

// Paint is session.Table.Paint.
func (c *Client) Paint(ctx context.Context, agent, id string) (session.Paint, error) {
	return each(ctx, c, id, func(l *link) (session.Paint, error) {
		f, err := l.do(ctx, opPaint, sessionArgs{agent, id}, nil)
		if err != nil {
			return session.Paint{}, err
		}
		b, err := decode[paintBody](f)
		return session.Paint{State: b.State, Cols: b.Cols, Rows: b.Rows, Offset: b.Offset, Data: f.raw}, err
	})
}

// View is session.Table.View.
func (c *Client) View(ctx context.Context, req session.ViewRequest) (session.State, error) {
	return each(ctx, c, req.ID, func(l *link) (session.State, error) {
		return ask[session.State](ctx, l, opView, req)
	})
}

// Clear is session.Table.Clear.
func (c *Client) Clear(ctx context.Context, agent, id string) error {
	return c.tell(ctx, id, opClear, sessionArgs{agent, id})
}

// Remove is session.Table.Remove.
func (c *Client) Remove(ctx context.Context, agent, id string) error {
	return c.tell(ctx, id, opRemove, sessionArgs{agent, id})
}

// tell makes a request that has no answer but that it was carried out.
func (c *Client) tell(ctx context.Context, id string, o op, args any) error {
	_, err := each(ctx, c, id, func(l *link) (struct{}, error) { return ask[struct{}](ctx, l, o, args) })
	return err
}

// List is session.Table.List, over all supervisors.
func (c *Client) List(ctx context.Context, agent string, tail int) ([]session.Listed, error) {
	all, err := gather(ctx, c, func(l *link) ([]session.Listed, error) {
		return ask[[]session.Listed](ctx, l, opList, listArgs{agent, tail})
	})
	var rows []session.Listed
	for _, list := range all {
		rows = append(rows, list...)
	}
	slices.SortStableFunc(rows, func(a, b session.Listed) int {
		switch {
		case a.Finished() == b.Finished():
			return b.Started.Compare(a.Started)
		case b.Finished():
			return -1
		}
		return 1
	})
	return rows, err
}

// Counts is session.Table.Counts, over all supervisors.
func (c *Client) Counts(ctx context.Context) (session.Counts, error) {
	all, err := gather(ctx, c, func(l *link) (session.Counts, error) {
		return ask[session.Counts](ctx, l, opCounts, nil)
	})
	var sum session.Counts
	for _, n := range all {
		sum.Running += n.Running
		sum.Finished += n.Finished
		sum.LogBytes += n.LogBytes
	}
	return sum, err
}

// gather makes a request of every supervisor. One that goes meanwhile has nothing to say.
func gather[T any](ctx context.Context, c *Client, request func(*link) (T, error)) ([]T, error) {
	if _, err := c.accepting(ctx, c.leftSomethingUnless()); err != nil && !errors.Is(err, errNone) {
		return nil, err
	}
	var all []T
	for _, l := range c.newestFirst() {
		got, err := request(l)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	return all, nil
}

// Capture runs one of our own helpers in the supervisor; see proc.Starter.Capture.
func (c *Client) Capture(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
	l, err := c.accepting(ctx, true)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(captureArgs{Limit: limit})
	if err != nil {
		return nil, err
	}
	raw := appendText(appendTexts(appendTexts(nil, argv), env), dir)
	f, err := l.do(ctx, opCapture, json.RawMessage(body), raw)
	if err != nil {
		return nil, err
	}
	return f.raw, nil
}

// LimitLogs sets the bound of all logs of a supervisor together, in bytes.
func (c *Client) LimitLogs(total int64) {
	c.mu.Lock()
	c.logTotal = total
	c.mu.Unlock()
	for _, l := range c.newestFirst() {
		c.running.Go(func() {
			_, _ = ask[struct{}](c.ctx, l, opLimit, limitArgs{LogTotal: total}) // a later one is told at its start
		})
	}
}

// Retire makes every supervisor end as soon as it has no running session. It starts none.
func (c *Client) Retire(ctx context.Context) error {
	if _, err := c.accepting(ctx, false); err != nil && !errors.Is(err, errNone) {
		return err
	}
	for _, l := range c.newestFirst() {
		l.setRetired()
		if _, err := ask[struct{}](ctx, l, opRetire, nil); err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	return nil
}

// refused reports whether a connection failed because nobody is there any more.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) || errors.Is(err, errGone)
}
