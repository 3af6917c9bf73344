package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (h *harness) mcp(token, session, body string) answer {
	h.t.Helper()
	headers := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	if session != "" {
		headers = append(headers, "Mcp-Session-Id", session)
	}
	return h.do("POST", "/mcp", token, body, headers...)
}

func TestC32_MCPRunsARealCommand(t *testing.T) {
	d := run(t, t.TempDir(), open)
	a := d.mcp(d.agent, "", initialize)
	session := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || session == "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := d.mcp(d.agent, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(a.body, `"name":"exec"`) || !strings.Contains(a.body, `"outputSchema"`) {
		t.Errorf("list: %s", a.body)
	}
	a = d.mcp(d.agent, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec","arguments":{"command":"echo hi"}}}`)
	if !strings.Contains(a.body, `"text":"hi\n"`) || !strings.Contains(a.body, `"structuredContent":{"status":"completed","exitCode":0`) {
		t.Errorf("call: %s", a.body)
	}
	a = d.mcp(d.agent, session, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"exec","arguments":{"cmd":"echo hi"}}}`)
	if !strings.Contains(a.body, `"isError":true`) || !strings.Contains(a.body, "cmd") {
		t.Errorf("a wrong parameter: %s", a.body)
	}
}

func TestC6_MCPSessionOfAnotherCredentialIsUnknown(t *testing.T) {
	h := start(t, &fakeTools{}, `auth:{mode:"none"}`)
	_, other := h.token("main", false)
	session := h.mcp(h.agent, "", initialize).header.Get("Mcp-Session-Id")
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exec"}}`
	if a := h.mcp(h.agent, session, call); a.status != 200 || !strings.Contains(a.body, `"SessionKey":"agent:main:default"`) || !strings.Contains(a.body, `"Origin":"mcp"`) {
		t.Errorf("its own: %d %s", a.status, a.body)
	}
	for name, token := range map[string]string{"another token": other, "the operator": h.operator, "nobody": ""} {
		if a := h.mcp(token, session, call); a.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := h.mcp("wrong", session, call); a.status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", a.status)
	}
}

// C-6: the stream that a client keeps open for messages ends with its token.
func TestC6_RevokedTokenEndsItsMCPStream(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	h.s.heartbeat = 20 * time.Millisecond
	id, token := h.token("main", false)
	session := h.mcp(token, "", initialize).header.Get("Mcp-Session-Id")
	h.mcp(token, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	req, err := http.NewRequestWithContext(t.Context(), "GET", h.url+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Accept": "text/event-stream",
		"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25",
	} {
		req.Header.Set(name, value)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(io.Discard, resp.Body) }()
	select {
	case <-ended:
		t.Fatal("the stream ended before its token")
	case <-time.After(100 * time.Millisecond):
	}
	if err := h.tokens.Revoke(id); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the stream", ended)
	if a := h.mcp(token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); a.status != http.StatusUnauthorized {
		t.Errorf("a request after that: %d", a.status)
	}
}

// Nothing gets out between two looks at the token either.
func TestC6_RevokedTokenGetsNoMoreBytes(t *testing.T) {
	good := true
	var out strings.Builder
	ended := 0
	w := &tokenWriter{ResponseWriter: response{&out}, signedIn: func() bool { return good }, revoked: func() { ended++ }}
	if _, err := w.Write([]byte("one")); err != nil {
		t.Fatal(err)
	}
	good = false
	if n, err := w.Write([]byte("two")); n != 0 || !errors.Is(err, errRevoked) || out.String() != "one" || ended != 1 {
		t.Errorf("wrote %d, %v; out %q, ended %d times", n, err, &out, ended)
	}
}

// response is a writer of which only the body counts.
type response struct{ io.Writer }

func (response) Header() http.Header { return http.Header{} }
func (response) WriteHeader(int)     {}

// C-20: what the operator takes off the gateway is off it on every way in.
func TestC20_GatewayDenyClosesMCPToo(t *testing.T) {
	ran := false
	h := start(t, &fakeTools{call: func(context.Context, tool.Caller, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
		ran = true
		return &protocol.ToolResult{Content: protocol.Text("ran")}, nil
	}}, `tools:{deny:["bash"]}`)
	session := h.mcp(h.agent, "", initialize).header.Get("Mcp-Session-Id")
	list := h.mcp(h.agent, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if strings.Contains(list.body, `"name":"exec"`) || !strings.Contains(list.body, `"name":"process"`) {
		t.Errorf("list: %s", list.body)
	}
	for _, meta := range []string{"", `,"_meta":{"progressToken":1}`} { // the short way and the SDK's
		call := h.mcp(h.agent, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec","arguments":{"command":"x"}`+meta+`}}`)
		if ran || !strings.Contains(call.body, "not available: exec (denied by gateway.tools.deny)") {
			t.Errorf("call: %s", call.body)
		}
	}
	if call := h.mcp(h.agent, session, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"process"}}`); !strings.Contains(call.body, "ran") {
		t.Errorf("another tool: %s", call.body)
	}
}
