package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"openclaw/internal/protocol"
	"openclaw/internal/walk"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == walk.Role { // what a judged command runs in
		os.Exit(walk.Main())
	}
	goleak.VerifyTestMain(m)
}

const initializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// fakeCaller answers at once unless call says otherwise.
type fakeCaller struct {
	tools []protocol.ToolInfo
	call  func(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error)
}

func (f *fakeCaller) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if f.call != nil {
		return f.call(ctx, req, watch)
	}
	return completed("ok\n"), nil
}

func (f *fakeCaller) Tools(context.Context) ([]protocol.ToolInfo, error) { return f.tools, nil }

func completed(output string) *protocol.ToolResult {
	code := 0
	return &protocol.ToolResult{
		Content: protocol.Text(output),
		Details: &protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: &code, Output: &output, Cwd: "/tmp", Host: "gateway"},
	}
}

func execInfo() protocol.ToolInfo {
	return protocol.ToolInfo{
		Name: "exec", Title: "Run a command", Description: "Runs a shell command.", Destructive: true,
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"status":{"type":"string"}},"required":["status"]}`),
	}
}

// connect gives a client of a server over the in-memory transport.
func connect(t testing.TB, c caller) *sdk.ClientSession {
	t.Helper()
	server := newServer(Options{Version: "1"}, func(ctx context.Context, _ sdk.Request) (context.Context, caller, func()) {
		return ctx, c, func() {}
	})
	client, end := sdk.NewInMemoryTransports()
	served, err := server.Connect(context.Background(), end, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); _ = served.Wait() })
	return session
}

// serveHTTP serves callers by the key in the header Key.
func serveHTTP(t testing.TB, c caller) *httptest.Server {
	t.Helper()
	return serveHTTPWith(t, Options{Version: "1"}, c)
}

func serveHTTPWith(t testing.TB, opt Options, c caller) *httptest.Server {
	t.Helper()
	h := NewHTTP(opt)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, r.Header.Get("Key"), c)
	}))
	t.Cleanup(func() {
		h.Close(context.Background())
		srv.CloseClientConnections()
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return srv
}

// post sends one message and reads the whole answer, which it puts into Status's place
// of the response for messages of failing tests.
func post(t testing.TB, url, body string, headers map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode >= 300 && headers["Want"] == "" {
		t.Fatalf("%s: %s %v", resp.Status, answer, err)
	}
	resp.Status = string(answer)
	return resp
}
