package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"openclaw/internal/approval"
	"openclaw/internal/pairing"
	"openclaw/internal/protocol"
)

const (
	handshakeTime = 15 * time.Second // for the whole sign-in (protocol 1.1)
	pingEvery     = 25 * time.Second
	pongWithin    = 25 * time.Second
	writeWithin   = 30 * time.Second // for one frame
	callsAtOnce   = 64               // requests of one connection under way
	roleErrorsMax = 10               // in a row, before the connection is closed (protocol 1.3)
)

// socketConn is one client on the WebSocket. Its owner is the handler of its request,
// which returns when everything of it has ended.
type socketConn struct {
	server *server
	ws     *websocket.Conn
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	id      string
	remote  string
	local   bool // direct loopback (protocol 2.2)
	browser bool // it sent an Origin

	// set by the sign-in, not changed after
	client  protocol.ConnectClient
	role    string
	scopes  []string
	caps    []string
	device  string // proved id; "" = none
	method  string // how it signed in
	secret  string // device token it holds
	started time.Time

	mu       sync.Mutex // guards what follows
	out      [][]byte
	buffered int
	wake     chan struct{}
	seq      int64
	roleErrs int
}

// holds reports whether the connection may do what needs a scope.
func (c *socketConn) holds(scope string) bool { return pairing.Holds(c.scopes, scope) }

// socket serves one WebSocket connection to its end.
func (s *server) socket(req *request) {
	ws, err := websocket.Accept(req.w, req.r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled,
		// Host and Origin were checked before (the guard), for every route alike.
		InsecureSkipVerify: true,
	})
	if err != nil {
		return // it has answered
	}
	ctx, end := s.context(req)
	defer end()
	c := &socketConn{
		server: s, ws: ws, id: approval.NewID(approval.KindExec), wake: make(chan struct{}, 1), started: time.Now(),
		remote: s.limiter.client(req.r.RemoteAddr).String(), local: directLoopback(req.r), browser: req.r.Header.Get("Origin") != "",
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	c.serve(req)
	c.cancel(nil)
	c.work.Wait()
	_ = ws.CloseNow() // it is closed by now, or nobody is there
}

// serve signs the client in and answers its requests.
func (c *socketConn) serve(req *request) {
	c.ws.SetReadLimit(protocol.HandshakeMax)
	hello := c.handshake(req)
	if hello == nil {
		return
	}
	c.ws.SetReadLimit(protocol.PayloadMax)
	s := c.server
	c.send(hello, false) // the first frame; when it arrives the client is there for everybody
	s.hub.add(c)
	defer s.hub.remove(c)
	if c.holds("operator.approvals") && c.role == pairing.RoleOperator {
		if reg, err := req.backend.approvals(c.ctx); err == nil {
			sub := reg.Subscribe(c.showsApprovals())
			c.work.Go(func() { c.passApprovals(sub) })
			defer sub.Close()
		}
	}
	c.work.Go(c.writeLoop)
	c.work.Go(c.pingLoop)
	slots := make(chan struct{}, callsAtOnce)
	for {
		// Not c.ctx: a read whose context ends closes the connection without a word. The
		// writer closes it, with the reason.
		kind, data, err := c.ws.Read(context.WithoutCancel(c.ctx))
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			continue
		}
		var frame protocol.RequestFrame
		if !json.Valid(data) { // protocol 1.2: ignored once the client has signed in
			continue
		}
		err = protocol.Closed(data, &frame)
		if err == nil {
			err = frame.Check()
		}
		if err != nil {
			id := frame.ID
			if id == "" {
				id = "invalid"
			}
			c.fail(id, &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: "invalid request frame: " + err.Error()})
			continue
		}
		if waits(frame.Method) { // for a person: it must not keep other calls from being made
			c.work.Go(func() { c.answer(req.backend, &frame) })
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-c.ctx.Done():
			return
		}
		c.work.Go(func() {
			defer func() { <-slots }()
			c.answer(req.backend, &frame)
		})
	}
}

// waits reports whether a method may take as long as a person does.
func waits(method string) bool {
	return strings.HasSuffix(method, "approval.request") || strings.HasSuffix(method, "approval.waitDecision")
}

// answer runs one request.
func (c *socketConn) answer(b *backend, frame *protocol.RequestFrame) {
	result, shape := c.server.dispatch(c.ctx, b, c, frame)
	if shape != nil {
		c.fail(frame.ID, shape)
		return
	}
	c.send(protocol.ResponseFrame{Type: "res", ID: frame.ID, OK: true, Payload: result}, false)
	if two, ok := result.(phased); ok {
		result, err := two.second(c.ctx)
		switch {
		case c.ctx.Err() != nil:
		case err != nil:
			c.fail(frame.ID, shapeOf(frame.Method, err))
		default:
			c.send(protocol.ResponseFrame{Type: "res", ID: frame.ID, OK: true, Payload: result}, false)
		}
	}
}

