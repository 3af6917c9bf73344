package client

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

// operatorScopes are what a person at a terminal asks for.
var operatorScopes = []string{"operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"}

// SocketOptions say where a gateway is and who connects.
type SocketOptions struct {
	URL         string // ws://, wss://, http:// or https://
	Token       string // the operator's token or password
	Password    bool   // Token is a password
	Fingerprint string // SHA-256 of the certificate in hex, with or without colons; "" = known authorities vouch for it
	Device      ed25519.PrivateKey
	Version     string // of this program
}

// Socket talks to a gateway by OpenClaw's WebSocket protocol: to ours, or to any other that
// speaks it. It is safe for concurrent use; whoever made it calls Close.
type Socket struct {
	url  string
	ws   *websocket.Conn
	done chan struct{} // closed when no answer comes any more

	mu    sync.Mutex // guards what follows
	calls map[string]chan *frame
	watch func(name string, payload json.RawMessage)
	n     int
	err   error // why it has ended
}

// frame is anything that a gateway sends.
type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Error   *wireShape      `json:"error"`
}

type wireShape struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details"`
}

// Dial connects and signs in. Errors are *protocol.Error; one says how a device that is not
// known yet is let in.
func Dial(ctx context.Context, opt SocketOptions) (*Socket, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*dialTimeout)
	defer cancel()
	transport := &http.Transport{Proxy: nil} // a token must not pass through a proxy
	if opt.Fingerprint != "" {
		transport.TLSClientConfig = pinned(strings.ToLower(strings.ReplaceAll(opt.Fingerprint, ":", "")))
	}
	defer transport.CloseIdleConnections()
	ws, _, err := websocket.Dial(ctx, opt.URL, &websocket.DialOptions{HTTPClient: &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err != nil {
		return nil, &protocol.Error{Type: protocol.ErrUnavailable, Message: fmt.Sprintf("connect to the gateway at %s: %v", opt.URL, bare(err))}
	}
	ws.SetReadLimit(protocol.PayloadMax)
	s := &Socket{url: opt.URL, ws: ws, done: make(chan struct{}), calls: map[string]chan *frame{}}
	if err := s.signIn(ctx, &opt); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	go s.read()
	return s, nil
}

func (s *Socket) signIn(ctx context.Context, opt *SocketOptions) error {
	var hello frame
	if err := s.next(ctx, &hello); err != nil {
		return err
	}
	var challenge protocol.Challenge
	if err := json.Unmarshal(hello.Payload, &challenge); err != nil || hello.Event != "connect.challenge" {
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: "what answers at " + s.url + " is no gateway"}
	}
	params := protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version, Role: "operator", Scopes: operatorScopes, Caps: []string{"approvals"},
		Client: protocol.ConnectClient{ID: "cli", Version: opt.Version, Platform: runtime.GOOS, Mode: "cli"},
		Auth:   &protocol.ConnectAuth{Token: &opt.Token},
	}
	claim := identity.DeviceClaim{
		Nonce: challenge.Nonce, SignedAtMs: challenge.Ts, ClientID: params.Client.ID, ClientMode: params.Client.Mode,
		Role: params.Role, Scopes: params.Scopes, Token: opt.Token, Platform: params.Client.Platform,
	}
	if opt.Password {
		params.Auth, claim.Token = &protocol.ConnectAuth{Password: &opt.Token}, ""
	}
	claim.Sign(opt.Device)
	params.Device = &protocol.DeviceProof{ID: claim.DeviceID, PublicKey: claim.PublicKey, Signature: claim.Signature, SignedAt: claim.SignedAtMs, Nonce: claim.Nonce}
	if err := s.write(ctx, "connect", "connect", params); err != nil {
		return err
	}
	var answer frame
	if err := s.next(ctx, &answer); err != nil {
		return err
	}
	if !answer.OK {
		return answer.Error.known()
	}
	return nil
}

func (s *Socket) next(ctx context.Context, f *frame) error {
	_, data, err := s.ws.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err != nil {
		return s.lost(err)
	}
	return nil
}

func (s *Socket) write(ctx context.Context, id, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return invalid("parameters of %s: %v", method, err)
	}
	data, err := json.Marshal(protocol.RequestFrame{Type: "req", ID: id, Method: method, Params: raw})
	if err != nil {
		return invalid("parameters of %s: %v", method, err)
	}
	if err := s.ws.Write(ctx, websocket.MessageText, data); err != nil {
		return s.lost(err)
	}
	return nil
}

