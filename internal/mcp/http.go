package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// perRequestVersion is the first protocol version without sessions: each POST
	// stands for itself and its end is the call's cancellation. Older clients cancel
	// with a second POST, which needs a session to find the first. (Dates compare as text.)
	perRequestVersion = "2026-07-28"
	versionHeader     = "Mcp-Protocol-Version"
	sessionHeader     = "Mcp-Session-Id"

	sessionIdle = 24 * time.Hour // without a request; clients rarely say good-bye
	sessionMax  = 256            // per credential; one more pushes out the oldest idle one

	// callHeader carries the number of the HTTP request to the tool call; the SDK hands
	// on nothing of a request but its headers. What a client sends there is overwritten.
	callHeader = "X-Openclaw-Call"
)

// HTTP serves MCP over streamable HTTP. Its owner calls Close. Authentication, Host and
// Origin checks and the limit on the body are the owner's: Serve is called for requests
// that have passed them.
type HTTP struct {
	opt    Options
	base   context.Context // done when Close begins
	cancel context.CancelFunc
	seq    atomic.Uint64
	live   sync.Map // call number -> the HTTP request's context

	posts sync.WaitGroup // POST requests; Add only with mu and before closed

	mu     sync.Mutex // guards the rest
	closed bool
	ends   map[string]*endpoint // by credential
}

// NewHTTP makes the handler.
func NewHTTP(opt Options) *HTTP {
	opt.Asker = nil // a person is asked on stdio only (A-60b)
	h := &HTTP{opt: opt, ends: map[string]*endpoint{}}
	h.base, h.cancel = context.WithCancel(context.Background())
	return h
}

// Serve answers one request of a caller. The key names the credential with everything
// that follows from it; a session belongs to the key that made it, and under another
// key its id is unknown: 404.
func (h *HTTP) Serve(w http.ResponseWriter, r *http.Request, key string, c caller) {
	post := r.Method == http.MethodPost
	e := h.admit(key, post)
	if e == nil {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	if post {
		defer h.posts.Done()
	}
	call := strconv.FormatUint(h.seq.Add(1), 10)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	r.Header.Set(callHeader, call)
	h.live.Store(call, r.Context())
	defer h.live.Delete(call)

	if post {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "request body cannot be read", http.StatusBadRequest)
			return
		}
		if h.direct(e, w, r, body, c) {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if r.Header.Get(versionHeader) >= perRequestVersion {
		e.perRequest.ServeHTTP(w, r)
		return
	}
	session := r.Header.Get(sessionHeader)
	if post && session == "" {
		e.makeRoom()
	}
	e.sessions.ServeHTTP(w, r)
	if post && session != "" {
		e.seen(session)
	}
}

// Close cancels all calls, lets their answers go out until ctx ends, ends all sessions
// and returns when that is done. An answer that its client does not take holds it up
// until the connection is closed, which is the owner's to do.
func (h *HTTP) Close(ctx context.Context) {
	h.cancel()
	h.mu.Lock()
	h.closed = true
	ends := h.ends
	h.ends = nil
	h.mu.Unlock()

	// Closing a session drops the answer that is on its way, so these go first.
	answered := make(chan struct{})
	go func() { h.posts.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	for _, e := range ends {
		e.close()
	}
	<-answered // without its session no POST hangs
}

type callerKey struct{}

// admit returns what serves a key; nil after Close.
func (h *HTTP) admit(key string, post bool) *endpoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	if post {
		h.posts.Add(1)
	}
	e := h.ends[key]
	if e == nil {
		e = h.newEndpoint()
		h.ends[key] = e
	}
	return e
}

// endpoint serves one credential: the SDK's two ways to serve HTTP, each with a server.
type endpoint struct {
	server               *sdk.Server // of sessions
	sessions, perRequest http.Handler
	evictions            sync.WaitGroup

	mu     sync.Mutex                         // guards the rest
	busy   map[string]int                     // session id -> calls in flight
	used   map[string]time.Time               // session id -> when the SDK last saw a request of it
	inside map[callID]context.CancelCauseFunc // direct calls in flight
}

func (h *HTTP) newEndpoint() *endpoint {
	e := &endpoint{busy: map[string]int{}, used: map[string]time.Time{}, inside: map[callID]context.CancelCauseFunc{}}
	e.server = newServer(h.opt, func(ctx context.Context, req sdk.Request) (context.Context, caller, func()) {
		id := req.GetSession().ID()
		e.count(id, 1)
		ctx, c, end := h.begin(ctx, req)
		return ctx, c, func() { end(); e.count(id, -1) }
	})
	options := sdk.StreamableHTTPOptions{
		SessionTimeout:             sessionIdle,
		DisableLocalhostProtection: true, // the gateway's Host check comes first and is stricter
		// No EventStore: a client that was cut off cannot come back for an answer, so
		// its commands are ended instead.
	}
	e.sessions = sdk.NewStreamableHTTPHandler(always(e.server), &options)
	options.Stateless, options.PropagateRequestCancellation = true, true
	e.perRequest = sdk.NewStreamableHTTPHandler(always(newServer(h.opt, h.begin)), &options)
	return e
}

func always(s *sdk.Server) func(*http.Request) *sdk.Server {
	return func(*http.Request) *sdk.Server { return s }
}

// begin ties a call to the HTTP request that brought it and to the daemon's life.
func (h *HTTP) begin(ctx context.Context, req sdk.Request) (context.Context, caller, func()) {
	c := ctx.Value(callerKey{}).(caller) // put there by Serve; a panic here is our own bug
	ctx, endBase := until(ctx, h.base)
	extra := req.GetExtra()
	if extra == nil {
		return ctx, c, endBase
	}
	request, ok := h.live.Load(extra.Header.Get(callHeader))
	if !ok { // the client has gone already
		gone, cancel := context.WithCancelCause(ctx)
		cancel(errGone)
		return gone, c, endBase
	}
	ctx, endRequest := until(ctx, request.(context.Context))
	return ctx, c, func() { endRequest(); endBase() }
}

var errGone = fmt.Errorf("the client closed its connection: %w", context.Canceled)

func (e *endpoint) count(session string, by int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy[session] += by; e.busy[session] == 0 {
		delete(e.busy, session)
	}
}

// makeRoom ends the oldest session without a call in flight when there are too many.
func (e *endpoint) makeRoom() {
	var oldest *sdk.ServerSession
	n := 0
	e.mu.Lock()
	for s := range e.server.Sessions() { // in the order in which they were made
		if n++; oldest == nil && e.busy[s.ID()] == 0 {
			oldest = s
		}
	}
	if n < sessionMax || oldest == nil {
		e.mu.Unlock()
		return
	}
	e.busy[oldest.ID()]++ // nobody picks it twice
	e.mu.Unlock()
	// Not waited for here: a call may have begun on it meanwhile.
	e.evictions.Go(func() {
		_ = oldest.Close()
		e.count(oldest.ID(), -1)
	})
}

func (e *endpoint) close() {
	for s := range e.server.Sessions() {
		_ = s.Close() // waits for its calls, which are cancelled
	}
	e.evictions.Wait()
}
