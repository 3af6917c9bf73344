package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"openclaw/internal/protocol"
)

// rpc calls one method of the table (C-7). The route admits the operator only.
func (s *server) rpc(req *request) {
	var in protocol.RPCRequest
	if err := json.Unmarshal(req.body, &in); err != nil {
		writeError(req.w, badJSON(err))
		return
	}
	m, ok := s.methods[in.Method]
	if !ok {
		writeError(req.w, &protocol.Error{Type: protocol.ErrNotFound, Message: "unknown method: " + clip(in.Method)})
		return
	}
	ctx, end := s.context(req)
	defer end()
	result, err := m(s, ctx, req.backend, in.Params)
	if err != nil {
		writeError(req.w, wireError(err))
		return
	}
	raw, err := encode(result)
	if err != nil {
		writeError(req.w, &protocol.Error{Type: protocol.ErrInternal, Message: "answer cannot be encoded"})
		return
	}
	writeJSON(req.w, http.StatusOK, protocol.RPCResponse{OK: true, Result: raw})
}

// paramsPrefix begins the message of an error in a method's parameters.
const paramsPrefix = "params: "

// paramsFault takes it off.
func paramsFault(message string) (reason string, ok bool) {
	return strings.CutPrefix(message, paramsPrefix)
}

// method is one entry of the table. The caller has been checked.
type method func(s *server, ctx context.Context, b *backend, params json.RawMessage) (any, error)

// with makes a method from a function with typed parameters; unknown ones are errors.
func with[P any](do func(s *server, ctx context.Context, b *backend, params P) (any, error)) method {
	return func(s *server, ctx context.Context, b *backend, raw json.RawMessage) (any, error) {
		var params P
		if len(raw) > 0 {
			if err := protocol.Closed(raw, &params); err != nil {
				return nil, invalid(paramsPrefix+"%v", err)
			}
		}
		return do(s, ctx, b, params)
	}
}
