package gateway

import (
	"net/http"
	"strings"
	"testing"
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
