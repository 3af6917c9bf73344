package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

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

// method is one entry of the table. The caller has been checked.
type method func(s *server, ctx context.Context, b *backend, params json.RawMessage) (any, error)

// with makes a method from a function with typed parameters; unknown ones are errors.
func with[P any](do func(s *server, ctx context.Context, b *backend, params P) (any, error)) method {
	return func(s *server, ctx context.Context, b *backend, raw json.RawMessage) (any, error) {
		var params P
		if len(raw) > 0 {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&params); err != nil {
				return nil, invalid("params: %v", err)
			}
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				return nil, invalid("params: text behind the object")
			}
		}
		return do(s, ctx, b, params)
	}
}
