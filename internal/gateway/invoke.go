package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

const ndjson = "application/x-ndjson"

// invocation is the body of POST /tools/invoke (protocol 7). Unknown fields are
// ignored: clients of this protocol send some.
type invocation struct {
	Name           string          `json:"name"` // wins over Tool
	Tool           string          `json:"tool"`
	Action         string          `json:"action"` // goes to args.action if that is absent
	Args           json.RawMessage `json:"args"`
	AgentID        string          `json:"agentId"`
	SessionKey     string          `json:"sessionKey"`
	IdempotencyKey string          `json:"idempotencyKey"`
	DryRun         bool            `json:"dryRun"`
	Wait           protocol.Wait   `json:"wait"`
}

// invoke makes one tool call.
func (s *server) invoke(req *request) {
	call, who, err := s.readInvocation(req)
	if err != nil {
		writeError(req.w, err)
		return
	}
	ctx, end := s.context(req)
	defer end()
	if accepts(req.r, ndjson) {
		stream := &lineStream{w: req.w, control: http.NewResponseController(req.w)}
		result, err := req.backend.tools.Call(ctx, who, call, stream.progress)
		stream.finish(result, wireError(err))
		return
	}
	result, failure := req.backend.tools.Call(ctx, who, call, nil)
	if failure != nil {
		writeError(req.w, wireError(failure))
		return
	}
	writeJSON(req.w, http.StatusOK, protocol.InvokeResponse{OK: true, Result: result})
}

// readInvocation decodes the body and settles who calls what.
func (s *server) readInvocation(req *request) (call protocol.ToolRequest, who tool.Caller, err *protocol.Error) {
	var in invocation
	if err := json.Unmarshal(req.body, &in); err != nil {
		return call, who, badJSON(err)
	}
	name := in.Name
	if name == "" {
		name = in.Tool
	}
	if name == "" {
		return call, who, &protocol.Error{Type: protocol.ErrInvalid, Message: "tools.invoke requires name"}
	}
	if err := s.offers(name); err != nil {
		return call, who, err
	}
	if who, err = req.who.caller(in.AgentID, in.SessionKey, "http"); err != nil {
		return call, who, err
	}
	if in.Action != "" {
		in.Args = withAction(in.Args, in.Action)
	}
	if bytes.Equal(in.Args, []byte("null")) {
		in.Args = nil
	}
	return protocol.ToolRequest{
		Tool: name, Args: in.Args, AgentID: who.Agent, SessionKey: who.SessionKey,
		IdempotencyKey: in.IdempotencyKey, DryRun: in.DryRun, Wait: in.Wait,
	}, who, nil
}

// offers says whether the gateway offers a tool at all; nil means yes, and tool policy
// decides (C-20).
func (s *server) offers(name string) *protocol.Error {
	ok, key := s.cfg.Load().GatewayToolAllowed(name)
	if ok {
		return nil
	}
	missing := &protocol.Error{Type: protocol.ErrNotFound, Message: "Tool not available: " + clip(name)}
	if key == "gateway.tools.deny" {
		missing.Message += " (denied by " + key + ")"
		missing.Hint = "the operator decides this in openclaw.json, key " + key
	}
	return missing
}

// withAction puts the action into the arguments unless they have one. Arguments that
// are no object are left for the tool to refuse.
func withAction(args json.RawMessage, action string) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &fields) != nil {
		return args
	}
	if fields == nil { // args was null
		fields = map[string]json.RawMessage{}
	}
	if _, given := fields["action"]; given {
		return args
	}
	word, err := json.Marshal(action)
	if err != nil {
		return args
	}
	fields["action"] = word
	out, err := json.Marshal(fields)
	if err != nil {
		return args
	}
	return out
}

// lineStream answers in lines as they come. The call path reads a command's output from
// its log at the pace of this writer, so a slow client holds up nobody but itself.
type lineStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	broken  bool // the client has gone; its context ends the command
}

func (l *lineStream) progress(p protocol.Progress) {
	l.write(http.StatusOK, protocol.StreamLine{Progress: &p})
}

func (l *lineStream) finish(result *protocol.ToolResult, failure *protocol.Error) {
	if failure == nil {
		raw, err := encode(result)
		if err == nil {
			l.write(http.StatusOK, protocol.StreamLine{Result: raw})
			return
		}
		failure = &protocol.Error{Type: protocol.ErrInternal, Message: "answer cannot be encoded"}
	}
	l.write(failure.HTTPStatus(), protocol.StreamLine{Error: failure})
}

func (l *lineStream) write(status int, line protocol.StreamLine) {
	if l.broken {
		return
	}
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", ndjson)
		l.w.WriteHeader(status)
	}
	data, err := encode(line)
	if err == nil {
		_, err = l.w.Write(append(data, '\n'))
	}
	if err == nil {
		err = l.control.Flush()
	}
	l.broken = err != nil
}

// accepts reports whether the client asks for a media type by name.
func accepts(r *http.Request, kind string) bool {
	for _, value := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), kind) {
				return true
			}
		}
	}
	return false
}

// wireError is an error of the call path as the wire has it; nil stays nil.
func wireError(err error) *protocol.Error {
	var known *protocol.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: "the call was cancelled"}
	}
	return &protocol.Error{Type: protocol.ErrInternal, Message: err.Error()}
}

// badJSON says what is wrong with a body in the caller's terms.
func badJSON(err error) *protocol.Error {
	var kind *json.UnmarshalTypeError
	text := "request body is not a JSON object: " + err.Error()
	if errors.As(err, &kind) && kind.Field != "" {
		text = "field " + kind.Field + " has the wrong type: " + kind.Value
	}
	return &protocol.Error{Type: protocol.ErrInvalid, Message: text}
}

// clip keeps foreign text in messages short.
func clip(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
