package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

func dial(t *testing.T, url, version string) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: url, MaxRetries: -1}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestC32_HTTPServesOldAndNewVersions(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			srv := serveHTTP(t, &fakeCaller{tools: []protocol.ToolInfo{execInfo()}, call: func(_ context.Context, _ protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
				if watch != nil {
					watch(protocol.Progress{Data: []byte("ok\n")})
				}
				return completed("ok\n"), nil
			}})
			session := dial(t, srv.URL, version)
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("version %s was agreed on", got)
			}
			if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
				t.Fatalf("list: %v, %v", list, err)
			}
			params := &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "echo ok"}}
			params.SetProgressToken("p")
			res, err := session.CallTool(t.Context(), params)
			if err != nil || res.IsError || res.Content[0].(*sdk.TextContent).Text != "ok\n" {
				t.Fatalf("call: %+v, %v", res, err)
			}
		})
	}
}

func TestX7_ClientThatGoesEndsItsCall(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			c, started, ended := blocking()
			srv := serveHTTP(t, c)
			headers, meta := map[string]string{versionHeader: version, "Mcp-Method": "tools/call", "Mcp-Name": "exec"}, benchMeta
			if version < perRequestVersion {
				headers[sessionHeader] = post(t, srv.URL, initializeMessage, nil).Header.Get(sessionHeader)
				meta = ""
			}
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, strings.NewReader(fmt.Sprintf(benchCall, 5, meta)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			for k, v := range headers {
				req.Header.Set(k, v)
			}
			gone := make(chan error, 1)
			go func() {
				resp, err := http.DefaultClient.Do(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				gone <- err
			}()
			await(t, "the call", started)
			cancel()
			await(t, "the cancellation", ended)
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Errorf("the request ended with %v", err)
			}
		})
	}
}

func TestX7_CancelledNotificationOnAnotherRequest(t *testing.T) {
	c, started, ended := blocking()
	srv := serveHTTP(t, c)
	session := dial(t, srv.URL, "2025-11-25")
	defer session.Close()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "exec"})
		result <- err
	}()
	await(t, "the call", started)
	cancel()
	await(t, "the cancellation", ended)
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestC6_SessionBelongsToItsCredential(t *testing.T) {
	var calls atomic.Int32
	srv := serveHTTP(t, &fakeCaller{call: func(context.Context, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
		calls.Add(1)
		return completed(""), nil
	}})
	id := post(t, srv.URL, initializeMessage, map[string]string{"Key": "alice"}).Header.Get(sessionHeader)
	if id == "" {
		t.Fatal("no session id")
	}
	call := fmt.Sprintf(benchCall, 2, "")
	mine := post(t, srv.URL, call, map[string]string{"Key": "alice", sessionHeader: id, versionHeader: "2025-11-25"})
	if mine.StatusCode != http.StatusOK || calls.Load() != 1 {
		t.Fatalf("own session: %d %s", mine.StatusCode, mine.Status)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Key": "mallory", sessionHeader: id, versionHeader: "2025-11-25",
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		} {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s with somebody else's session: %d", method, resp.StatusCode)
		}
	}
	if calls.Load() != 1 {
		t.Error("a call went through")
	}
	if again := post(t, srv.URL, call, map[string]string{"Key": "alice", sessionHeader: id, versionHeader: "2025-11-25"}); again.StatusCode != http.StatusOK {
		t.Errorf("the owner's session is gone: %d", again.StatusCode)
	}
}

func TestForgedCallHeaderIsOverwritten(t *testing.T) {
	srv := serveHTTP(t, &fakeCaller{})
	id := post(t, srv.URL, initializeMessage, map[string]string{callHeader: "1"}).Header.Get(sessionHeader)
	answer := post(t, srv.URL, fmt.Sprintf(benchCall, 2, ""), map[string]string{sessionHeader: id, callHeader: "999"})
	if !strings.Contains(answer.Status, `"ok\n"`) {
		t.Errorf("answer: %s", answer.Status)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	h := NewHTTP(Options{})
	defer h.Close(context.Background())
	e := h.admit("k", false)
	c := &fakeCaller{}
	for range sessionMax + 20 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(initializeMessage))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		h.Serve(&discard{header: http.Header{}}, req, "k", c)
	}
	e.evictions.Wait()
	n := 0
	for range e.server.Sessions() {
		n++
	}
	if n > sessionMax {
		t.Errorf("%d sessions", n)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
