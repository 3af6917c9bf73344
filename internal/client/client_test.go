package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/client"
	"openclaw/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a daemon that answers with handler, and a client of it.
func serve(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	c := client.New(srv.URL+"/", "s3cret")
	t.Cleanup(func() { c.Close(); srv.Close() })
	return c
}

// answer writes one JSON value.
func answer(t *testing.T, w http.ResponseWriter, status int, v any) {
	t.Helper()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Error(err)
	}
}

// wireError is the error as a caller branches on it.
func wireError(t *testing.T, err error) *protocol.Error {
	t.Helper()
	var wire *protocol.Error
	if !errors.As(err, &wire) {
		t.Fatalf("error is %T (%v), not *protocol.Error", err, err)
	}
	return wire
}

func TestCall(t *testing.T) {
	seven := 7
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var req protocol.ToolRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		if r.Method != "POST" || r.URL.Path != "/tools/invoke" || r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("%s %s with %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		var details any
		switch {
		case req.DryRun:
			details = map[string]string{"decision": "allow"}
		case req.Tool == protocol.ToolExec:
			details = protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: &seven}
		default:
			details = protocol.ProcessResult{SessionID: "calm-owl"}
		}
		answer(t, w, 200, protocol.InvokeResponse{OK: true, Result: &protocol.ToolResult{Content: protocol.Text("x"), Details: details}})
	})
	res, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := res.Details.(*protocol.ExecResult); !ok || *d.ExitCode != 7 || res.Content[0].Text != "x" {
		t.Errorf("exec: %#v", res)
	}
	res, err = c.Call(t.Context(), protocol.ToolRequest{Tool: "process"}, nil)
	if d, ok := res.Details.(*protocol.ProcessResult); err != nil || !ok || d.SessionID != "calm-owl" {
		t.Errorf("process: %#v, %v", res, err)
	}
	res, err = c.Call(t.Context(), protocol.ToolRequest{Tool: "exec", DryRun: true}, nil)
	if d, ok := res.Details.(json.RawMessage); err != nil || !ok || !strings.Contains(string(d), "allow") {
		t.Errorf("dry run: %#v, %v", res, err)
	}
	if s := fmt.Sprintf("%v %+v", c, c); strings.Contains(s, "s3cret") {
		t.Errorf("printing a client shows its token: %s", s)
	}
}

// stream writes lines as a daemon does, each at once.
func stream(t *testing.T, w http.ResponseWriter, lines ...protocol.StreamLine) {
	t.Helper()
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, line := range lines {
		if err := json.NewEncoder(w).Encode(line); err != nil {
			t.Error(err)
		}
		w.(http.Flusher).Flush()
	}
}

func TestCallStreams(t *testing.T) {
	big := strings.Repeat("x", 3<<20) // one line longer than any usual limit
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept"); got != "application/x-ndjson" {
			t.Errorf("Accept is %q", got)
		}
		stream(t, w,
			protocol.StreamLine{Progress: &protocol.Progress{SessionID: "calm-owl", Pid: 12}},
			protocol.StreamLine{Progress: &protocol.Progress{Stream: "stderr", Data: []byte{0, 0xff, '\n'}}},
			protocol.StreamLine{Progress: &protocol.Progress{Data: []byte(big)}},
			protocol.StreamLine{Result: json.RawMessage(`{"content":[],"details":{"status":"completed","exitCode":0,"durationMs":3,"new":1},"later":true}`)},
		)
	})
	var got []protocol.Progress
	res, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, func(p protocol.Progress) { got = append(got, p) })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].SessionID != "calm-owl" || string(got[1].Data) != "\x00\xff\n" || string(got[2].Data) != big {
		t.Errorf("progress: %d steps", len(got))
	}
	if d := res.Details.(*protocol.ExecResult); d.DurationMs != 3 {
		t.Errorf("details: %+v", d)
	}
}

