package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"openclaw/internal/approval"
	"openclaw/internal/identity"
	"openclaw/internal/pairing"
	"openclaw/internal/protocol"
)

// refusal ends a sign-in: the client gets shape as the answer, then the close.
type refusal struct {
	shape protocol.ErrorShape
	close websocket.StatusCode
	text  string // of the close; "" = the message
}

func refuseWith(code, message string, details any) *refusal {
	return &refusal{shape: protocol.ErrorShape{Code: code, Message: message, Details: details}, close: websocket.StatusPolicyViolation}
}

// handshake signs a client in (protocol 1.4, 2). It gives the answer that lets it in; nil when
// the connection has been closed.
func (c *socketConn) handshake(req *request) *protocol.ResponseFrame {
	ctx, cancel := context.WithTimeout(c.ctx, handshakeTime)
	defer cancel()
	var raw [16]byte
	rand.Read(raw[:]) //nolint:errcheck // it never fails
	nonce := approval.NewID(approval.KindExec) + "-" + hex.EncodeToString(raw[:])
	challenge := protocol.EventFrame{Type: "event", Event: "connect.challenge", Payload: protocol.Challenge{Nonce: nonce, Ts: time.Now().UnixMilli()}}
	if !c.say(ctx, challenge) {
		return nil
	}
	kind, data, err := c.ws.Read(ctx)
	if err != nil || kind != websocket.MessageText {
		_ = c.ws.CloseNow()
		return nil
	}
	if !json.Valid(data) {
		_ = c.ws.Close(websocket.StatusNormalClosure, "")
		return nil
	}
	var frame protocol.RequestFrame
	if err := protocol.Closed(data, &frame); err != nil || frame.Check() != nil {
		_ = c.ws.Close(websocket.StatusPolicyViolation, "invalid request frame")
		return nil
	}
	hello, no := c.signIn(ctx, req, &frame, nonce)
	if no != nil {
		text := no.text
		if text == "" {
			text = no.shape.Message
		}
		c.say(ctx, protocol.ResponseFrame{Type: "res", ID: frame.ID, Error: &no.shape})
		_ = c.ws.Close(no.close, cut(text, 120))
		return nil
	}
	return &protocol.ResponseFrame{Type: "res", ID: frame.ID, OK: true, Payload: hello}
}

// say writes a frame at once, before the writer is there.
func (c *socketConn) say(ctx context.Context, frame any) bool {
	data, err := json.Marshal(frame)
	return err == nil && c.ws.Write(ctx, websocket.MessageText, data) == nil
}

func (c *socketConn) signIn(ctx context.Context, req *request, frame *protocol.RequestFrame, nonce string) (*protocol.Hello, *refusal) {
	if frame.Method != "connect" {
		return nil, refuseWith(protocol.CodeInvalid, "invalid handshake: first request must be connect", nil)
	}
	if req.backend == nil {
		no := refuseWith(protocol.CodeUnavailable, "gateway starting; retry shortly", map[string]string{"reason": "startup-sidecars"})
		no.shape.Retryable, no.shape.RetryAfterMs, no.close = true, 500, 1013
		no.text = "gateway starting"
		return nil, no
	}
	var p protocol.ConnectParams
	err := protocol.Closed(frame.Params, &p)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, refuseWith(protocol.CodeInvalid, "invalid connect params: "+err.Error(), nil)
	}
	if no := negotiate(&p); no != nil {
		return nil, no
	}
	if p.Role == "" {
		p.Role = pairing.RoleOperator
	}
	if p.Role != pairing.RoleOperator && p.Role != pairing.RoleNode {
		return nil, refuseWith(protocol.CodeInvalid, "invalid role", nil)
	}
	c.client, c.role, c.caps = p.Client, p.Role, p.Caps
	return c.authenticate(ctx, req, &p, nonce)
}

// negotiate accepts clients that speak our version (protocol 1.4).
func negotiate(p *protocol.ConnectParams) *refusal {
	probe := p.Client.Mode == "probe" && p.MaxProtocol >= 3 && p.MinProtocol <= protocol.Version
	node := p.Role == pairing.RoleNode && p.Client.Mode == "node" && p.MinProtocol <= 3 && 3 <= p.MaxProtocol
	if p.MinProtocol <= protocol.Version && protocol.Version <= p.MaxProtocol || probe || node {
		return nil
	}
	no := refuseWith(protocol.CodeInvalid, "protocol mismatch", map[string]any{
		"code": "PROTOCOL_MISMATCH", "clientMinProtocol": p.MinProtocol, "clientMaxProtocol": p.MaxProtocol,
		"expectedProtocol": protocol.Version, "minimumProbeProtocol": 3,
	})
	no.close = websocket.StatusProtocolError
	return no
}

