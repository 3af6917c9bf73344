package supervisor

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"openclaw/internal/session"
)

// laneHello makes a connection a lane of a client that has another one.
type laneHello struct {
	Client string `json:"client"` // from its welcome
}

// serveLane runs one command after the other on this goroutine until the client goes.
func (c *served) serveLane(r *bufio.Reader, owner *served) {
	for {
		f, err := readFrame(r)
		if err != nil || f.kind == kindRequest && f.op != opRun {
			return
		}
		if f.kind != kindRequest { // a cancellation that came too late
			continue
		}
		w := &laneWatch{r: r}
		ctx, cancel := context.WithCancel(c.ctx)
		c.runFor(ctx, f, owner, func() { w.begin(cancel) })
		cancel()
		if !w.end(c) {
			return
		}
	}
}

// laneWatch looks for a cancellation, and for the client's end, while a command runs that
// is not a short one. It reads without taking: what comes next is the lane's.
type laneWatch struct {
	r    *bufio.Reader
	done sync.WaitGroup
	on   bool
}

// begin starts the watch, on a goroutine that ends with what comes next.
func (w *laneWatch) begin(cancel context.CancelFunc) {
	w.on = true
	w.done.Go(func() {
		_, _ = readFrame(w.r) // a cancellation, or the end; nothing else is allowed
		cancel()
	})
}

// end ends the watch after the answer has been written and reports whether the lane can
// be used again. A watched lane cannot: its reader still waits for what comes.
func (w *laneWatch) end(c *served) bool {
	if !w.on {
		return true
	}
	_ = c.conn.CloseRead() // wakes the reader; the answer still goes out
	w.done.Wait()
	return false
}

// lane turns the connection into a lane and serves it; the first frame has said so.
func (c *served) lane(r *bufio.Reader, f frame) error {
	h, err := decode[laneHello](f)
	if err != nil {
		return err
	}
	owner := c.server.client(h.Client)
	if owner == nil {
		c.fail(f, errors.New("no such client"))
		return io.EOF
	}
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op}, struct{}{})
	c.serveLane(r, owner)
	return io.EOF
}

// runFor carries out opRun for a client; long is called when the command is not over
// after the time of a short one. Its end goes with the answer, or by itself if it goes on.
func (c *served) runFor(ctx context.Context, f frame, owner *served, long func()) {
	req, wanted, err := decodeRun(f.raw)
	if err != nil {
		c.fail(f, errors.Join(errBadRequest, err))
		return
	}
	if watch := long; watch != nil {
		long = func() {
			f.id = laneOver // the answer says that the lane ends with it
			watch()
		}
	}
	key, expected := "", false
	snap, err := c.server.table.RunWatched(ctx, req, func(st session.State) {
		key = st.Key
		expected = c.server.hub.expect(key, owner)
		if wanted {
			c.write(frame{id: f.id, kind: kindStarted, op: f.op}, st)
		}
	}, long)
	if expected && (err != nil || !snap.Final) {
		c.server.hub.goesOn(key)
	}
	if err != nil {
		c.fail(f, err)
		return
	}
	snap.Final = snap.Final && expected
	c.write(frame{id: f.id, kind: kindAnswer, op: f.op, raw: encodeSnapshot(snap)}, nil)
}
