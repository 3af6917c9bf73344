package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// serveMCP serves the Model Context Protocol (C-32). A caller is what its credential
// says; the protocol has no place to name another agent or session.
func (s *server) serveMCP(req *request) {
	who, err := req.who.caller("", "", "mcp")
	if err != nil {
		writeError(req.w, err)
		return
	}
	req.r.Body = io.NopCloser(bytes.NewReader(req.body))
	key := who.Credential + "\x00" + who.SessionKey
	if req.r.Method == http.MethodGet { // the one that stays open; a call ends by itself
		defer s.endWithToken(req)()
	}
	s.mcp.Serve(req.w, req.r, key, &toolCaller{tools: req.backend.tools, who: who, offers: s.offers})
}

// endWithToken makes a request end when its token is revoked, and lets nothing more out
// from then on. The caller calls end before its handler returns.
func (s *server) endWithToken(req *request) (end func()) {
	ctx, cancel := context.WithCancelCause(req.r.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		look := time.NewTicker(s.heartbeat)
		defer look.Stop()
		for req.signedIn() {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
		cancel(errRevoked)
	}()
	req.w = &tokenWriter{ResponseWriter: req.w, signedIn: req.signedIn, revoked: func() { cancel(errRevoked) }}
	req.r = req.r.WithContext(ctx)
	return func() { cancel(nil); <-watched }
}

var errRevoked = errors.New("the token was revoked")

// tokenWriter writes as long as its request's token is good.
type tokenWriter struct {
	http.ResponseWriter
	signedIn func() bool
	revoked  func()
}

// Write looks at the token first.
func (w *tokenWriter) Write(data []byte) (int, error) {
	if !w.signedIn() {
		w.revoked()
		return 0, errRevoked
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap serves http.ResponseController.
func (w *tokenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// toolCaller is one caller's view of the tools.
type toolCaller struct {
	tools  caller
	who    tool.Caller
	offers func(name string) *protocol.Error // nil = the gateway offers the tool
}

// Call makes a call as the caller.
func (c *toolCaller) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if err := c.offers(req.Tool); err != nil {
		return nil, err
	}
	return c.tools.Call(ctx, c.who, req, watch)
}

// Tools lists what the caller may use.
func (c *toolCaller) Tools(context.Context) ([]protocol.ToolInfo, error) {
	all := c.tools.Tools(c.who)
	return slices.DeleteFunc(all, func(t protocol.ToolInfo) bool { return c.offers(t.Name) != nil }), nil
}
