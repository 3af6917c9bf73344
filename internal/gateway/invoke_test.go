package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// The recorded answers of a real gateway, protocol 7.
func TestP7_AnswersAreAsRecorded(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for _, tt := range []struct {
		method, body string
		status       int
		kind, want   string
	}{
		{"POST", `{"args":{}}`, 400, "application/json; charset=utf-8", `{"ok":false,"error":{"type":"invalid_request","message":"tools.invoke requires name"}}`},
		{"POST", `{"tool":"nosuch"}`, 404, "application/json; charset=utf-8", `{"ok":false,"error":{"type":"not_found","message":"Tool not available: nosuch"}}`},
		{"GET", ``, 405, "text/plain; charset=utf-8", `Method Not Allowed`},
	} {
		a := h.do(tt.method, "/tools/invoke", h.operator, tt.body)
		if a.status != tt.status || a.header.Get("Content-Type") != tt.kind || a.body != tt.want {
			t.Errorf("%s %s: %d %s %s", tt.method, tt.body, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
}

func TestP7_FieldsOfTheBody(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for body, want := range map[string]string{
		`{"tool":"exec","args":{"command":"x"}}`:                   `exec {"command":"x"}`,
		`{"tool":"nosuch","name":"exec","args":{}}`:                `exec {}`,
		`{"tool":"process","action":"list"}`:                       `process {"action":"list"}`,
		`{"tool":"process","action":"list","args":null}`:           `process {"action":"list"}`,
		`{"tool":"process","action":"list","args":{"action":"x"}}`: `process {"action":"x"}`,
		`{"tool":"exec","args":null}`:                              `exec `,
		`{"tool":"exec","wait":true,"foo":{}}`:                     `exec `,
		`{"tool":"exec","wait":5000}`:                              `exec `,
		`{"tool":"exec","args":[1],"action":"x"}`:                  `exec [1]`,
	} {
		a, got := h.invoke(h.operator, body)
		if text := got.Request.Tool + " " + string(got.Request.Args); a.status != 200 || text != want {
			t.Errorf("%s: %d %q", body, a.status, text)
		}
	}
	_, got := h.invoke(h.operator, `{"tool":"exec","dryRun":true,"idempotencyKey":"k"}`)
	if !got.Request.DryRun || got.Request.IdempotencyKey != "k" || got.Caller.Origin != "http" || !got.Caller.Operator || got.Caller.Credential != "operator" {
		t.Errorf("call %+v", got)
	}
	for _, body := range []string{``, `[]`, `{"tool":7}`, `{"tool":"exec"`, `{"tool":"exec"} x`} {
		if a, _ := h.invoke(h.operator, body); a.status != 400 || !strings.Contains(a.body, `"type":"invalid_request"`) {
			t.Errorf("%q: %d %s", body, a.status, a.body)
		}
	}
}

func TestC20_GatewayToolsDenyIsA404ThatNamesTheKey(t *testing.T) {
	h := start(t, &fakeTools{}, `tools:{deny:["exec"]}`)
	a, _ := h.invoke(h.operator, `{"tool":"exec"}`)
	if a.status != 404 || !strings.Contains(a.body, `"message":"Tool not available: exec (denied by gateway.tools.deny)"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a, _ := h.invoke(h.operator, `{"name":"bash"}`); a.status != 404 {
		t.Errorf("by its older name: %d", a.status)
	}
	if a, _ := h.invoke(h.operator, `{"tool":"process"}`); a.status != 200 {
		t.Errorf("another tool: %d", a.status)
	}
	if a, _ := h.invoke(h.operator, `{"tool":"fs_write"}`); a.status != 404 || strings.Contains(a.body, "gateway.tools") {
		t.Errorf("a tool that there is not: %d %s", a.status, a.body)
	}
}

func TestC7_BodyOver2MBIs413(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	big := `{"tool":"exec","args":{"command":"` + strings.Repeat("x", bodyMax) + `"}}`
	for _, path := range []string{"/tools/invoke", "/rpc", "/mcp"} {
		if a := h.do("POST", path, h.operator, big); a.status != 413 || !strings.Contains(a.body, `"type":"too_large"`) {
			t.Errorf("%s: %d %.200s", path, a.status, a.body)
		}
	}
	if a, _ := h.invoke(h.operator, `{"tool":"exec","args":{"command":"`+strings.Repeat("x", bodyMax-100)+`"}}`); a.status != 200 {
		t.Errorf("a body just under the limit: %d", a.status)
	}
}

func TestErrorsKeepTheirTypeAndStatus(t *testing.T) {
	var failure error
	h := start(t, &fakeTools{call: func(context.Context, tool.Caller, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
		return nil, failure
	}}, "")
	for kind, status := range map[protocol.ErrorType]int{
		protocol.ErrInvalid: 400, protocol.ErrForbidden: 403, protocol.ErrNotFound: 404, protocol.ErrConflict: 409,
		protocol.ErrLimit: 429, protocol.ErrUnavailable: 503, protocol.ErrInternal: 500,
	} {
		failure = &protocol.Error{Type: kind, Message: "it failed", Hint: "do this"}
		a, _ := h.invoke(h.operator, `{"tool":"exec"}`)
		want := `{"ok":false,"error":{"type":"` + string(kind) + `","message":"it failed","hint":"do this"}}`
		if a.status != status || a.body != want {
			t.Errorf("%s: %d %s", kind, a.status, a.body)
		}
		if status == 429 && a.header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
}

func TestStreamSendsLinesAsTheyCome(t *testing.T) {
	next := make(chan struct{})
	h := start(t, &fakeTools{call: func(ctx context.Context, _ tool.Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
		if req.Tool == "process" {
			return nil, &protocol.Error{Type: protocol.ErrNotFound, Message: "no such session"}
		}
		watch(protocol.Progress{SessionID: "s", Pid: 1})
		watch(protocol.Progress{Data: []byte("<one>\n")})
		select {
		case <-next:
		case <-ctx.Done():
		}
		return &protocol.ToolResult{Content: protocol.Text("done"), Details: &protocol.ExecResult{Status: protocol.StatusCompleted}}, nil
	}}, "")
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.url+"/tools/invoke", strings.NewReader(`{"tool":"exec"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.agent)
	req.Header.Set("Accept", "application/json;q=0.5, "+ndjson)
	resp, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != ndjson {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header)
	}
	var lines []protocol.StreamLine
	scan := bufio.NewScanner(resp.Body)
	for scan.Scan() {
		var line protocol.StreamLine
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", scan.Text(), err)
		}
		if lines = append(lines, line); len(lines) == 2 {
			close(next) // the output was here before the end
		}
	}
	if len(lines) != 3 || lines[0].Progress.SessionID != "s" || string(lines[1].Progress.Data) != "<one>\n" || !strings.Contains(string(lines[2].Result), `"completed"`) {
		t.Errorf("lines: %+v", lines)
	}
	a := h.do("POST", "/tools/invoke", h.agent, `{"tool":"process"}`, "Accept", ndjson)
	if a.status != 404 || a.header.Get("Content-Type") != ndjson || a.body != `{"error":{"type":"not_found","message":"no such session"}}`+"\n" {
		t.Errorf("an error: %d %s", a.status, a.body)
	}
}

func TestX7_ClientThatGoesCancelsItsCall(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := start(t, &fakeTools{call: func(ctx context.Context, _ tool.Caller, _ protocol.ToolRequest, _ func(protocol.Progress)) (*protocol.ToolResult, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, context.Cause(ctx)
	}}, "")
	for _, accept := range []string{"application/json", ndjson} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", h.url+"/tools/invoke", strings.NewReader(`{"tool":"exec"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.agent)
		req.Header.Set("Accept", accept)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := h.client.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}()
		await(t, "the call", started)
		cancel()
		await(t, "the cancellation", ended)
		<-gone
	}
}
