package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reply is a tool's answer as an MCP client sees it.
type reply struct {
	IsError           bool           `json:"isError"`
	StructuredContent map[string]any `json:"structuredContent"`
	Content           []struct{ Text string }
	Progress          string `json:"progress"`
}

func (r reply) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func (r reply) str(key string) string { s, _ := r.StructuredContent[key].(string); return s }

// client is a public MCP client that is connected to the product.
type client interface {
	tools(t *testing.T) []string
	call(t *testing.T, name string, args map[string]any) reply
	cancelled(t *testing.T, name string, args map[string]any, after time.Duration) error
	progress(t *testing.T, name string, args map[string]any) reply
}

// TestMCPClients drives the whole scenario with two public clients over both
// transports.
func TestMCPClients(t *testing.T) {
	connect := map[string]func(t *testing.T, p *place, d *daemon) client{
		"go-sdk/stdio":             func(t *testing.T, p *place, _ *daemon) client { return newGoStdio(t, p) },
		"go-sdk/stdio-with-daemon": func(t *testing.T, p *place, d *daemon) client { return newGoStdio(t, d.place) },
		"go-sdk/http":              func(t *testing.T, _ *place, d *daemon) client { return newGoHTTP(t, d) },
		"npm-sdk/stdio": func(t *testing.T, p *place, _ *daemon) client {
			return newNPM(t, p, "stdio", binary, "mcp")
		},
		"npm-sdk/http": func(t *testing.T, _ *place, d *daemon) client {
			return newNPM(t, d.place, "http", d.url+"/mcp", d.secret("agent-token"))
		},
	}
	for name, dial := range connect {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *daemon
			p := newPlace(t, "")
			if !strings.HasSuffix(name, "/stdio") {
				d = p.start()
			}
			scenario(t, dial(t, p, d), p)
		})
	}
}