func (c *socketConn) fail(id string, shape *protocol.ErrorShape) {
	c.send(protocol.ResponseFrame{Type: "res", ID: id, Error: shape}, false)
}

// event sends an event of the broadcast kind, which has a number.
func (c *socketConn) event(name string, payload any, droppable bool) {
	c.mu.Lock()
	if droppable && c.buffered > protocol.BufferedMax/2 {
		c.mu.Unlock()
		return
	}
	c.seq++
	frame := protocol.EventFrame{Type: "event", Event: name, Payload: payload, Seq: c.seq}
	c.enqueueLocked(frame)
	c.mu.Unlock()
}

// send queues a frame. A client that does not read is cut off, never waited for.
func (c *socketConn) send(frame any, _ bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueueLocked(frame)
}

func (c *socketConn) enqueueLocked(frame any) {
	data, err := json.Marshal(frame)
	if err != nil {
		c.server.opt.Log.Error("encode a frame", "err", err)
		return
	}
	if c.buffered+len(data) > protocol.BufferedMax {
		c.cancel(errSlow)
		return
	}
	c.buffered += len(data)
	c.out = append(c.out, data)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

var (
	errSlow   = errors.New("slow consumer")
	errSilent = errors.New("no answer to a ping")
)

// writeLoop is the one writer. When the connection ends for a reason of ours, the client
// is told.
func (c *socketConn) writeLoop() {
	defer c.sayGoodbye()
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		for {
			c.mu.Lock()
			if len(c.out) == 0 {
				c.mu.Unlock()
				break
			}
			batch := c.out
			c.out = nil
			c.mu.Unlock()
			for _, data := range batch {
				if !c.write(data) {
					c.cancel(nil)
					return
				}
				c.mu.Lock()
				c.buffered -= len(data)
				c.mu.Unlock()
			}
		}
	}
}

func (c *socketConn) write(data []byte) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), writeWithin)
	defer cancel()
	stop := context.AfterFunc(c.ctx, func() {
		if errors.Is(context.Cause(c.ctx), errSlow) { // it does not read: nothing to wait for
			cancel()
		}
	})
	defer stop()
	return c.ws.Write(ctx, websocket.MessageText, data) == nil
}

// sayGoodbye closes the connection with the reason for its end.
func (c *socketConn) sayGoodbye() {
	cause := context.Cause(c.ctx)
	var end *closeError
	switch {
	case errors.As(cause, &end):
		_ = c.ws.Close(end.code, cut(end.text, 120))
	case errors.Is(cause, errStopping):
		data, err := json.Marshal(protocol.EventFrame{Type: "event", Event: "shutdown", Payload: map[string]string{"reason": "gateway stopping"}})
		if err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = c.ws.Write(ctx, websocket.MessageText, data) // it may have gone
			cancel()
		}
		_ = c.ws.Close(1012, "service restart")
	case errors.Is(cause, errSlow):
		_ = c.ws.Close(websocket.StatusPolicyViolation, "slow consumer")
	default:
		_ = c.ws.CloseNow()
	}
}

// closeError ends a connection with a code and a text for the client.
type closeError struct {
	code websocket.StatusCode
	text string
}

func (e *closeError) Error() string { return e.text }

// cut shortens a text to so many bytes, never inside a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}

// pingLoop finds out when the client has gone without a word.
func (c *socketConn) pingLoop() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(c.ctx, pongWithin)
		err := c.ws.Ping(ctx)
		cancel()
		if err != nil {
			c.cancel(errSilent)
			return
		}
	}
}

// showsApprovals reports whether the client shows requests to somebody (protocol 4.7).
func (c *socketConn) showsApprovals() bool {
	switch c.client.ID {
	case "openclaw-control-ui", "openclaw-macos", "openclaw-ios", "openclaw-android":
		return true
	}
	for _, name := range c.caps {
		if name == "approvals" || name == "exec-approvals" {
			return true
		}
	}
	return false
}

// passApprovals tells the client of requests that it may see. Those of our own exec are
// seen by every connection that shows approvals, and by admins.
func (c *socketConn) passApprovals(sub *approval.Subscription) {
	shows := c.showsApprovals() || c.holds("operator.admin")
	for {
		e, err := sub.Next(c.ctx)
		if err != nil {
			if errors.Is(err, approval.ErrSlow) {
				c.cancel(errSlow)
			}
			return
		}
		if !shows || !c.sees(&e.Record) {
			continue
		}
		prefix := "exec.approval."
		if e.Record.Request.Kind == approval.KindPlugin {
			prefix = "plugin.approval."
		}
		if e.Final {
			c.event(prefix+"resolved", e.Record.Resolved(), false)
		} else {
			c.event(prefix+"requested", e.Record.Wire(), false)
		}
	}
}

// directLoopback reports whether a request came straight from this machine.
func directLoopback(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	return loopbackAddr(r.RemoteAddr) && localHost(r.Host)
}
