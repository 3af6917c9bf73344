package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
)

// peer is a client on the socket.
type peer struct {
	t     *testing.T
	ws    *websocket.Conn
	nonce string
	ts    int64
	n     int
}

// dialSocket opens a connection and reads the challenge.
func (h *harness) dialSocket(header http.Header) *peer {
	h.t.Helper()
	ws, _, err := websocket.Dial(h.t.Context(), strings.Replace(h.url, "http", "ws", 1), &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(protocol.PayloadMax)
	p := &peer{t: h.t.(*testing.T), ws: ws}
	var frame struct {
		Type, Event string
		Payload     protocol.Challenge
	}
	p.read(&frame)
	if frame.Type != "event" || frame.Event != "connect.challenge" || frame.Payload.Nonce == "" || frame.Payload.Ts == 0 {
		h.t.Fatalf("no challenge: %+v", frame)
	}
	p.nonce, p.ts = frame.Payload.Nonce, frame.Payload.Ts
	return p
}

func (p *peer) read(v any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	_, data, err := p.ws.Read(ctx)
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		p.t.Fatalf("%s: %v", data, err)
	}
}

func (p *peer) write(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// reply is a response.
type reply struct {
	Type, ID string
	OK       bool
	Payload  json.RawMessage
	Error    protocol.ErrorShape
	Event    string
}

// call makes a request and returns its response, passing over events.
func (p *peer) call(method string, params any) reply {
	p.t.Helper()
	p.n++
	id := strconv.Itoa(p.n)
	data, err := json.Marshal(map[string]any{"type": "req", "id": id, "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(string(data))
	for {
		var r reply
		if p.read(&r); r.Type == "res" && r.ID == id {
			return r
		}
	}
}

// closed returns how the server closed the connection.
func (p *peer) closed() (websocket.StatusCode, string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	for {
		if _, _, err := p.ws.Read(ctx); err != nil {
			var ce websocket.CloseError
			if errors.As(err, &ce) {
				return ce.Code, ce.Reason
			}
			return -1, err.Error()
		}
	}
}

// key is a device's.
type key struct {
	private ed25519.PrivateKey
	public  string
	id      string
}

func newKey() key {
	pub, priv, _ := ed25519.GenerateKey(nil)
	sum := sha256.Sum256(pub)
	return key{priv, base64.RawURLEncoding.EncodeToString(pub), hex.EncodeToString(sum[:])}
}

// connectParams are those of an ordinary operator; change may alter them, and what is
// signed.
func (p *peer) connectParams(k *key, token string, scopes []string, change func(params map[string]any)) map[string]any {
	params := map[string]any{
		"minProtocol": 4, "maxProtocol": 4, "role": "operator", "scopes": scopes, "caps": []string{"approvals"},
		"client": map[string]any{"id": "openclaw-tui", "version": "1", "platform": "linux", "mode": "ui"},
		"auth":   map[string]any{"token": token},
	}
	if k != nil {
		payload := "v3|" + k.id + "|openclaw-tui|ui|operator|" + strings.Join(scopes, ",") + "|" + strconv.FormatInt(p.ts, 10) + "|" + token + "|" + p.nonce + "|linux|"
		params["device"] = map[string]any{
			"id": k.id, "publicKey": k.public, "signedAt": p.ts, "nonce": p.nonce,
			"signature": base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, []byte(payload))),
		}
	}
	if change != nil {
		change(params)
	}
	return params
}

func helper(params map[string]any) {
	params["client"] = map[string]any{"id": "cli", "version": "1", "platform": "linux", "mode": "cli"}
}

// far makes a connection look as if it came through a proxy: nothing is approved silently.
var far = http.Header{"X-Forwarded-For": {"203.0.113.9"}}

var admin = []string{"operator.admin"}

// TestProtocol21_SharedSecret: who knows the secret is in, on this machine with the scopes
// it asks for; everybody else is told why not, in the words clients branch on.
func TestProtocol21_SharedSecret(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for name, c := range map[string]struct {
		header http.Header
		change func(map[string]any)
		scopes string
		code   string
	}{
		"helper":           {nil, helper, `["operator.admin"]`, ""},
		"helper from afar": {far, helper, `[]`, ""},
		"another client":   {nil, nil, `[]`, ""},
		"in the other field": {nil, func(p map[string]any) {
			helper(p)
			p["auth"] = map[string]any{"password": p["auth"].(map[string]any)["token"]}
		}, `["operator.admin"]`, ""},
		"wrong":    {nil, func(p map[string]any) { helper(p); p["auth"] = map[string]any{"token": "wrong"} }, "", "AUTH_TOKEN_MISMATCH"},
		"nothing":  {nil, func(p map[string]any) { helper(p); delete(p, "auth") }, "", "DEVICE_IDENTITY_REQUIRED"},
		"node":     {nil, func(p map[string]any) { p["role"] = "node" }, "", "DEVICE_IDENTITY_REQUIRED"},
		"page":     {nil, func(p map[string]any) { p["client"].(map[string]any)["id"] = "openclaw-control-ui" }, "", "CONTROL_UI_DEVICE_IDENTITY_REQUIRED"},
		"protocol": {nil, func(p map[string]any) { p["minProtocol"], p["maxProtocol"] = 5, 6 }, "", "PROTOCOL_MISMATCH"},
		"made up":  {nil, func(p map[string]any) { helper(p); p["scopes"] = []string{"operator.all", "operator.read"} }, `["operator.read"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := h.dialSocket(c.header)
			r := p.call("connect", p.connectParams(nil, h.operator, admin, c.change))
			if c.code != "" {
				if details, _ := r.Error.Details.(map[string]any); r.OK || details["code"] != c.code {
					t.Errorf("%+v, want %s", r.Error, c.code)
				}
				if code, reason := p.closed(); reason != r.Error.Message || code != 1008 && code != 1002 {
					t.Errorf("closed with %d %q, the error was %q", code, reason, r.Error.Message)
				}
				return
			}
			var hello protocol.Hello
			if err := json.Unmarshal(r.Payload, &hello); err != nil || !r.OK || hello.Type != "hello-ok" {
				t.Fatalf("%+v %v", r, err)
			}
			if scopes, _ := json.Marshal(hello.Auth.Scopes); string(scopes) != c.scopes {
				t.Errorf("scopes %s, want %s", scopes, c.scopes)
			}
		})
	}
}

// TestC6_AgentTokenOpensNoSocket, in whatever field it comes.
func TestC6_AgentTokenOpensNoSocket(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for _, field := range []string{"token", "password", "deviceToken"} {
		for _, k := range []*key{nil, func() *key { k := newKey(); return &k }()} {
			p := h.dialSocket(nil)
			params := p.connectParams(k, h.agent, admin, nil)
			params["auth"] = map[string]any{field: h.agent}
			if r := p.call("connect", params); r.OK {
				t.Errorf("%s opened it: %s", field, r.Payload)
			}
		}
	}
}

// TestProtocol23_Signatures: a device that does not prove its key now is refused.
func TestProtocol23_Signatures(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	k, other := newKey(), newKey()
	device := func(p map[string]any) map[string]any { return p["device"].(map[string]any) }
	for name, c := range map[string]struct {
		change func(params map[string]any)
		code   string
	}{
		"as it should be": {nil, ""},
		"standard base64": {func(p map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(k.public)
			device(p)["publicKey"] = base64.StdEncoding.EncodeToString(raw)
		}, ""},
		"another's key":   {func(p map[string]any) { device(p)["publicKey"] = other.public }, "DEVICE_AUTH_DEVICE_ID_MISMATCH"},
		"another's id":    {func(p map[string]any) { device(p)["id"] = other.id }, "DEVICE_AUTH_DEVICE_ID_MISMATCH"},
		"stale":           {func(p map[string]any) { device(p)["signedAt"] = device(p)["signedAt"].(int64) - 130000 }, "DEVICE_AUTH_SIGNATURE_EXPIRED"},
		"no nonce":        {func(p map[string]any) { device(p)["nonce"] = " " }, "DEVICE_AUTH_NONCE_REQUIRED"},
		"replayed":        {func(p map[string]any) { device(p)["nonce"] = "of-another-connection" }, "DEVICE_AUTH_NONCE_MISMATCH"},
		"more scopes":     {func(p map[string]any) { p["scopes"] = []string{"operator.admin", "operator.pairing"} }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another role":    {func(p map[string]any) { p["role"] = "node" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another token":   {func(p map[string]any) { p["auth"] = map[string]any{"token": h.operator + " "} }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"garbage":         {func(p map[string]any) { device(p)["signature"] = "AAAA" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"no key":          {func(p map[string]any) { device(p)["publicKey"] = "x" }, "DEVICE_AUTH_PUBLIC_KEY_INVALID"},
		"another machine": {func(p map[string]any) { p["client"].(map[string]any)["platform"] = "darwin" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
	} {
		t.Run(name, func(t *testing.T) {
			p := h.dialSocket(nil)
			r := p.call("connect", p.connectParams(&k, h.operator, []string{"operator.read"}, c.change))
			details, _ := r.Error.Details.(map[string]any)
			if got, _ := details["code"].(string); got != c.code || r.OK != (c.code == "") {
				t.Errorf("%+v, want %q", r, c.code)
			}
		})
	}
}

// TestProtocol26_Pairing: a device from afar waits until it is let in; its token then opens
// the socket by itself, no wider than it was made, until it is taken away.
func TestProtocol26_Pairing(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	k := newKey()
	read := []string{"operator.read"}
	op := h.dialSocket(nil)
	if r := op.call("connect", op.connectParams(nil, h.operator, admin, helper)); !r.OK {
		t.Fatal(r.Error)
	}
	connect := func(token string, scopes []string) (*peer, reply) {
		p := h.dialSocket(far)
		return p, p.call("connect", p.connectParams(&k, token, scopes, nil))
	}
	_, r := connect(h.operator, read)
	details, _ := r.Error.Details.(map[string]any)
	if r.Error.Code != "NOT_PAIRED" || details["reason"] != "not-paired" || details["requestId"] == "" {
		t.Fatalf("%+v", r.Error)
	}
	if _, again := connect(h.operator, read); again.Error.Details.(map[string]any)["requestId"] != details["requestId"] {
		t.Errorf("the same device makes another request: %+v", again.Error)
	}
	if r := op.call("device.pair.approve", map[string]any{"requestId": details["requestId"]}); !r.OK {
		t.Fatal(r.Error)
	}
	p, r := connect(h.operator, read)
	var hello protocol.Hello
	if err := json.Unmarshal(r.Payload, &hello); err != nil || hello.Auth.DeviceToken == "" {
		t.Fatalf("%+v", r)
	}
	token := hello.Auth.DeviceToken
	_ = p
	p2, r := connect(token, read)
	if !r.OK {
		t.Fatalf("by its token: %+v", r.Error)
	}
	if r := p2.call("exec.approvals.get", nil); r.Error.Code != "FORBIDDEN" || r.Error.Message != "missing scope: operator.admin" {
		t.Errorf("%+v", r.Error)
	}
	if _, r := connect(token, admin); r.OK || r.Error.Details.(map[string]any)["code"] != "AUTH_SCOPE_MISMATCH" {
		t.Errorf("wider than its token: %+v", r)
	}
	if _, r := connect(h.operator, admin); r.OK || r.Error.Details.(map[string]any)["reason"] != "scope-upgrade" {
		t.Errorf("more scopes: %+v", r)
	}
	thief := newKey()
	tp := h.dialSocket(far)
	if r := tp.call("connect", tp.connectParams(&thief, token, read, nil)); r.OK {
		t.Error("another device's token opened the socket")
	}
	if r := op.call("device.token.revoke", map[string]any{"deviceId": k.id, "role": "operator"}); !r.OK {
		t.Fatal(r.Error)
	}
	if code, reason := p2.closed(); code != 4001 || reason != "device removed" {
		t.Errorf("closed with %d %q", code, reason)
	}
	if _, r := connect(token, read); r.OK {
		t.Error("a revoked token opens the socket")
	}
	if _, r := connect(h.operator, read); r.OK || r.Error.Details.(map[string]any)["reason"] != "role-upgrade" {
		t.Errorf("after the revocation: %+v", r)
	}
	near := h.dialSocket(nil) // nor silently from this machine
	if r := near.call("connect", near.connectParams(&k, h.operator, read, nil)); r.OK {
		t.Error("a revoked device is let in from this machine")
	}
	var list struct{ Paired []map[string]any }
	if r := op.call("device.pair.list", nil); json.Unmarshal(r.Payload, &list) != nil || len(list.Paired) != 1 || strings.Contains(string(r.Payload), token) {
		t.Errorf("%s", r.Payload)
	}
	if r := op.call("device.pair.remove", map[string]any{"deviceId": k.id}); !r.OK {
		t.Error(r.Error)
	}
}

// TestProtocol12_Frames: what is no request, or too large, is refused in the way clients
// know.
func TestProtocol12_Frames(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for text, want := range map[string]string{
		`not json`: "1000 ", `{"type":"req","id":"1","method":"health"}`: "1008 invalid handshake: first request must be connect",
		`{"type":"req","id":"1","method":"connect","x":1}`: "1008 invalid request frame", `[]`: "1008 invalid request frame",
		`"` + strings.Repeat("x", 70000) + `"`: "1009 ",
	} {
		p := h.dialSocket(nil)
		p.write(text)
		if code, reason := p.closed(); !strings.HasPrefix(strconv.Itoa(int(code))+" "+reason, want) {
			t.Errorf("%.40s: closed with %d %q, want %s", text, code, reason, want)
		}
	}
	p := h.dialSocket(nil)
	if r := p.call("connect", p.connectParams(nil, h.operator, admin, helper)); !r.OK {
		t.Fatal(r.Error)
	}
	p.write("not json") // ignored after the sign-in
	if r := p.call("no.such", nil); r.Error.Code != "INVALID_REQUEST" || r.Error.Message != "unknown method: no.such" {
		t.Errorf("%+v", r.Error)
	}
	if r := p.call("approval.get", map[string]any{"x": 1}); r.Error.Message != "invalid approval.get params: at root: unexpected property 'x'" {
		t.Errorf("%+v", r.Error)
	}
	p.write(`{"type":"req","id":"7","method":"health","y":1}`)
	var r reply
	if p.read(&r); r.ID != "7" && r.ID != "invalid" || r.Error.Message != "invalid request frame: at root: unexpected property 'y'" {
		t.Errorf("%+v", r)
	}
	if r := p.call("health", nil); !r.OK {
		t.Errorf("%+v", r.Error)
	}
	if r := p.call("connect", nil); r.OK {
		t.Error("connect twice")
	}
}

// TestC7_SocketOfAForeignPage: a page of another site, or one that made its name point
// here, is refused before anything else.
func TestC7_SocketOfAForeignPage(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for _, header := range []http.Header{{"Origin": {"https://evil.example"}}, {"Origin": {"null"}}, {"Sec-Fetch-Site": {"cross-site"}}} {
		_, resp, err := websocket.Dial(t.Context(), strings.Replace(h.url, "http", "ws", 1), &websocket.DialOptions{HTTPHeader: header})
		if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %v", header, err)
		}
	}
	_, resp, err := websocket.Dial(t.Context(), strings.Replace(h.url, "http", "ws", 1), &websocket.DialOptions{Host: "evil.example"})
	if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign host: %v", err)
	}
}

// TestProtocol47_Approvals: the events come, in order and numbered, to those who show them
// and may decide; first answer wins.
func TestProtocol47_Approvals(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	p := h.dialSocket(nil)
	k := newKey()
	if r := p.call("connect", p.connectParams(&k, h.operator, []string{"operator.approvals"}, nil)); !r.OK {
		t.Fatal(r.Error)
	}
	blind := h.dialSocket(nil)
	k2 := newKey()
	if r := blind.call("connect", blind.connectParams(&k2, h.operator, []string{"operator.read"}, nil)); !r.OK {
		t.Fatal(r.Error)
	}
	reg, err := h.s.backend.Load().approvals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for !reg.Reachable() {
		time.Sleep(time.Millisecond)
	}
	rec, _, err := reg.Ask(t.Context(), "", approval.Request{
		Kind: approval.KindExec, Agent: "main", SessionKey: "agent:main:main", Command: "git push", Decisions: []approval.Decision{approval.AllowOnce, approval.DenyIt},
	}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Event   string
		Seq     int64
		Payload protocol.ExecApproval
	}
	if p.read(&e); e.Event != "exec.approval.requested" || e.Payload.ID != rec.ID || e.Seq != 1 || e.Payload.Request.Command != "git push" {
		t.Errorf("%+v", e)
	}
	if r := p.call("exec.approval.resolve", map[string]any{"id": rec.ID, "decision": "allow-always"}); r.Error.Details.(map[string]any)["reason"] != "APPROVAL_ALLOW_ALWAYS_UNAVAILABLE" {
		t.Errorf("%+v", r)
	}
	if r := blind.call("exec.approval.resolve", map[string]any{"id": rec.ID, "decision": "allow-once"}); r.Error.Code != "FORBIDDEN" {
		t.Errorf("%+v", r)
	}
	if r := p.call("exec.approval.resolve", map[string]any{"id": rec.ID[:8], "decision": "deny"}); !r.OK {
		t.Errorf("%+v", r.Error)
	}
	if r := p.call("exec.approval.resolve", map[string]any{"id": rec.ID, "decision": "allow-once"}); r.Error.Details.(map[string]any)["reason"] != "APPROVAL_ALREADY_RESOLVED" {
		t.Errorf("%+v", r)
	}
	if r := p.call("exec.approval.resolve", map[string]any{"id": "00000000", "decision": "deny"}); r.Error.Details.(map[string]any)["reason"] != "APPROVAL_NOT_FOUND" {
		t.Errorf("%+v", r)
	}
}

// TestProtocol17_Shutdown: clients are told before the gateway goes.
func TestProtocol17_Shutdown(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	p := h.dialSocket(nil)
	if r := p.call("connect", p.connectParams(nil, h.operator, admin, helper)); !r.OK {
		t.Fatal(r.Error)
	}
	go h.s.stop(errStopping)
	var e reply
	if p.read(&e); e.Event != "shutdown" {
		t.Errorf("%+v", e)
	}
	if code, reason := p.closed(); code != 1012 || reason != "service restart" {
		t.Errorf("closed with %d %q", code, reason)
	}
}

// TestSlowClientIsCutOff: one that does not read costs a bounded queue and nobody else
// anything.
func TestSlowClientIsCutOff(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	slow, quick := h.dialSocket(nil), h.dialSocket(nil)
	for _, p := range []*peer{slow, quick} {
		if r := p.call("connect", p.connectParams(nil, h.operator, admin, helper)); !r.OK {
			t.Fatal(r.Error)
		}
	}
	payload := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				for _, c := range h.s.hub.all() {
					if c.id != "" {
						c.event("big", payload, false)
					}
				}
			}
		})
	}
	done := make(chan int)
	go func() {
		n := 0
		for ; n < 80; n++ {
			if _, _, err := quick.ws.Read(t.Context()); err != nil {
				break
			}
		}
		done <- n
	}()
	wg.Wait()
	deadline := time.After(20 * time.Second)
	select {
	case n := <-done:
		t.Logf("the quick one read %d", n)
	case <-deadline:
		t.Error("the quick client waits")
	}
	for range 1000 {
		if len(h.s.hub.all()) <= 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the slow client is still connected")
}

func FuzzSocketFrames(f *testing.F) {
	for _, s := range []string{`{"type":"req","id":"1","method":"connect","params":{}}`, `{`, `[]`, `{"type":"req","id":"1","method":"x","params":{"a":[{}]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame protocol.RequestFrame
		if protocol.Closed(data, &frame) != nil {
			return
		}
		var p protocol.ConnectParams
		if protocol.Closed(frame.Params, &p) == nil {
			_ = p.Check()
			_ = negotiate(&p)
		}
	})
}

// TestProtocol47_Request: a client asks for a command that it runs itself; only its own
// device, named reviewers and admins see that.
func TestProtocol47_Request(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	approvals := []string{"operator.approvals"}
	join := func(scopes []string) (*peer, key) {
		p, k := h.dialSocket(nil), newKey()
		if r := p.call("connect", p.connectParams(&k, h.operator, scopes, nil)); !r.OK {
			t.Fatal(r.Error)
		}
		return p, k
	}
	asker, _ := join(approvals)
	ask := map[string]any{"command": "ls -la", "env": map[string]string{"FOO": "bar"}, "agentId": "main", "timeoutMs": 60000}
	var got struct {
		ID             string
		Decision       *string
		TerminalReason string
		DeliveryRoute  string
	}
	if r := asker.call("exec.approval.request", ask); json.Unmarshal(r.Payload, &got) != nil || got.Decision == nil || *got.Decision != "deny" || got.TerminalReason != "no-route" {
		t.Errorf("nobody is there: %+v %+v", r, got)
	}
	other, _ := join(approvals)
	boss, _ := join(admin)
	ask["twoPhase"] = true
	r := asker.call("exec.approval.request", ask)
	if json.Unmarshal(r.Payload, &got) != nil || got.DeliveryRoute != "approval-client" {
		t.Fatalf("%+v", r)
	}
	first := asker.n
	var list []protocol.ExecApproval
	if r := other.call("exec.approval.list", nil); json.Unmarshal(r.Payload, &list) != nil || len(list) != 0 {
		t.Errorf("another device sees it: %+v", list)
	}
	if r := other.call("approval.resolve", map[string]any{"id": got.ID, "decision": "allow-once"}); r.OK {
		t.Error("another device answers it")
	}
	if r := boss.call("exec.approval.list", nil); json.Unmarshal(r.Payload, &list) != nil || len(list) != 1 {
		t.Errorf("the admin sees %+v", list)
	}
	if r := boss.call("exec.approval.resolve", map[string]any{"id": got.ID, "decision": "allow-once"}); !r.OK {
		t.Error(r.Error)
	}
	for {
		var second reply
		if asker.read(&second); second.Type == "res" {
			if second.ID != strconv.Itoa(first) || json.Unmarshal(second.Payload, &got) != nil || got.Decision == nil || *got.Decision != "allow-once" {
				t.Errorf("%+v %+v", second, got)
			}
			break
		}
	}
	if envHash(map[string]string{"FOO": "bar"}) != sumHex(`[["FOO","bar"]]`) {
		t.Error("the hash of the environment")
	}
	if r := asker.call("exec.approval.request", map[string]any{"command": "x", "host": "node"}); r.Error.Message != "nodeId is required for host=node" {
		t.Errorf("%+v", r.Error)
	}
}

func sumHex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
