package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/protocol"
	"openclaw/internal/safefile"
	"openclaw/internal/tool"
)

// daemon is a real one: Run with everything behind it.
type daemon struct {
	*harness
	dir  string
	info Info
	stop func() error // ends it and returns what Run did
}

// options of a daemon in dir; settings are the members of the configuration file.
func options(t *testing.T, dir, settings string) Options {
	t.Helper()
	file := filepath.Join(dir, "openclaw.json")
	if err := os.WriteFile(file, []byte("{"+settings+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, environment(dir))
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Config: cfg, StateDir: dir, Getenv: environment(dir), Version: "1.2.3", Log: nopLog(),
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "SHELL=/bin/sh"},
	}
}

func run(t *testing.T, dir, settings string) *daemon {
	t.Helper()
	opt := options(t, dir, settings)
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan Info, 1), make(chan error, 1)
	opt.Ready = func(info Info) { ready <- info }
	go func() { done <- Run(ctx, opt) }()
	d := &daemon{dir: dir, harness: &harness{t: t, client: &http.Client{Transport: &http.Transport{}}}}
	var ended error
	ran := true
	d.stop = func() error {
		cancel()
		if ran {
			ran = false
			select {
			case ended = <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("Run does not return")
			}
		}
		return ended
	}
	t.Cleanup(func() { _ = d.stop(); d.client.CloseIdleConnections() })
	select {
	case d.info = <-ready:
	case err := <-done:
		ran = false
		t.Fatalf("Run: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the daemon does not get ready")
	}
	d.url = d.info.URL
	store, err := identity.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.tokens = store
	if d.operator, err = store.OperatorSecret(); err != nil {
		t.Fatal(err)
	}
	if d.agent, err = store.AgentSecret(); err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	anyPort = `gateway:{port:0}`
	open    = `gateway:{port:0},tools:{exec:{security:"full",ask:"off"}}`
)

// exec runs a command with a token and returns the result.
func (d *daemon) exec(token, args string) protocol.ExecResult {
	d.t.Helper()
	a := d.do("POST", "/tools/invoke", token, `{"tool":"exec","args":`+args+`}`)
	var got struct {
		Result struct{ Details protocol.ExecResult }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
		d.t.Fatalf("%d %s %v", a.status, a.body, err)
	}
	return got.Result.Details
}

// call calls a control method.
func (d *daemon) call(method, params string, out any) {
	d.t.Helper()
	a := d.do("POST", "/rpc", d.operator, `{"method":"`+method+`","params":`+params+`}`)
	var got protocol.RPCResponse
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 || !got.OK {
		d.t.Fatalf("%s: %d %s %v", method, a.status, a.body, err)
	}
	if err := json.Unmarshal(got.Result, out); err != nil {
		d.t.Fatalf("%s: %s: %v", method, got.Result, err)
	}
}

