package gateway

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/event"
	"openclaw/internal/identity"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeTools answers with what it was asked unless call says otherwise.
type fakeTools struct {
	call func(ctx context.Context, c tool.Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error)
}

// asked is what a fake call got.
type asked struct {
	Caller  tool.Caller
	Request protocol.ToolRequest
}

func (f *fakeTools) Call(ctx context.Context, c tool.Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if f.call != nil {
		return f.call(ctx, c, req, watch)
	}
	if req.Tool != protocol.ToolExec && req.Tool != protocol.ToolProcess {
		return nil, &protocol.Error{Type: protocol.ErrNotFound, Message: "Tool not available: " + req.Tool}
	}
	return &protocol.ToolResult{Content: protocol.Text("ok"), Details: asked{c, req}}, nil
}

func (f *fakeTools) Tools(tool.Caller) []protocol.ToolInfo { return protocol.Tools() }

// harness is a server on a real port with fake tools and real tokens.
type harness struct {
	t        testing.TB
	s        *server
	url      string
	bus      *event.Bus
	tokens   *identity.Store
	operator string
	agent    string // the plain agent token, agent main
	client   *http.Client
	shutdown func()
}

// start serves; settings is the text of the configuration file's gateway section.
func start(t testing.TB, fake *fakeTools, settings string) *harness {
	t.Helper()
	dir := t.TempDir()
	cfg := parse(t, dir, settings)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	store, err := identity.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, tokens: store, bus: event.New(time.Now, "e", 100), client: &http.Client{Transport: &http.Transport{}}}
	h.s = newServer(Options{Config: cfg, StateDir: dir, Getenv: environment(dir), Log: nopLog(), Version: "1"}, listener.Addr().(*net.TCPAddr), nil)
	kept := &durable{path: filepath.Join(dir, "state", "exec.db")}
	var asks sync.Once
	var reg *approval.Registry
	approvals := func(ctx context.Context) (*approval.Registry, error) {
		var err error
		asks.Do(func() {
			reg, err = approval.OpenRegistry(context.Background(), approval.Options{Store: approval.NewMemory()})
		})
		return reg, err
	}
	h.s.open(backend{
		tools: fake, tokens: store, bus: h.bus, reload: func(*config.Config) {},
		approvals: approvals, document: approval.NewFile(dir), devices: kept.devices,
	})
	h.url = h.s.info.URL
	if h.operator, err = store.OperatorSecret(); err != nil {
		t.Fatal(err)
	}
	if h.agent, err = store.AgentSecret(); err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: h.s}
	served := make(chan struct{})
	go func() { defer close(served); _ = web.Serve(listener) }()
	h.shutdown = func() { h.s.shutdown(web) }
	t.Cleanup(func() {
		h.shutdown()
		<-served
		if reg != nil {
			reg.Close()
		}
		if err := kept.close(); err != nil {
			t.Error(err)
		}
		h.bus.Close()
		h.client.CloseIdleConnections()
	})
	return h
}

func environment(dir string) func(string) string {
	return func(name string) string {
		switch name {
		case "OPENCLAW_STATE_DIR":
			return dir
		case "HOME":
			return dir
		}
		return ""
	}
}

func parse(t testing.TB, dir, settings string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(dir, "openclaw.json"), []byte("{gateway:{"+settings+"}}"), environment(dir))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request. Headers are pairs; "Host" sets the host.
func (h *harness) do(method, path, token, body string, headers ...string) answer {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Add(headers[i], headers[i+1])
		}
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

// invoke calls a tool and returns what the fake was asked.
func (h *harness) invoke(token, body string) (answer, asked) {
	h.t.Helper()
	a := h.do(http.MethodPost, "/tools/invoke", token, body)
	var got struct {
		Result struct{ Details asked }
	}
	if a.status == http.StatusOK {
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			h.t.Fatalf("%s: %v", a.body, err)
		}
	}
	return a, got.Result.Details
}

// token makes a further agent token.
func (h *harness) token(agent string, main bool) (id, secret string) {
	h.t.Helper()
	tok, secret, err := h.tokens.Create(agent, main, "test")
	if err != nil {
		h.t.Fatal(err)
	}
	return tok.ID, secret
}

func await(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not happen", what)
	}
}
func nopLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func tcpAddr(ip string, port int) *net.TCPAddr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }

func localAddr(ctx context.Context, addr net.Addr) context.Context {
	return context.WithValue(ctx, http.LocalAddrContextKey, addr)
}
