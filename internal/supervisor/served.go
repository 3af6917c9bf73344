package supervisor

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// inFlight is how many requests of one client are worked on at once.
const inFlight = 4096

// served is one client's connection, as the supervisor sees it.
type served struct {
	server  *server
	conn    *net.UnixConn
	gateway bool
	name    string // by which its lanes find it

	ctx     context.Context // ends with the connection
	leave   context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex // guards calls
	calls   map[uint64]context.CancelFunc
	writing sync.Mutex // one frame at a time goes out; guards out
	out     []byte     // kept for the next frame

	outbox sync.Mutex // guards queue and kick
	queue  []frameOut
	kick   chan struct{} // holds a token: the queue is not empty
}

// frameOut is an unasked frame on its way.
type frameOut struct {
	kind kind
	body any
}

func newServed(s *server, c *net.UnixConn) *served {
	v := &served{server: s, conn: c, calls: map[uint64]context.CancelFunc{}, kick: make(chan struct{}, 1)}
	v.ctx, v.leave = context.WithCancel(context.Background())
	return v
}

// serve answers until the client goes. Then its calls are cancelled: a foreground
// command whose daemon has died is ended.
func (c *served) serve() {
	c.working.Go(c.sendQueued)
	stop := context.AfterFunc(c.server.ctx, c.leaveSoon)
	defer stop()
	if err := c.read(); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		c.server.opt.Log.Debug("client gone", "err", err)
	}
	c.leave()
	c.conn.Close() // a writer that waits for it ends
	c.server.unroll(c)
	c.server.hub.leave(c)
	c.working.Wait()
}

// leaveSoon cancels the calls when the supervisor ends; the connection is closed when
// the ends are told of.
func (c *served) leaveSoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.calls {
		cancel()
	}
}

// read takes requests until the connection ends; the error says why it did.
func (c *served) read() error {
	r := bufio.NewReaderSize(c.conn, readBuffer)
	for {
		f, err := readFrame(r)
		if err != nil {
			return err
		}
		switch f.kind {
		case kindRequest:
			if f.op == opLane {
				return c.lane(r, f)
			}
			c.request(f)
		case kindCancel:
			c.mu.Lock()
			cancel := c.calls[f.id]
			c.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		case kindTold:
			keys, err := decode[[]string](f)
			if err != nil {
				return err
			}
			c.server.hub.acknowledge(c, keys)
		default: // a newer client's, which it does not need to be answered
		}
	}
}

// request works on one request on a goroutine of its own.
func (c *served) request(f frame) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	busy := len(c.calls) >= inFlight || c.calls[f.id] != nil
	if !busy {
		c.calls[f.id] = cancel
	}
	c.mu.Unlock()
	if busy {
		cancel()
		c.fail(f, errors.New("too many requests at once"))
		return
	}
	c.working.Go(func() {
		defer func() {
			c.mu.Lock()
			delete(c.calls, f.id)
			c.mu.Unlock()
			cancel()
		}()
		handle := handlers[f.op]
		if handle == nil {
			c.fail(f, ErrUnsupported)
			return
		}
		handle(ctx, c, f)
	})
}

// write sends one frame. A client that is gone is noticed by the reader.
func (c *served) write(f frame, body any) {
	c.writing.Lock()
	defer c.writing.Unlock()
	buf, err := appendFrame(c.out[:0], f, body)
	if err != nil {
		fail := frame{id: f.id, kind: kindFailure, op: f.op}
		if buf, err = appendFrame(c.out[:0], fail, failureOf(err)); err != nil {
			return
		}
	}
	if _, err := c.conn.Write(buf); err != nil {
		c.conn.Close()
	}
	if cap(buf) <= readBuffer {
		c.out = buf
	}
}

func (c *served) fail(f frame, err error) {
	c.write(frame{id: f.id, kind: kindFailure, op: f.op}, failureOf(err))
}

// send queues an unasked frame; it never blocks.
func (c *served) send(k kind, body any) {
	c.outbox.Lock()
	c.queue = append(c.queue, frameOut{k, body})
	c.outbox.Unlock()
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// sendQueued writes what send has queued, until the client goes.
func (c *served) sendQueued() {
	for {
		select {
		case <-c.kick:
		case <-c.ctx.Done():
			return
		}
		c.outbox.Lock()
		queue := c.queue
		c.queue = nil
		c.outbox.Unlock()
		for _, out := range queue {
			c.write(frame{kind: out.kind}, out.body)
		}
	}
}