func TestDaemonServesAndCleansUp(t *testing.T) {
	dir := t.TempDir()
	d := run(t, dir, open)
	for path, want := range map[string]string{"/healthz": `{"ok":true,"status":"live"}`, "/health": `{"ok":true,"status":"live"}`} {
		if a := d.do("GET", path, "", ""); a.status != 200 || a.body != want {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/readyz", "/ready"} {
		if a := d.do("GET", path, "", ""); a.status != 200 || !strings.HasPrefix(a.body, `{"ready":true,"failing":[],"uptimeMs":`) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	data, err := safefile.Read(filepath.Join(dir, "gateway.json"), 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	var e endpoint
	if err := json.Unmarshal(data, &e); err != nil || e.PID != os.Getpid() || e.URL != d.url || e.Version != "1.2.3" || time.Since(e.StartedAt) > time.Minute {
		t.Errorf("gateway.json: %s %v", data, err)
	}
	if res := d.exec(d.agent, `{"command":"echo hi"}`); res.Status != protocol.StatusCompleted || res.Output == nil || *res.Output != "hi\n" {
		t.Errorf("exec: %+v", res)
	}
	if err := d.stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gateway.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gateway.json stays: %v", err)
	}
	if locked, err := safefile.Locked(filepath.Join(dir, "gateway.lock")); locked || err != nil {
		t.Errorf("the lock is held: %v %v", locked, err)
	}
}

func TestStartIsFast(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	d := run(t, dir, anyPort)
	took := time.Since(began)
	if a := d.do("GET", "/readyz", "", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	t.Logf("ready after %v", took)
	if took > 3*time.Second { // 100 ms is the aim; this machine may be busy
		t.Errorf("ready after %v", took)
	}
}

func TestTwoDaemonsNeverShareAStateDirectory(t *testing.T) {
	dir := t.TempDir()
	d := run(t, dir, anyPort)
	err := Run(t.Context(), options(t, dir, anyPort))
	if err == nil || !errors.Is(err, safefile.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d, %s", os.Getpid(), d.url)) {
		t.Fatalf("second daemon: %v", err)
	}
	if a := d.do("GET", "/readyz", "", ""); a.status != 200 {
		t.Errorf("the first one suffered: %d", a.status)
	}
	if _, err := os.Stat(filepath.Join(dir, "gateway.json")); err != nil {
		t.Errorf("its gateway.json: %v", err)
	}
}

func TestTakenPortSaysWhatToDo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	err = Run(t.Context(), options(t, t.TempDir(), fmt.Sprintf("gateway:{port:%d}", port)))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d is taken", port)) || !strings.Contains(err.Error(), "gateway.port") {
		t.Errorf("taken port: %v", err)
	}
	err = Run(t.Context(), options(t, t.TempDir(), `gateway:{port:0,bind:"192.0.2.77"}`))
	if err == nil || !strings.Contains(err.Error(), "192.0.2.77") || !strings.Contains(err.Error(), "gateway.bind") {
		t.Errorf("foreign address: %v", err)
	}
}

func TestC6_ConfiguredTokenReplacesTheFile(t *testing.T) {
	const secret = "a-secret-that-the-operator-chose"
	d := run(t, t.TempDir(), `gateway:{port:0,auth:{token:"`+secret+`"}}`)
	if a := d.do("POST", "/rpc", secret, `{"method":"health"}`); a.status != 200 {
		t.Errorf("the configured token: %d", a.status)
	}
	if a := d.do("POST", "/rpc", d.operator, `{"method":"health"}`); a.status != 401 {
		t.Errorf("the file's token: %d", a.status)
	}
}

func TestX7_ShutdownEndsForegroundCallsAndAnswers(t *testing.T) {
	dir := t.TempDir()
	d := run(t, dir, open)
	mark := filepath.Join(dir, "started")
	got := make(chan answer, 1)
	go func() {
		got <- d.do("POST", "/tools/invoke", d.agent, `{"tool":"exec","args":{"command":"touch `+mark+`; sleep 600"}}`)
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	began := time.Now()
	if err := d.stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("shutdown took %v", took)
	}
	select {
	case a := <-got:
		if a.body == "" {
			t.Error("the call got no answer")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the call hangs")
	}
}

func TestX7_GoneClientEndsItsCommandForReal(t *testing.T) {
	d := run(t, t.TempDir(), open)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", d.url+"/tools/invoke", strings.NewReader(`{"tool":"exec","args":{"command":"sleep 600"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.agent)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := d.client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	running := func() int {
		var st status
		d.call("status", "{}", &st)
		return st.Sessions.Running
	}
	waitFor(t, "the command to run", func() bool { return running() == 1 })
	cancel()
	<-gone
	waitFor(t, "the command to end", func() bool { return running() == 0 })
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// A client that reads nothing must not keep the daemon from ending.
func TestShutdownCutsOffAClientThatDoesNotRead(t *testing.T) {
	full := make(chan struct{})
	h := start(t, &fakeTools{call: func(ctx context.Context, _ tool.Caller, _ protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
		stuck := time.AfterFunc(time.Second, sync.OnceFunc(func() { close(full) }))
		defer stuck.Stop()
		for data := make([]byte, 1<<20); ctx.Err() == nil; stuck.Reset(time.Second) {
			watch(protocol.Progress{Data: data}) // the one that takes a second waits for the client
		}
		return nil, context.Cause(ctx)
	}}, "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"tool":"exec"}`
	if _, err := fmt.Fprintf(conn, "POST /tools/invoke HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: %s\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(h.url, "http://"), h.agent, ndjson, len(body), body); err != nil {
		t.Fatal(err)
	}
	await(t, "the full connection", full)
	began := time.Now()
	h.shutdown()
	if took := time.Since(began); took > drainTimeout-time.Second {
		t.Errorf("shutdown took %v", took)
	}
}

// The bound is on what a client does not take, not on what is still to come.
func TestShutdownWaitsForAnAnswerThatTakesLonger(t *testing.T) {
	running := make(chan struct{})
	h := start(t, &fakeTools{call: func(ctx context.Context, _ tool.Caller, _ protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
		watch(protocol.Progress{Data: []byte("begun")})
		close(running)
		<-ctx.Done()
		time.Sleep(stopGrace + 200*time.Millisecond)
		return &protocol.ToolResult{Content: protocol.Text("done")}, nil
	}}, "")
	got := make(chan answer, 1)
	go func() {
		got <- h.do("POST", "/tools/invoke", h.agent, `{"tool":"exec"}`, "Accept", ndjson)
	}()
	await(t, "the call", running)
	h.shutdown()
	if a := <-got; !strings.Contains(a.body, `"result":{"content":[{"type":"text","text":"done"}]`) {
		t.Errorf("the answer is %d %s", a.status, a.body)
	}
}