// sent is what the client signs in with.
type sent struct {
	token, deviceToken, password *string
}

// signing is the token that is part of a device's signature (protocol 2.3).
func (a *sent) signing(boot *string) string {
	for _, t := range []*string{a.token, a.deviceToken, boot} {
		if t != nil {
			return *t
		}
	}
	return ""
}

func (c *socketConn) authenticate(ctx context.Context, req *request, p *protocol.ConnectParams, nonce string) (*protocol.Hello, *refusal) {
	auth := p.Auth
	if auth == nil {
		auth = &protocol.ConnectAuth{}
	}
	in := &sent{auth.Token, auth.DeviceToken, auth.Password}
	mode := c.server.cfg.Load().Gateway.Auth.Mode
	from := c.server.limiter.client(req.r.RemoteAddr)
	if wait := c.server.limiter.locked(from); wait > 0 {
		return nil, rateLimited(wait)
	}
	shared := mode == "none" && in.token == nil && in.password == nil
	for _, s := range []*string{in.token, in.password} {
		if s != nil && *s != "" {
			cred, known := req.backend.tokens.Authenticate(*s)
			shared = shared || known && cred.Kind == identity.KindOperator // an agent's token opens no socket (C-6)
		}
	}
	c.method = map[bool]string{true: mode, false: ""}[shared]
	if p.Device == nil {
		return c.withoutDevice(p, in, shared, mode, from)
	}
	claim := &identity.DeviceClaim{
		DeviceID: p.Device.ID, PublicKey: p.Device.PublicKey, Signature: p.Device.Signature, Nonce: p.Device.Nonce, SignedAtMs: p.Device.SignedAt,
		ClientID: p.Client.ID, ClientMode: p.Client.Mode, Role: p.Role, Scopes: p.Scopes, Token: in.signing(auth.BootstrapToken),
		Platform: p.Client.Platform, Family: p.Client.DeviceFamily,
	}
	key, err := claim.Verify(nonce, time.Now())
	if err != nil {
		return nil, deviceRefusal(err)
	}
	return c.withDevice(ctx, req, p, in, key, shared, mode, from)
}

// withoutDevice admits helpers of this machine that know the secret (protocol 2.2).
func (c *socketConn) withoutDevice(p *protocol.ConnectParams, in *sent, shared bool, mode string, from netip.Addr) (*protocol.Hello, *refusal) {
	switch {
	case p.Role == pairing.RoleNode, !shared && in.token == nil && in.password == nil:
		return nil, refuseWith(protocol.CodeNotPaired, "device identity required", map[string]string{"code": "DEVICE_IDENTITY_REQUIRED"})
	case p.Client.ID == "openclaw-control-ui":
		return nil, refuseWith(protocol.CodeNotPaired, "device identity required", map[string]string{"code": "CONTROL_UI_DEVICE_IDENTITY_REQUIRED"})
	case !shared:
		c.server.limiter.failed(from)
		return nil, unauthorizedRefusal(in, mode, false)
	}
	c.scopes = []string{}
	helper := p.Client.ID == "cli" && p.Client.Mode == "cli" || p.Client.ID == "cli" && p.Client.Mode == "probe" || p.Client.ID == "gateway-client" && p.Client.Mode == "backend"
	if c.local && !c.browser && helper {
		c.scopes = granted(p.Scopes)
	}
	return c.hello("", 0), nil
}

