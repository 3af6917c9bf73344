package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkInvoke is one tool call that the call path answers at once: what the surface
// costs. BenchmarkInvokeFloor is the same round trip with a handler that only answers.
func BenchmarkInvoke(b *testing.B) {
	h := start(b, &fakeTools{}, "")
	b.ReportAllocs()
	for b.Loop() {
		if a := h.do("POST", "/tools/invoke", h.agent, `{"tool":"exec","args":{"command":"true"}}`); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

func BenchmarkInvokeFloor(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	defer srv.Close()
	h := &harness{t: b, url: srv.URL, client: srv.Client()}
	b.ReportAllocs()
	for b.Loop() {
		if a := h.do("POST", "/tools/invoke", "x", `{"tool":"exec","args":{"command":"true"}}`); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkMCP is the same over /mcp with a session.
func BenchmarkMCP(b *testing.B) {
	h := start(b, &fakeTools{}, "")
	session := h.mcp(h.agent, "", initialize).header.Get("Mcp-Session-Id")
	b.ReportAllocs()
	for b.Loop() {
		a := h.mcp(h.agent, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec","arguments":{"command":"true"}}}`)
		if !strings.Contains(a.body, `"result"`) {
			b.Fatal(a.body)
		}
	}
}
