package gateway

import (
	"context"
	"errors"

	"openclaw/internal/pairing"
	"openclaw/internal/protocol"
)

// scopeOf is what a method needs (protocol 3). A method that is not here needs admin.
var scopeOf = map[string]string{
	"health": "operator.read", "status": "operator.read", "system-presence": "operator.read", "logs.tail": "operator.read",
	"tools.catalog": "operator.read", "config.get": "operator.read", "sessions.list": "operator.read", "node.list": "operator.read",
	"exec.session.list": "operator.read", "exec.session.get": "operator.read", "exec.session.output": "operator.read", "exec.session.screen": "operator.read",
	"exec.approval.request": "operator.approvals", "exec.approval.list": "operator.approvals", "exec.approval.get": "operator.approvals", "exec.approval.resolve": "operator.approvals",
	"exec.approval.waitDecision": "operator.approvals", "approval.get": "operator.approvals", "approval.resolve": "operator.approvals",
	"approval.history": "operator.approvals", "openclaw.approval.list": "operator.approvals", "plugin.approval.request": "operator.approvals", "plugin.approval.list": "operator.approvals",
	"plugin.approval.resolve": "operator.approvals", "plugin.approval.waitDecision": "operator.approvals",
	"device.pair.list": "operator.pairing", "device.pair.approve": "operator.pairing", "device.pair.reject": "operator.pairing",
	"device.pair.remove": "operator.pairing", "device.pair.rename": "operator.pairing", "device.token.rotate": "operator.pairing", "device.token.revoke": "operator.pairing",
	"node.pair.list": "operator.pairing",
}

// forNodes are the methods that nodes may call.
var forNodes = map[string]bool{"health": true}

// connKey carries the connection of a call, for methods that look at who asks.
type connKey struct{}

// connOf is the connection a call came by; nil = by /rpc, which is the operator's.
func connOf(ctx context.Context) *socketConn {
	c, _ := ctx.Value(connKey{}).(*socketConn)
	return c
}

// heldBy are the scopes of a call.
func heldBy(ctx context.Context) []string {
	if c := connOf(ctx); c != nil {
		return c.scopes
	}
	return []string{"operator.admin"}
}

// dispatch runs one request of a client on the socket: known, allowed, then called.
func (s *server) dispatch(ctx context.Context, b *backend, c *socketConn, frame *protocol.RequestFrame) (any, *protocol.ErrorShape) {
	if frame.Method == "connect" {
		return nil, &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: "connect is only valid as the first request"}
	}
	m, ok := s.methods[frame.Method]
	if !ok {
		return nil, &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: "unknown method: " + clip(frame.Method)}
	}
	if c.role == pairing.RoleNode && !forNodes[frame.Method] {
		c.roleError()
		return nil, &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: "unauthorized role: node"}
	}
	if c.role == pairing.RoleOperator {
		scope, known := scopeOf[frame.Method]
		if !known {
			scope = "operator.admin"
		}
		if !c.holds(scope) {
			return nil, missingScope(scope)
		}
	}
	c.fine()
	result, err := m(s, context.WithValue(ctx, connKey{}, c), b, frame.Params)
	if err != nil {
		return nil, shapeOf(frame.Method, err)
	}
	return result, nil
}

func missingScope(scope string) *protocol.ErrorShape {
	return &protocol.ErrorShape{Code: protocol.CodeForbidden, Message: "missing scope: " + scope, Details: map[string]any{
		"code": "MISSING_SCOPE", "missingScope": scope, "requiredScopes": []string{scope},
	}}
}

// roleError counts calls of the wrong role; too many in a row end the connection.
func (c *socketConn) roleError() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.roleErrs++; c.roleErrs > roleErrorsMax {
		c.cancel(&closeError{1008, "repeated unauthorized calls"})
	}
}

func (c *socketConn) fine() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roleErrs = 0
}

// shapeOf turns an error of a method into the socket's form.
func shapeOf(method string, err error) *protocol.ErrorShape {
	var shape *protocol.ErrorShape
	if errors.As(err, &shape) {
		return shape
	}
	wire := wireError(err)
	out := &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: wire.Message, Details: wire.Details}
	switch wire.Type {
	case protocol.ErrForbidden:
		out.Code = protocol.CodeForbidden
	case protocol.ErrUnavailable, protocol.ErrInternal, protocol.ErrLimit:
		out.Code = protocol.CodeUnavailable
	case protocol.ErrInvalid:
		if reason, ok := paramsFault(wire.Message); ok {
			out.Message = "invalid " + method + " params: " + reason
		}
	}
	return out
}