// read takes what comes until the connection ends.
func (s *Socket) read() {
	defer close(s.done)
	for {
		f := &frame{}
		if err := s.next(context.Background(), f); err != nil { // Close ends it
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return
		}
		s.mu.Lock()
		answer, watch := s.calls[f.ID], s.watch
		if f.Type == "res" {
			delete(s.calls, f.ID)
		}
		s.mu.Unlock()
		switch {
		case f.Type == "res" && answer != nil:
			answer <- f
		case f.Type == "event" && watch != nil:
			watch(f.Event, f.Payload)
		}
	}
}

// RPC calls one method, as Client.RPC does.
func (s *Socket) RPC(ctx context.Context, method string, params, out any) error {
	if params == nil {
		params = struct{}{}
	}
	answer := make(chan *frame, 1)
	s.mu.Lock()
	s.n++
	id := strconv.Itoa(s.n)
	s.calls[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
	}()
	if err := s.write(ctx, id, method, params); err != nil {
		return err
	}
	select {
	case f := <-answer:
		if !f.OK {
			return f.Error.known()
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(f.Payload, out); err != nil {
			return &protocol.Error{Type: protocol.ErrUnavailable, Message: fmt.Sprintf("the gateway's answer to %s cannot be read: %v", method, err)}
		}
		return nil
	case <-s.done:
		return s.ending()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Approvals is that of Client. There is one at a time.
func (s *Socket) Approvals(ctx context.Context, open func(), requested func(protocol.ExecApproval), resolved func(protocol.ExecApprovalResolved)) error {
	events := make(chan func(), 256)
	pass := func(do func()) {
		select {
		case events <- do:
		default: // a person sees the list anew with the next connection
			_ = s.ws.CloseNow()
		}
	}
	s.mu.Lock()
	s.watch = func(name string, payload json.RawMessage) {
		switch {
		case strings.HasSuffix(name, ".approval.requested"):
			var a protocol.ExecApproval
			if json.Unmarshal(payload, &a) == nil {
				pass(func() { requested(a) })
			}
		case strings.HasSuffix(name, ".approval.resolved"):
			var r protocol.ExecApprovalResolved
			if json.Unmarshal(payload, &r) == nil {
				pass(func() { resolved(r) })
			}
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watch = nil
	}()
	open()
	for _, method := range []string{"exec.approval.list", "plugin.approval.list"} {
		var list []protocol.ExecApproval
		if err := s.RPC(ctx, method, nil, &list); err != nil {
			return ended(ctx, err)
		}
		for _, a := range list {
			requested(a)
		}
	}
	for {
		select {
		case do := <-events:
			do()
		case <-s.done:
			return ended(ctx, s.ending())
		case <-ctx.Done():
			return nil
		}
	}
}

// Close ends the connection and waits for its reader.
func (s *Socket) Close() error {
	_ = s.ws.Close(websocket.StatusNormalClosure, "") // an end that nobody answers is one, too
	<-s.done
	return nil
}

// Ended reports whether no answer comes any more.
func (s *Socket) Ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// String names the gateway, never the token.
func (s *Socket) String() string { return "gateway at " + s.url }

func (s *Socket) ending() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Socket) lost(err error) error {
	var closed websocket.CloseError
	text := bare(err).Error()
	if errors.As(err, &closed) && closed.Reason != "" {
		text = closed.Reason
	}
	return &protocol.Error{Type: protocol.ErrUnavailable, Message: "the gateway at " + s.url + " has ended the connection: " + text}
}

// known turns an error of the socket into ours, with what to do about it.
func (e *wireShape) known() *protocol.Error {
	if e == nil {
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: "the gateway refused and did not say why"}
	}
	out := &protocol.Error{Type: protocol.ErrInvalid, Message: e.Message}
	switch e.Code {
	case protocol.CodeForbidden:
		out.Type = protocol.ErrForbidden
	case protocol.CodeUnavailable:
		out.Type = protocol.ErrUnavailable
	}
	var more struct{ Code, RequestID string }
	if json.Unmarshal(e.Details, &more) == nil && more.RequestID != "" {
		out.Type, out.Hint = protocol.ErrForbidden, "let this device in, on the gateway's machine: openclaw devices approve "+more.RequestID
	}
	return out
}
