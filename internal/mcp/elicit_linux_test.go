package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

var revisions = []string{"2025-11-25", perRequestVersion}

// desk is the real call path under a policy that asks.
type desk struct {
	svc *tool.Service
	who tool.Caller
	dir string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "openclaw.json")
	if err := os.WriteFile(path, []byte(`{tools: {exec: {mode: "ask"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(string) string { return "" }
	cfg, err := config.Load(path, getenv)
	if err != nil {
		t.Fatal(err)
	}
	svc, err := tool.Open(tool.Options{
		Config: cfg, StateDir: dir, Getenv: getenv, OwnPath: true,
		Environ: []string{"HOME=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/bash"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{svc: svc, dir: dir, who: tool.Caller{Agent: "main", SessionKey: "agent:main:stdio", Credential: "local", Origin: "stdio", WorkDir: dir}}
}

func (d *desk) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	return d.svc.Call(ctx, d.who, req, watch)
}

func (d *desk) Tools(context.Context) ([]protocol.ToolInfo, error) { return d.svc.Tools(d.who), nil }

func (d *desk) Ask(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *protocol.Question, error) {
	return d.svc.Ask(ctx, d.who, req, watch)
}

func (d *desk) Answer(ctx context.Context, req protocol.ToolRequest, state string, person func(context.Context) (bool, error), watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	return d.svc.Answer(ctx, d.who, req, state, person, watch)
}

func (d *desk) ran() bool {
	_, err := os.Stat(d.dir + "/ran")
	return err == nil
}

// person answers what a client asks; nil = the client cannot ask.
type person = func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)

func answers(action, decision string) person {
	return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		res := &sdk.ElicitResult{Action: action}
		if decision != "" {
			res.Content = map[string]any{"decision": decision}
		}
		return res, nil
	}
}

func clientOptions(p person) *sdk.ClientOptions {
	opt := &sdk.ClientOptions{}
	if p != nil {
		opt.ElicitationHandler = func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return p(ctx, req.Params)
		}
	}
	return opt
}

// dial connects the SDK's client over a pair of streams.
func (d *desk) dial(t *testing.T, revision string, asker Asker, opt *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- ServeStdio(context.Background(), d, Options{Version: "1", Asker: asker}, in, out)
		_ = out.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opt)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("speaks %s", got)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = toServer.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return session
}

// outcome is what a client sees of a call.
type outcome struct {
	status, output, reason, text string
	isError                      bool
}

func exec(ctx context.Context, t *testing.T, s *sdk.ClientSession, command string) outcome {
	t.Helper()
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": command}})
	if err != nil {
		t.Fatal(err)
	}
	return outcomeOf(res)
}

func outcomeOf(res *sdk.CallToolResult) outcome {
	o := outcome{isError: res.IsError}
	if len(res.Content) > 0 {
		o.text = res.Content[0].(*sdk.TextContent).Text
	}
	m, _ := res.StructuredContent.(map[string]any)
	o.status, _ = m["status"].(string)
	o.output, _ = m["output"].(string)
	if denied, ok := m["denied"].(map[string]any); ok {
		o.reason, _ = denied["reason"].(string)
	}
	return o
}

func TestA60b_Verdicts(t *testing.T) {
	for _, revision := range revisions {
		for name, tt := range map[string]struct {
			answer person
			reason string // "" = it runs
		}{
			"allow":         {answers("accept", "allow-once"), ""},
			"choice deny":   {answers("accept", "deny"), "denied by mcp-client"},
			"decline":       {answers("decline", ""), "denied by mcp-client"},
			"cancel":        {answers("cancel", ""), "denied by mcp-client"},
			"declines with": {answers("decline", "allow-once"), "denied by mcp-client"},
			"no choice":     {answers("accept", ""), "denied (malformed-verdict)"},
			"odd action":    {answers("Accept", "allow-once"), "denied (malformed-verdict)"},
		} {
			t.Run(revision+"/"+name, func(t *testing.T) {
				d := newDesk(t)
				s := d.dial(t, revision, d, clientOptions(tt.answer))
				got := exec(t.Context(), t, s, "echo out; touch ran")
				if tt.reason == "" && (got.status != "completed" || got.output != "out\n" || !d.ran()) {
					t.Errorf("%+v", got)
				}
				if tt.reason != "" && (got.status != "denied" || got.reason != tt.reason || d.ran() || !strings.Contains(got.text, "did not run")) {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// A client whose own answer breaks the form never gets to us, or counts as no answer.
func TestA60b_AlwaysIsNotOnOffer(t *testing.T) {
	for _, revision := range revisions {
		d := newDesk(t)
		s := d.dial(t, revision, d, clientOptions(answers("accept", "allow-always")))
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "touch ran"}})
		if err == nil && outcomeOf(res).reason != "denied (malformed-verdict)" || d.ran() {
			t.Errorf("%s: %+v %v", revision, res, err)
		}
	}
}

func TestA60b_Form(t *testing.T) {
	for _, revision := range revisions {
		d := newDesk(t)
		var form *sdk.ElicitParams
		s := d.dial(t, revision, d, clientOptions(func(_ context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			form = p
			return &sdk.ElicitResult{Action: "decline"}, nil
		}))
		exec(t.Context(), t, s, "env -i sh -c 'rm -rf x'\necho \u202egpj.exe `x` # **bold**")
		if form == nil {
			t.Fatal("nobody was asked")
		}
		for _, want := range []string{"\n      1 │ env -i sh -c 'rm -rf x'\n      2 │ echo \\u{202E}gpj.exe `x` # **bold**\n", "\n    directory: " + d.dir + "\n", "within 30 minutes", "\n    runs by: /usr/bin/bash -c", "\n    asked because: ", "\n    agent: main\n", "    ! it holds characters"} {
			if !strings.Contains(form.Message, want) {
				t.Errorf("%s: the question lacks %q:\n%s", revision, want, form.Message)
			}
		}
		exec(t.Context(), t, s, "uname -a")
		real, err := filepath.EvalSymlinks("/usr/bin/uname")
		if err != nil || !strings.Contains(form.Message, "\n    program: "+real+"\n") {
			t.Errorf("%s: %v\n%s", revision, err, form.Message)
		}
		schema, _ := json.Marshal(form.RequestedSchema)
		if form.Mode != "form" || !strings.Contains(string(schema), `"enum":["deny","allow-once"]`) || strings.Contains(string(schema), "always") {
			t.Errorf("%s: %s", form.Mode, schema)
		}
	}
}

// TestA60b_OffWithout: nobody is asked by a client that cannot, when it is off, or over
// HTTP; a call that asks nobody goes as ever.
func TestA60b_OffWithout(t *testing.T) {
	asked := func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		t.Error("somebody was asked")
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow-once"}}, nil
	}
	links := clientOptions(asked)
	links.Capabilities = &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}}
	for _, revision := range revisions {
		for name, dial := range map[string]func(t *testing.T, d *desk) *sdk.ClientSession{
			"off":        func(t *testing.T, d *desk) *sdk.ClientSession { return d.dial(t, revision, nil, clientOptions(asked)) },
			"no form":    func(t *testing.T, d *desk) *sdk.ClientSession { return d.dial(t, revision, d, clientOptions(nil)) },
			"links only": func(t *testing.T, d *desk) *sdk.ClientSession { return d.dial(t, revision, d, links) },
			"HTTP": func(t *testing.T, d *desk) *sdk.ClientSession {
				srv := serveHTTPWith(t, Options{Version: "1", Asker: d}, d)
				s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, clientOptions(asked)).
					Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			},
		} {
			t.Run(revision+"/"+name, func(t *testing.T) {
				d := newDesk(t)
				s := dial(t, d)
				if got := exec(t.Context(), t, s, "touch ran"); got.status != "denied" || d.ran() {
					t.Errorf("%+v", got)
				}
				if got := exec(t.Context(), t, s, "cd ."); got.status != "completed" {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// TestA60b_TwoAtOnce: each answer is of its own question.
func TestA60b_TwoAtOnce(t *testing.T) {
	for _, revision := range revisions {
		d := newDesk(t)
		var open sync.WaitGroup // both are open before either is answered
		open.Add(2)
		s := d.dial(t, revision, d, clientOptions(func(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			open.Done()
			open.Wait()
			if strings.Contains(p.Message, "echo yes") {
				return answers("accept", "allow-once")(ctx, p)
			}
			return answers("accept", "deny")(ctx, p)
		}))
		var calls sync.WaitGroup
		calls.Go(func() {
			if got := exec(t.Context(), t, s, "echo yes"); got.output != "yes\n" {
				t.Errorf("%s: %+v", revision, got)
			}
		})
		calls.Go(func() {
			if got := exec(t.Context(), t, s, "touch ran"); got.status != "denied" || d.ran() {
				t.Errorf("%s: %+v", revision, got)
			}
		})
		calls.Wait()
	}
}

// TestA60b_Rounds: the second round of a call needs the state of its first, unchanged, and
// gets its result once.
func TestA60b_Rounds(t *testing.T) {
	d := newDesk(t)
	opt := clientOptions(answers("decline", ""))
	opt.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	s := d.dial(t, perRequestVersion, d, opt)
	call := func(command, state string, answer sdk.InputResponse) *sdk.CallToolResult {
		t.Helper()
		p := &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": command}, RequestState: state}
		if answer != nil {
			p.InputResponses = sdk.InputResponseMap{questionName: answer}
		}
		res, err := s.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	allow := &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow-once"}}
	first := call("touch ran", "", allow) // an answer to nothing
	if !first.NeedsInput() || first.RequestState == "" || d.ran() {
		t.Fatalf("%+v", first)
	}
	for name, res := range map[string]*sdk.CallToolResult{
		"forged":  call("touch ran", "A"+first.RequestState[1:], allow),
		"foreign": call("touch ran; touch more", first.RequestState, allow),
	} {
		if !res.IsError || res.NeedsInput() || d.ran() {
			t.Errorf("%s: %+v", name, outcomeOf(res))
		}
	}
	if got := outcomeOf(call("touch ran", first.RequestState, allow)); got.status != "completed" || !d.ran() {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(d.dir + "/ran"); err != nil {
		t.Fatal(err)
	}
	if res := call("touch ran", first.RequestState, allow); !res.IsError || d.ran() {
		t.Errorf("replayed: %+v", outcomeOf(res))
	}
	second := call("touch ran", "", nil)
	if got := outcomeOf(call("touch ran", second.RequestState, nil)); got.reason != "denied (malformed-verdict)" || d.ran() {
		t.Errorf("no answer: %+v", got)
	}
	// An older client has no states, so none is good.
	old := d.dial(t, revisions[0], d, clientOptions(answers("accept", "allow-once")))
	third := call("touch ran", "", nil)
	res, err := old.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "touch ran"}, RequestState: third.RequestState[1:] + "A"})
	if err != nil || !res.IsError || d.ran() {
		t.Errorf("%+v %v", res, err)
	}
}

// TestA60b_CancelledWhileAsked: the question goes with its call.
func TestA60b_CancelledWhileAsked(t *testing.T) {
	d := newDesk(t)
	asked, gone := make(chan struct{}), make(chan struct{})
	s := d.dial(t, revisions[0], d, clientOptions(func(ctx context.Context, _ *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		close(asked)
		<-ctx.Done()
		close(gone)
		return nil, errors.New("too late")
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "touch ran"}})
		ended <- err
	}()
	await(t, "the question", asked)
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled call has a result")
	}
	await(t, "the end of the question", gone)
	reg, err := d.svc.Approvals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); len(reg.Pending()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the request stays pending")
		}
	}
	if d.ran() {
		t.Error("it ran")
	}
}
