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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
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

// message is what the short way reads of a request.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Meta           map[string]json.RawMessage `json:"_meta"`
		Name           string                     `json:"name"`
		Arguments      json.RawMessage            `json:"arguments"`
		RequestID      json.RawMessage            `json:"requestId"` // of notifications/cancelled
		InputResponses json.RawMessage            `json:"inputResponses"`
		RequestState   json.RawMessage            `json:"requestState"`
	} `json:"params"`
}

// reply is the answer to a call.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  replyResult     `json:"result"`
}

type replyResult struct {
	Meta              map[string]any     `json:"_meta,omitempty"`
	Content           []protocol.Content `json:"content"`
	StructuredContent any                `json:"structuredContent,omitempty"`
	IsError           bool               `json:"isError,omitempty"`
	ResultType        string             `json:"resultType,omitempty"` // since perRequestVersion
}

// callID names a call in flight; the session alone tells apart clients that count alike.
type callID struct{ session, request string }

var errCancelled = errors.New("the client cancelled the call")

// direct answers a plain tools/call and reports whether it did. It also sees the
// cancellations of its calls, which the SDK does not know.
func (h *HTTP) direct(e *endpoint, w http.ResponseWriter, r *http.Request, body []byte, c caller) bool {
	isCall := bytes.Contains(body, []byte(`"tools/call"`))
	if !isCall && !bytes.Contains(body, []byte(`"notifications/cancelled"`)) {
		return false
	}
	var m message
	if json.Unmarshal(body, &m) != nil || m.Version != "2.0" {
		return false
	}
	session := r.Header.Get(sessionHeader)
	if m.Method == "notifications/cancelled" {
		e.cancelDirect(callID{session, string(m.Params.RequestID)})
		return false // the SDK may have the call, and answers
	}
	var result replyResult
	switch {
	case m.Method != methodCallTool || !plainRequest(r) || !plainCall(&m):
		return false
	case perRequest(r, &m):
		session = ""
		result.ResultType = "complete"
		result.Meta = map[string]any{sdk.MetaKeyServerInfo: h.opt.implementation()}
	case !inSession(r, &m) || !e.usable(session):
		return false
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if session != "" {
		leave, ok := e.enterDirect(callID{session, string(m.ID)}, cancel)
		if !ok {
			return false // the id is in use, which the SDK refuses
		}
		defer leave()
	}
	ctx, end := until(ctx, h.base)
	defer end()
	h.answer(ctx, w, &m, result, c)
	return true
}

// answer makes the call and writes its result into the form that was begun.
func (h *HTTP) answer(ctx context.Context, w http.ResponseWriter, m *message, result replyResult, c caller) {
	res, failure := call(ctx, h.opt.logger(), c, protocol.ToolRequest{Tool: m.Params.Name, Args: m.Params.Arguments}, nil)
	if failure != nil {
		result.IsError, result.Content = true, protocol.Text(failure.Error())
	} else {
		result.Content, result.StructuredContent = res.Content, res.Details
	}
	if result.Content == nil {
		result.Content = []protocol.Content{} // the protocol has no null here
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(reply{Version: "2.0", ID: m.ID, Result: result}); err != nil {
		h.opt.logger().Error("encode a tool's result", "tool", m.Params.Name, "err", err)
		http.Error(w, "result cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.Bytes()) // a client that has gone is nobody to tell
}

// plainRequest looks at the headers that every version has.
func plainRequest(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "application/json" && r.Header.Get("Last-Event-Id") == "" &&
		strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// plainCall looks at the message: an id that is a whole number or a string, a name, no
// live output asked for, no second round of a call that asked back.
func plainCall(m *message) bool {
	id := m.ID
	if len(id) == 0 || id[0] != '"' && (id[0] < '0' || id[0] > '9' || bytes.ContainsAny(id, ".eE")) {
		return false
	}
	_, live := m.Params.Meta["progressToken"]
	return !live && m.Params.Name != "" && m.Params.InputResponses == nil && m.Params.RequestState == nil
}

// perRequest reports whether the request follows the version without sessions, and
// says so everywhere it has to.
func perRequest(r *http.Request, m *message) bool {
	if r.Header.Get(versionHeader) != perRequestVersion || r.Header.Get("Mcp-Method") != methodCallTool || r.Header.Get("Mcp-Name") != m.Params.Name {
		return false
	}
	var version string
	if json.Unmarshal(m.Params.Meta[sdk.MetaKeyProtocolVersion], &version) != nil || version != perRequestVersion {
		return false
	}
	var about struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if info, given := m.Params.Meta[sdk.MetaKeyClientInfo]; given && json.Unmarshal(info, &about) != nil {
		return false
	}
	capabilities := m.Params.Meta[sdk.MetaKeyClientCapabilities]
	return len(capabilities) > 0 && capabilities[0] == '{'
}

// inSession reports whether the request follows an older version.
func inSession(r *http.Request, m *message) bool {
	if _, given := m.Params.Meta[sdk.MetaKeyProtocolVersion]; given {
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
