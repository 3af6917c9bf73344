package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
	"openclaw/internal/ui"
)

const bodyMax = 2 << 20 // bytes of a request's body (C-7)

// access is what a route asks of its caller.
type access int

const (
	accessOpen     access = iota // nobody has to sign in
	accessTools                  // an agent's token, the operator's, or none in auth mode none (C-6)
	accessEvents                 // an agent's token or the operator's
	accessOperator               // the operator's token
)

// route is one path.
type route struct {
	name    string // for metrics: one of a few
	methods []string
	access  access
	handle  func(*server, *request)
}

// request is one HTTP request that has passed the guard, the sign-in and the rights of
// its route.
type request struct {
	w       http.ResponseWriter
	r       *http.Request
	who     principal
	backend *backend // nil on open routes while the daemon starts
	// signedIn says whether the caller's token still proves what it did at the sign-in, for
	// streams that outlive that moment (C-6). It may be called from any goroutine; nil on
	// open routes.
	signedIn func() bool
	body     []byte // of POST; read whole, so that a client that goes is noticed
}

// routes is the table of all paths.
func routes(page config.ControlUI) map[string]route {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	table := map[string]route{
		"/healthz":      {"health", get, accessOpen, (*server).health},
		"/health":       {"health", get, accessOpen, (*server).health},
		"/readyz":       {"ready", get, accessOpen, (*server).ready},
		"/ready":        {"ready", get, accessOpen, (*server).ready},
		"/tools/invoke": {"tools_invoke", post, accessTools, (*server).invoke},
		"/mcp":          {"mcp", []string{http.MethodPost, http.MethodGet, http.MethodDelete}, accessTools, (*server).serveMCP},
		"/events":       {"events", []string{http.MethodGet}, accessEvents, (*server).events},
		"/metrics":      {"metrics", []string{http.MethodGet}, accessOperator, (*server).serveMetrics},
		"/rpc":          {"rpc", post, accessOperator, (*server).rpc},
	}
	if page.Enabled {
		table[page.BasePath+"/"] = route{"page", get, accessOpen, (*server).page}
	}
	return table
}

// ServeHTTP takes a request to its route.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, status := "other", &statusWriter{ResponseWriter: w}
	defer func() { s.metrics.request(name, status.code()) }()
	w = status
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	if err := s.guard.Load().check(r); err != nil {
		writeError(w, err)
		return
	}
	if !s.enter() {
		writeError(w, unavailable("the gateway is stopping"))
		return
	}
	defer s.handlers.Done()
	defer s.hurry(status)()
	if r.URL.Path == "/" && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		name = "socket"
		s.socket(&request{w: w, r: r, backend: s.backend.Load()})
		return
	}
	route, ok := s.routes[r.URL.Path]
	if !ok {
		writeText(w, http.StatusNotFound, "Not Found")
		return
	}
	name = route.name
	if !slices.Contains(route.methods, r.Method) {
		header.Set("Allow", strings.Join(route.methods, ", "))
		writeText(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	s.admit(route, &request{w: w, r: r, backend: s.backend.Load()})
}

// enter counts a request in; false = no more are taken. Counting and stopping share one
// lock, so that shutdown waits for every request that was let in.
func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return false
	}
	s.handlers.Add(1)
	return true
}

// hurry gives every write of an answer stopGrace from the moment when the gateway stops,
// those that hang then included. The caller calls end before its handler returns.
func (s *server) hurry(w *statusWriter) (end func()) {
	control := http.NewResponseController(w.ResponseWriter)
	// Deadlines are not supported by every writer in tests; a real connection has them.
	limit := func() { _ = control.SetWriteDeadline(time.Now().Add(stopGrace)) }
	w.before = func() {
		if s.closing.Err() != nil {
			limit()
		}
	}
	limited := make(chan struct{})
	stop := context.AfterFunc(s.closing, func() { defer close(limited); limit() })
	return func() {
		if !stop() {
			<-limited
		}
	}
}

// admit signs the caller in, checks the rights and reads the body before it calls the
// handler.
func (s *server) admit(route route, req *request) {
	if route.access != accessOpen {
		if req.backend == nil {
			writeError(req.w, unavailable("the gateway is starting"))
			return
		}
		if !s.signIn(req) {
			return
		}
		if err := req.who.mayReach(route.access); err != nil {
			refuse(req.w, err)
			return
		}
	}
	if req.r.Method == http.MethodPost {
		var err *protocol.Error
		if req.body, err = readBody(req); err != nil {
			writeError(req.w, err)
			return
		}
	}
	route.handle(s, req)
}

// context ends with the client's connection or when the gateway stops. The caller
// calls end.
func (s *server) context(req *request) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(req.r.Context())
	stop := context.AfterFunc(s.closing, func() { cancel(errStopping) })
	return ctx, func() { stop(); cancel(nil) }
}

// readBody reads the whole body within a time and a size.
func readBody(req *request) ([]byte, *protocol.Error) {
	control := http.NewResponseController(req.w)
	// Deadlines are not supported by every writer in tests; a real connection has them.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(req.w, req.r.Body, bodyMax))
	_ = control.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &protocol.Error{Type: protocol.ErrTooLarge, Message: "request body is larger than 2 MB"}
	case err != nil:
		return nil, &protocol.Error{Type: protocol.ErrInvalid, Message: "request body cannot be read: " + err.Error()}
	}
	return body, nil
}

// page shows the control page.
func (s *server) page(req *request) {
	header := req.w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", ui.Policy)
	header.Set("X-Frame-Options", "DENY")
	_, _ = req.w.Write(ui.Index()) // the browser has gone if this fails
}
