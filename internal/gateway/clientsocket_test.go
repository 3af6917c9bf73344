package gateway

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"openclaw/internal/client"
	"openclaw/internal/protocol"
)

// TestOurClientOnTheSocket: our own client is let in, calls, is told of what is asked and
// decided, and learns when the gateway goes.
func TestOurClientOnTheSocket(t *testing.T) {
	d := run(t, t.TempDir(), `gateway:{port:0},tools:{exec:{mode:"ask"}}`)
	_, key, _ := ed25519.GenerateKey(nil)
	opt := client.SocketOptions{URL: d.url, Token: d.operator, Device: key, Version: "1"}
	s, err := client.Dial(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asked, decided, gone := make(chan protocol.ExecApproval, 4), make(chan protocol.ExecApprovalResolved, 4), make(chan error, 1)
	listening := make(chan struct{})
	go func() {
		gone <- s.Approvals(context.Background(), func() { close(listening) },
			func(a protocol.ExecApproval) { asked <- a }, func(r protocol.ExecApprovalResolved) { decided <- r })
	}()
	await(t, "listening", listening)
	res := d.exec(d.agent, `{"command":"touch /nowhere/at/all"}`)
	if res.Status != protocol.StatusApprovalPending {
		t.Fatalf("%+v", res)
	}
	select {
	case a := <-asked:
		if a.Request.Command != "touch /nowhere/at/all" {
			t.Errorf("%+v", a)
		}
		if err := s.RPC(t.Context(), "approval.resolve", map[string]string{"id": a.ID, "decision": "deny"}, nil); err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was asked")
	}
	select {
	case r := <-decided:
		if r.Decision != "deny" {
			t.Errorf("%+v", r)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no decision came")
	}
	var wire *protocol.Error
	if err := s.RPC(t.Context(), "no.such", nil, nil); !errors.As(err, &wire) || wire.Message != "unknown method: no.such" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.RPC(ctx, "health", nil, nil); err == nil {
		t.Error("a call whose caller has gone")
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-gone:
		if err == nil || !strings.Contains(err.Error(), "has ended the connection") {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the listener was not told of the end")
	}
	if err := s.RPC(t.Context(), "health", nil, nil); err == nil {
		t.Error("a call to nobody")
	}
}

// TestOurClientIsPaired: a device that nobody has let in says what lets it in.
func TestOurClientIsPaired(t *testing.T) {
	d := run(t, t.TempDir(), `gateway:{port:0,nodes:{pairing:{autoApproveLocal:false}}}`)
	_, key, _ := ed25519.GenerateKey(nil)
	opt := client.SocketOptions{URL: d.url, Token: d.operator, Device: key, Version: "1"}
	_, err := client.Dial(t.Context(), opt)
	var wire *protocol.Error
	if !errors.As(err, &wire) || wire.Type != protocol.ErrForbidden || !strings.HasPrefix(wire.Hint, "let this device in") {
		t.Fatalf("%+v", err)
	}
	request := wire.Hint[strings.LastIndexByte(wire.Hint, ' ')+1:]
	if a := d.do("POST", "/rpc", d.operator, `{"method":"device.pair.approve","params":{"requestId":"`+request+`"}}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s, err := client.Dial(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RPC(t.Context(), "health", nil, nil); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	opt.Token = "wrong-wrong-wrong-wrong-wrong"
	if _, err := client.Dial(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "unauthorized") {
		t.Errorf("a wrong token: %v", err)
	}
}