func scenario(t *testing.T, c client, p *place) {
	work := filepath.Join(p.home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	exec := func(command string, more ...any) reply {
		args := map[string]any{"command": command, "workdir": work}
		for i := 0; i+1 < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return c.call(t, "exec", args)
	}
	t.Run("list tools", func(t *testing.T) {
		if got := fmt.Sprint(c.tools(t)); got != "[exec process]" {
			t.Errorf("tools %s", got)
		}
	})
	t.Run("ls", func(t *testing.T) {
		if r := exec("touch a.txt; ls -la"); r.IsError || !strings.Contains(r.text(), "a.txt") || r.StructuredContent["exitCode"] != 0.0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("failing command", func(t *testing.T) {
		r := exec("ls /no/such/place")
		if r.IsError || r.StructuredContent["exitCode"] != 2.0 || !strings.Contains(r.text(), "exit code 2") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("C program", func(t *testing.T) {
		need(t, "gcc")
		r := exec("printf '#include <stdio.h>\\nint main(void) { puts(\"built and run\"); return 0; }\\n' > p.c && gcc -O2 -o p p.c && ./p")
		if r.str("output") != "built and run\n" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("20 MB of output", func(t *testing.T) { bigOutput(t, c, exec) })
	t.Run("live progress", func(t *testing.T) {
		r := c.progress(t, "exec", map[string]any{"command": "for i in 1 2 3; do echo step $i; sleep 0.4; done", "workdir": work})
		if !strings.Contains(r.Progress, "step 1") || r.str("output") != "step 1\nstep 2\nstep 3\n" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("python REPL", func(t *testing.T) { pythonREPL(t, c, exec) })
	t.Run("vim", func(t *testing.T) { vimEdit(t, c, exec, work) })
	t.Run("background server", func(t *testing.T) { backgroundServer(t, c, exec) })
	t.Run("cancel", func(t *testing.T) {
		mark := fmt.Sprintf("100.%d", time.Now().UnixNano()%1e6)
		if err := c.cancelled(t, "exec", map[string]any{"command": "sleep " + mark}, 500*time.Millisecond); err == nil {
			t.Error("the cancelled call returned a result")
		}
		p.await("the cancelled command is gone", func() bool { return len(processesWith("sleep "+mark)) == 0 })
	})
	t.Run("bad parameters", func(t *testing.T) {
		for _, args := range []map[string]any{
			{}, {"command": 5}, {"command": "true", "timeout": -1}, {"command": "true", "surprise": true},
		} {
			if r := c.call(t, "exec", args); !r.IsError || r.text() == "" {
				t.Errorf("%v: %+v", args, r)
			}
		}
	})
}

type execFunc func(command string, more ...any) reply

func bigOutput(t *testing.T, c client, exec execFunc) {
	r := exec("seq 1 2600000", "yieldMs", 60000) // 19.9 MB
	cut, _ := r.StructuredContent["truncated"].(map[string]any)
	out := r.str("output")
	if cut == nil || !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "2599999\n2600000\n") || len(out) > 210000 {
		t.Fatalf("truncated %v, %d bytes of output", cut, len(out))
	}
	page := c.call(t, "process", map[string]any{
		"action": "log", "sessionId": r.str("sessionId"), "offset": 1234566, "limit": 2,
	})
	if page.str("output") != "1234567\n1234568\n" || page.StructuredContent["totalLines"] != 2600000.0 {
		t.Errorf("page %+v", page)
	}
}

// screenUntil asks for the screen until it shows text.
func screenUntil(t *testing.T, c client, id, text string) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		r := c.call(t, "process", map[string]any{"action": "screen", "sessionId": id})
		if strings.Contains(r.text(), text) {
			return r.text()
		}
		if time.Now().After(deadline) {
			t.Fatalf("the screen never showed %q:\n%s", text, r.text())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func pythonREPL(t *testing.T, c client, exec execFunc) {
	need(t, "python3")
	id := exec("python3 -q", "pty", true, "background", true).str("sessionId")
	screenUntil(t, c, id, ">>>")
	c.call(t, "process", map[string]any{"action": "send-keys", "sessionId": id, "literal": "print(6*7)", "keys": []string{"Enter"}})
	screenUntil(t, c, id, "42")
	c.call(t, "process", map[string]any{"action": "send-keys", "sessionId": id, "keys": []string{"C-d"}})
	for range 10 {
		r := c.call(t, "process", map[string]any{"action": "poll", "sessionId": id, "timeout": 5000})
		if r.str("status") != "running" {
			if r.str("status") != "completed" || r.StructuredContent["exitCode"] != 0.0 {
				t.Errorf("%+v", r)
			}
			return
		}
	}
	t.Error("the REPL did not end")
}

func vimEdit(t *testing.T, c client, exec execFunc, work string) {
	need(t, "vim")
	id := exec("vim -u NONE -N note.txt", "pty", true, "background", true).str("sessionId")
	screenUntil(t, c, id, "note.txt")
	keys := func(literal string, names ...string) {
		args := map[string]any{"action": "send-keys", "sessionId": id, "keys": names}
		if literal != "" {
			args["literal"] = literal
		}
		if r := c.call(t, "process", args); r.IsError {
			t.Fatal(r.text())
		}
	}
	keys("ione", "Enter")
	keys("three", "Escape")
	screenUntil(t, c, id, "three")
	keys("", "Up", "o") // the cursor keys work whatever mode vim has put the terminal in
	keys("two", "Escape")
	screenUntil(t, c, id, "two")
	c.call(t, "process", map[string]any{"action": "poll", "sessionId": id})
	c.call(t, "process", map[string]any{"action": "resize", "sessionId": id, "cols": 60, "rows": 12})
	// vim must have drawn itself anew: a resize in the middle of a command line makes it
	// wait for a key.
	for redrawn := ""; !strings.Contains(redrawn, "three"); {
		r := c.call(t, "process", map[string]any{"action": "poll", "sessionId": id, "timeout": 20000})
		if redrawn += r.str("output"); r.str("output") == "" {
			t.Fatalf("vim did not redraw after the resize: %+v", r)
		}
	}
	keys(":wq", "Enter")
	for range 10 {
		if r := c.call(t, "process", map[string]any{"action": "poll", "sessionId": id, "timeout": 5000}); r.str("status") != "running" {
			break
		}
	}
	data, err := os.ReadFile(filepath.Join(work, "note.txt"))
	if err != nil || string(data) != "one\ntwo\nthree\n" {
		screen := c.call(t, "process", map[string]any{"action": "screen", "sessionId": id})
		t.Errorf("vim saved %q, %v; its screen:\n%s", data, err, screen.text())
	}
}

func backgroundServer(t *testing.T, c client, exec execFunc) {
	need(t, "python3")
	mark := fmt.Sprintf("%d", time.Now().UnixNano())
	id := exec("sleep 1000."+mark[10:]+" & exec python3 -u -m http.server 0 --bind 127.0.0.1 -d /tmp", "background", true).str("sessionId")
	var out string
	for range 10 {
		r := c.call(t, "process", map[string]any{"action": "poll", "sessionId": id, "timeout": 5000})
		if out += r.str("output"); strings.Contains(out, "http://") {
			break
		}
	}
	_, rest, ok := strings.Cut(out, "(http://")
	url, _, _ := strings.Cut(rest, "/)")
	if !ok {
		t.Fatalf("no address in %q", out)
	}
	res, err := http.Get("http://" + url + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if r := c.call(t, "process", map[string]any{"action": "kill", "sessionId": id}); r.str("status") != "killed" {
		t.Errorf("%+v", r)
	}
	if _, err := http.Get("http://" + url + "/"); err == nil {
		t.Error("the server still answers after kill")
	}
	if left := processesWith("sleep 1000." + mark[10:]); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

// goClient is the official Go client.
type goClient struct {
	session *mcp.ClientSession
	mu      sync.Mutex // guards seen
	seen    strings.Builder
}

func newGoStdio(t *testing.T, p *place) client {
	cmd := exec.Command(binary, "mcp")
	cmd.Env, cmd.Dir, cmd.Stderr = p.env(), p.home, os.Stderr
	return dialGo(t, &mcp.CommandTransport{Command: cmd})
}

type bearer struct{ token string }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(req)
}

func newGoHTTP(t *testing.T, d *daemon) client {
	return dialGo(t, d.mcpTransport())
}

func (d *daemon) mcpTransport() *mcp.StreamableClientTransport {
	return &mcp.StreamableClientTransport{
		Endpoint: d.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{d.secret("agent-token")}},
	}
}

func dialGo(t *testing.T, transport mcp.Transport) client {
	c := &goClient{}
	m := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.seen.WriteString(req.Params.Message)
		},
	})
	session, err := m.Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	c.session = session
	return c
}

func (c *goClient) tools(t *testing.T) []string {
	res, err := c.session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Annotations == nil || tool.Description == "" {
			t.Errorf("tool %s lacks a part", tool.Name)
		}
		names = append(names, tool.Name)
	}
	return names
}

func (c *goClient) request(ctx context.Context, params *mcp.CallToolParams) (reply, error) {
	res, err := c.session.CallTool(ctx, params)
	if err != nil {
		return reply{}, err
	}
	data, err := json.Marshal(res)
	if err != nil {
		return reply{}, err
	}
	var r reply
	return r, json.Unmarshal(data, &r)
}

func (c *goClient) call(t *testing.T, name string, args map[string]any) reply {
	t.Helper()
	r, err := c.request(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

func (c *goClient) cancelled(_ *testing.T, name string, args map[string]any, after time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	_, err := c.request(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	return err
}

func (c *goClient) progress(t *testing.T, name string, args map[string]any) reply {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken("p1")
	r, err := c.request(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Progress = c.seen.String()
	return r
}

// npmClient is the official TypeScript client behind npm/bridge.mjs.
type npmClient struct {
	in  io.Writer
	out *bufio.Reader
}

// installNPM installs the public client once, into the user's cache: the checkout stays
// clean.
var installNPM = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "openclaw-e2e-npm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "bridge.mjs"} {
		data, err := os.ReadFile(filepath.Join("npm", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

func newNPM(t *testing.T, p *place, args ...string) client {
	need(t, "node", "npm")
	dir, err := installNPM()
	if err != nil {
		t.Skipf("the npm client cannot be installed: %v", err)
	}
	cmd := exec.Command("node", append([]string{filepath.Join(dir, "bridge.mjs")}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = p.env(), p.home, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	return &npmClient{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (c *npmClient) do(t *testing.T, command map[string]any, result any) error {
	t.Helper()
	line, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the npm client ended: %v", err)
	}
	var r struct {
		OK     bool
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatal(err)
	}
	if !r.OK {
		return fmt.Errorf("%s", r.Error)
	}
	return json.Unmarshal(r.Result, result)
}

func (c *npmClient) tools(t *testing.T) []string {
	var list struct{ Tools []struct{ Name string } }
	if err := c.do(t, map[string]any{"op": "list"}, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (c *npmClient) call(t *testing.T, name string, args map[string]any) reply {
	t.Helper()
	var r reply
	if err := c.do(t, map[string]any{"op": "call", "name": name, "args": args}, &r); err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

func (c *npmClient) cancelled(t *testing.T, name string, args map[string]any, after time.Duration) error {
	var r reply
	return c.do(t, map[string]any{"op": "call", "name": name, "args": args, "cancelAfterMs": after.Milliseconds()}, &r)
}

func (c *npmClient) progress(t *testing.T, name string, args map[string]any) reply {
	var r reply
	if err := c.do(t, map[string]any{"op": "call", "name": name, "args": args, "progress": true}, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