// granted keeps the scopes that exist.
func granted(asked []string) []string {
	out := []string{}
	for _, s := range asked {
		if slices.Contains(allScopes, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var allScopes = strings.Fields("operator.read operator.write operator.admin operator.approvals operator.questions operator.pairing operator.talk operator.talk.secrets")

// withDevice admits a device that has proved its key (protocol 2.5, 2.6).
func (c *socketConn) withDevice(ctx context.Context, req *request, p *protocol.ConnectParams, in *sent, key string, shared bool, mode string, from netip.Addr) (*protocol.Hello, *refusal) {
	devices, err := req.backend.devices(ctx)
	if err != nil {
		return nil, refuseWith(protocol.CodeUnavailable, "devices cannot be looked up: "+err.Error(), nil)
	}
	p.Scopes = granted(p.Scopes)
	if p.Role == pairing.RoleNode {
		p.Scopes = []string{}
	}
	byToken := false
	if !shared {
		for _, t := range []*string{in.deviceToken, in.token} {
			if t == nil || *t == "" || byToken {
				continue
			}
			scopes, ok, err := devices.TokenHolder(ctx, p.Device.ID, p.Role, *t)
			if err != nil {
				return nil, refuseWith(protocol.CodeUnavailable, "devices cannot be looked up: "+err.Error(), nil)
			}
			if ok && !pairing.Covers(scopes, p.Scopes) {
				return nil, authRefusal("scope_mismatch", "AUTH_SCOPE_MISMATCH", "requested scopes are beyond the device token's", "review_auth_configuration", false)
			}
			byToken = byToken || ok
		}
		if !byToken {
			c.server.limiter.failed(from)
			return nil, unauthorizedRefusal(in, mode, true)
		}
		c.method = "device-token"
	}
	if shared && c.local && !c.browser && p.Client.ID == "gateway-client" && p.Client.Mode == "backend" { // the loopback helper is never paired
		c.scopes, c.device = p.Scopes, p.Device.ID
		return c.hello("", 0), nil
	}
	token, err := devices.Connect(ctx, pairing.Claim{
		DeviceID: p.Device.ID, PublicKey: key, Name: clip(p.Client.DisplayName), Platform: p.Client.Platform, Family: p.Client.DeviceFamily,
		ClientID: p.Client.ID, ClientMode: p.Client.Mode, Role: p.Role, Scopes: p.Scopes, RemoteIP: c.remote,
	}, func(reason string, paired bool) bool {
		if !c.local || c.browser || !c.server.cfg.Load().Gateway.Pairing.AutoApproveLocal {
			return false
		}
		switch reason {
		case "not-paired":
			return p.Role == pairing.RoleOperator || !paired
		case "role-upgrade":
			return p.Role == pairing.RoleOperator
		case "scope-upgrade":
			return p.Role == pairing.RoleOperator && shared
		}
		return false
	})
	var needed *pairing.Needed
	if errors.As(err, &needed) {
		return nil, c.pairingRefusal(needed)
	}
	if err != nil {
		return nil, refuseWith(protocol.CodeUnavailable, "the device cannot be kept: "+err.Error(), nil)
	}
	c.scopes, c.device, c.secret = p.Scopes, p.Device.ID, token.Secret
	return c.hello(token.Secret, token.CreatedMs), nil
}

// pairingRefusal tells the operators of a device that waits, and the device.
func (c *socketConn) pairingRefusal(n *pairing.Needed) *refusal {
	if n.Replaced != "" {
		c.server.hub.broadcast("device.pair.resolved", "operator.pairing",
			map[string]any{"requestId": n.Replaced, "deviceId": n.Request.DeviceID, "decision": "rejected", "ts": n.Request.Ts}, false)
	}
	if !n.Refreshed {
		c.server.hub.broadcast("device.pair.requested", "operator.pairing", n.Request, false)
		c.server.opt.Log.Info("a device waits to be let in", "device", n.Request.DeviceID, "request", n.Request.ID, "role", n.Request.Role, "from", n.Request.RemoteIP)
	}
	details := map[string]any{
		"code": "PAIRING_REQUIRED", "reason": n.Reason, "requestId": n.Request.ID, "deviceId": n.Request.DeviceID, "requestedRole": n.Request.Role,
		"remediationHint": "openclaw devices approve " + n.Request.ID,
	}
	for name, list := range map[string][]string{"requestedScopes": n.Request.Scopes, "approvedRoles": n.Roles, "approvedScopes": n.Scopes} {
		if len(list) > 0 {
			details[name] = list
		}
	}
	no := refuseWith(protocol.CodeNotPaired, n.Error(), details)
	no.text = fmt.Sprintf("%s (requestId: %s)", n.Error(), n.Request.ID)
	return no
}

var deviceCodes = map[error][2]string{
	identity.ErrDeviceID:         {"DEVICE_AUTH_DEVICE_ID_MISMATCH", "device-id-mismatch"},
	identity.ErrSignatureExpired: {"DEVICE_AUTH_SIGNATURE_EXPIRED", "device-signature-stale"},
	identity.ErrNonceRequired:    {"DEVICE_AUTH_NONCE_REQUIRED", "device-nonce-missing"},
	identity.ErrNonceMismatch:    {"DEVICE_AUTH_NONCE_MISMATCH", "device-nonce-mismatch"},
	identity.ErrSignature:        {"DEVICE_AUTH_SIGNATURE_INVALID", "device-signature"},
	identity.ErrPublicKey:        {"DEVICE_AUTH_PUBLIC_KEY_INVALID", "device-public-key"},
}

func deviceRefusal(err error) *refusal {
	for known, code := range deviceCodes {
		if errors.Is(err, known) {
			return refuseWith(protocol.CodeInvalid, err.Error(), map[string]string{"code": code[0], "reason": code[1]})
		}
	}
	return refuseWith(protocol.CodeInvalid, err.Error(), nil)
}

// unauthorizedRefusal says why what was sent opens nothing (protocol 2.4).
func unauthorizedRefusal(in *sent, mode string, device bool) *refusal {
	switch {
	case in.token == nil && in.password == nil && in.deviceToken != nil:
		return authRefusal("device_token_mismatch", "AUTH_DEVICE_TOKEN_MISMATCH", "device token mismatch (rotate or reissue the device token)", "update_auth_credentials", false)
	case in.token == nil && in.password == nil && mode == "password":
		return authRefusal("password_missing", "AUTH_PASSWORD_MISSING", "gateway password missing (provide gateway auth password)", "update_auth_configuration", false)
	case in.token == nil && in.password == nil:
		return authRefusal("token_missing", "AUTH_TOKEN_MISSING", "gateway token missing (provide gateway auth token)", "update_auth_configuration", false)
	case mode == "password":
		return authRefusal("password_mismatch", "AUTH_PASSWORD_MISMATCH", "gateway password mismatch (provide gateway auth password)", "update_auth_credentials", false)
	}
	retry := device && in.token != nil && in.deviceToken == nil
	next := "update_auth_credentials"
	if retry {
		next = "retry_with_device_token"
	}
	return authRefusal("token_mismatch", "AUTH_TOKEN_MISMATCH", "gateway token mismatch (use this gateway's gateway.auth.token or pair the device)", next, retry)
}

func authRefusal(reason, code, text, next string, retry bool) *refusal {
	return refuseWith(protocol.CodeInvalid, "unauthorized: "+text, map[string]any{
		"code": code, "authReason": reason, "canRetryWithDeviceToken": retry, "recommendedNextStep": next,
	})
}

func rateLimited(seconds int) *refusal {
	no := authRefusal("rate_limited", "AUTH_RATE_LIMITED", "too many failed authentication attempts (retry later)", "wait_then_retry", false)
	no.shape.Retryable, no.shape.RetryAfterMs = true, int64(seconds)*1000
	return no
}

// hello is the answer to a client that has signed in.
func (c *socketConn) hello(token string, issuedMs int64) *protocol.Hello {
	h := &protocol.Hello{
		Type: "hello-ok", Protocol: protocol.Version,
		Server:   protocol.HelloServer{Version: c.server.opt.Version, ConnID: c.id},
		Features: protocol.HelloFeatures{Methods: slices.Sorted(maps.Keys(c.server.methods)), Events: socketEvents},
		Auth:     protocol.HelloAuth{Role: c.role, Scopes: c.scopes, Method: c.method, DeviceToken: token, IssuedAtMs: issuedMs},
		Policy:   protocol.HelloPolicy{MaxPayload: protocol.PayloadMax, MaxBufferedBytes: protocol.BufferedMax, TickIntervalMs: protocol.TickMs},
	}
	h.Snapshot.Presence, h.Snapshot.Health = []any{}, map[string]any{}
	h.Snapshot.UptimeMs = time.Since(c.server.started).Milliseconds()
	return h
}

var socketEvents = []string{
	"tick", "shutdown", "exec.approval.requested", "exec.approval.resolved", "plugin.approval.requested", "plugin.approval.resolved",
	"device.pair.requested", "device.pair.resolved", "device.pair.changed",
}

func loopbackAddr(remote string) bool {
	ap, err := netip.ParseAddrPort(remote)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

func localHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
