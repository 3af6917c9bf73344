package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is a short way for the one request that comes all the time: a tools/call
// over HTTP that asks for nothing but its result. On its way through the SDK a call
// costs several times what the rest of the gateway does, most of it for decoding the
// same bytes again and again. Whatever is out of the ordinary in a request, right or
// wrong (a batch, a progress token, an odd id, a header that is missing), is left to
// the SDK, so that there is one place that knows the protocol's finer points.

// sdkEvery is how often a session's calls go through the SDK all the same: it closes
// sessions it has not seen for sessionIdle.
const sdkEvery = time.Hour

// callID names a call in flight; the session alone tells apart clients that count alike.
type callID struct {
	session string
	request jsonrpc.ID
}

var errCancelled = errors.New("the client cancelled the call")

// direct answers a plain tools/call and reports whether it did. It also sees the
// cancellations of its calls, which the SDK does not know.
func (h *HTTP) direct(e *endpoint, w http.ResponseWriter, r *http.Request, body []byte, c caller) bool {
	if !bytes.Contains(body, []byte(`"`+methodCallTool+`"`)) && !bytes.Contains(body, []byte(`"`+methodCancelled+`"`)) {
		return false
	}
	m, refused := readMessage(body)
	if refused != nil {
		return false
	}
	session := r.Header.Get(sessionHeader)
	if m.is(methodCancelled) {
		if _, id, ok := cancelledID(m.params); ok {
			e.cancelDirect(callID{session, id})
		}
		return false // the SDK may have the call, and answers
	}
	var result replyResult
	tc, plain := m.toolCall()
	switch {
	case !plain || !plainRequest(r):
		return false
	case perRequest(r, &tc):
		session = ""
		result.ResultType = "complete"
		result.Meta = map[string]any{sdk.MetaKeyServerInfo: h.opt.implementation()}
	case !inSession(r, &tc) || !e.usable(session):
		return false
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if session != "" {
		leave, ok := e.enterDirect(callID{session, tc.key}, cancel)
		if !ok {
			return false // the id is in use, which the SDK refuses
		}
		defer leave()
	}
	ctx, end := until(ctx, h.base)
	defer end()
	text, err := h.opt.answer(ctx, c, &tc, result)
	if err != nil {
		h.opt.logger().Error("tool call", "tool", tc.name, "err", err)
		http.Error(w, "result cannot be encoded", http.StatusInternalServerError)
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a client that has gone is nobody to tell
	return true
}

// plainRequest looks at the headers that every version has.
func plainRequest(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "application/json" && r.Header.Get("Last-Event-Id") == "" &&
		strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// perRequest reports whether the request follows the version without sessions, and
// says so everywhere it has to.
func perRequest(r *http.Request, tc *toolCall) bool {
	if r.Header.Get(versionHeader) != perRequestVersion || r.Header.Get("Mcp-Method") != methodCallTool || r.Header.Get("Mcp-Name") != tc.name {
		return false
	}
	var version string
	if json.Unmarshal(tc.meta[sdk.MetaKeyProtocolVersion], &version) != nil || version != perRequestVersion {
		return false
	}
	var about struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if info, given := tc.meta[sdk.MetaKeyClientInfo]; given && json.Unmarshal(info, &about) != nil {
		return false
	}
	capabilities := tc.meta[sdk.MetaKeyClientCapabilities]
	return len(capabilities) > 0 && capabilities[0] == '{'
}

// inSession reports whether the request follows an older version.
func inSession(r *http.Request, tc *toolCall) bool {
	if _, given := tc.meta[sdk.MetaKeyProtocolVersion]; given {
		return false
	}
	version := r.Header.Get(versionHeader)
	return version == "" || version < perRequestVersion && slices.Contains(sdk.SupportedProtocolVersions(), version)
}

// usable reports whether a session lives and the SDK has seen it lately.
func (e *endpoint) usable(session string) bool {
	if session == "" {
		return false
	}
	e.mu.Lock()
	at, known := e.used[session]
	e.mu.Unlock()
	return known && time.Since(at) < sdkEvery && e.alive(session)
}

func (e *endpoint) alive(session string) bool {
	for s := range e.server.Sessions() {
		if s.ID() == session {
			return true
		}
	}
	return false
}

// seen notes that the SDK has served a request of a session, if it has one by that id.
func (e *endpoint) seen(session string) {
	if !e.alive(session) {
		return
	}
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used[session] = now
	if len(e.used) <= 2*sessionMax { // more than can live
		return
	}
	living := map[string]time.Time{}
	for s := range e.server.Sessions() {
		if at, ok := e.used[s.ID()]; ok {
			living[s.ID()] = at
		}
	}
	e.used = living
}

// enterDirect makes a call known to cancellations and to makeRoom; the caller calls
// leave. It is not ok when a call with this id is in flight.
func (e *endpoint) enterDirect(id callID, cancel context.CancelCauseFunc) (leave func(), ok bool) {
	e.mu.Lock()
	_, taken := e.inside[id]
	if !taken {
		e.inside[id] = cancel
	}
	e.mu.Unlock()
	if taken {
		return nil, false
	}
	e.count(id.session, 1)
	return func() {
		e.mu.Lock()
		delete(e.inside, id)
		e.mu.Unlock()
		e.count(id.session, -1)
	}, true
}

func (e *endpoint) cancelDirect(id callID) {
	e.mu.Lock()
	cancel := e.inside[id]
	e.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
}