func TestCallErrors(t *testing.T) {
	limit := &protocol.Error{Type: protocol.ErrLimit, Message: "too many", Hint: "wait"}
	for _, tt := range []struct {
		name string
		on   http.HandlerFunc
		want protocol.ErrorType
		text string
	}{
		{"in a stream", func(w http.ResponseWriter, _ *http.Request) {
			stream(t, w, protocol.StreamLine{Error: limit})
		}, protocol.ErrLimit, "too many; wait"},
		{"before a stream", func(w http.ResponseWriter, _ *http.Request) {
			answer(t, w, 429, protocol.InvokeResponse{Error: limit})
		}, protocol.ErrLimit, "too many"},
		{"without ok", func(w http.ResponseWriter, _ *http.Request) {
			answer(t, w, 401, map[string]any{"error": map[string]string{"message": "Unauthorized", "type": "unauthorized"}})
		}, protocol.ErrUnauthorized, "Unauthorized"},
		{"plain text", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Method Not Allowed", http.StatusForbidden)
		}, protocol.ErrForbidden, "Method Not Allowed"},
		{"a stranger's page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<h1>router</h1>")
		}, protocol.ErrInternal, "200 OK"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		}, protocol.ErrUnavailable, "ended the connection"},
		{"wrong JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":"yes"}`)
		}, protocol.ErrInternal, "cannot be read"},
		{"no details", func(w http.ResponseWriter, _ *http.Request) {
			stream(t, w, protocol.StreamLine{Result: json.RawMessage(`{"content":[]}`)})
		}, protocol.ErrInternal, "without details"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, tt.on)
			_, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, func(protocol.Progress) {})
			if wire := wireError(t, err); wire.Type != tt.want || !strings.Contains(wire.Error(), tt.text) {
				t.Errorf("got %s: %v", wire.Type, wire)
			}
		})
	}
}

// A daemon that dies in the middle of a call is an error that says so, never a result.
func TestDaemonDiesDuringCall(t *testing.T) {
	for name, hijack := range map[string]bool{"reset": true, "clean end without a result": false} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				stream(t, w, protocol.StreamLine{Progress: &protocol.Progress{SessionID: "calm-owl"}})
				if !hijack {
					return
				}
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				if tcp, ok := conn.(*net.TCPConn); ok {
					_ = tcp.SetLinger(0) // what a killed process's kernel does with unread input
				}
				_ = conn.Close()
			})
			_, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, func(protocol.Progress) {})
			if wire := wireError(t, err); wire.Type != protocol.ErrUnavailable || !strings.Contains(wire.Message, "ended the connection") || wire.Hint == "" {
				t.Errorf("got %v", wire)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	_, err = client.New("http://"+addr, "").Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, nil)
	if wire := wireError(t, err); wire.Type != protocol.ErrUnavailable || !strings.Contains(wire.Message, addr) {
		t.Errorf("got %v", wire)
	}
}

// the end of the caller's context closes the connection, which the daemon sees.
func TestX7_CancelReachesDaemon(t *testing.T) {
	gone := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(t, w, protocol.StreamLine{Progress: &protocol.Progress{SessionID: "calm-owl"}})
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := c.Call(ctx, protocol.ToolRequest{Tool: "exec"}, func(protocol.Progress) { cancel(errors.New("enough")) })
	if wire := wireError(t, err); !strings.Contains(wire.Message, "enough") {
		t.Errorf("got %v", wire)
	}
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the daemon did not notice")
	}
}

// The token stays between us and the daemon: no redirect is followed.
func TestTokenIsNotCarriedAway(t *testing.T) {
	var hits atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer other.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if _, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, nil); err == nil {
		t.Error("a redirect counted as an answer")
	}
	if hits.Load() != 0 {
		t.Error("the redirect was followed")
	}
}

func TestConnectionIsKept(t *testing.T) {
	addrs := map[string]bool{}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		addrs[r.RemoteAddr] = true
		stream(t, w, protocol.StreamLine{Result: json.RawMessage(`{"content":[],"details":{"status":"completed"}}`)})
	})
	for range 5 {
		if _, err := c.Call(t.Context(), protocol.ToolRequest{Tool: "exec"}, func(protocol.Progress) {}); err != nil {
			t.Fatal(err)
		}
	}
	if len(addrs) != 1 {
		t.Errorf("%d connections for 5 calls", len(addrs))
	}
}

func TestTools(t *testing.T) {
	denied := ""
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var req protocol.ToolRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || !req.DryRun {
			t.Errorf("probe %+v, %v", req, err)
		}
		kind := protocol.ErrInvalid
		if req.Tool == denied {
			kind = protocol.ErrNotFound
		}
		answer(t, w, 400, protocol.InvokeResponse{Error: &protocol.Error{Type: kind, Message: "m"}})
	})
	all, err := c.Tools(t.Context())
	if err != nil || len(all) != len(protocol.Tools()) {
		t.Fatalf("%d tools, %v", len(all), err)
	}
	denied = protocol.ToolProcess
	some, err := c.Tools(t.Context())
	if err != nil || len(some) != len(all)-1 {
		t.Fatalf("%d tools, %v", len(some), err)
	}
}

func TestRPC(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var req protocol.RPCRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/rpc" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		if req.Method != "status" {
			answer(t, w, 404, protocol.RPCResponse{Error: &protocol.Error{Type: protocol.ErrNotFound, Message: "no method"}})
			return
		}
		answer(t, w, 200, protocol.RPCResponse{OK: true, Result: req.Params})
	})
	var out struct{ A int }
	if err := c.RPC(t.Context(), "status", map[string]int{"a": 5}, &out); err != nil || out.A != 5 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := c.RPC(t.Context(), "status", nil, nil); err != nil {
		t.Error(err)
	}
	if wire := wireError(t, c.RPC(t.Context(), "none", nil, nil)); wire.Type != protocol.ErrNotFound {
		t.Errorf("got %v", wire)
	}
}
