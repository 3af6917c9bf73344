package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/event"
	"openclaw/internal/protocol"
)

// bed is a service on a fresh state directory, driven as one caller.
type bed struct {
	t      *testing.T
	s      *Service
	caller Caller
	dir    string
	bus    *event.Bus
}

func newBed(t *testing.T, conf string) *bed {
	t.Helper()
	dir := t.TempDir()
	getenv := func(k string) string {
		if k == "OPENCLAW_STATE_DIR" {
			return dir
		}
		return ""
	}
	path := filepath.Join(dir, "openclaw.json")
	if conf != "" {
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(path, getenv)
	if err != nil {
		t.Fatal(err)
	}
	bus := event.New(time.Now, "t", 100)
	env := []string{"HOME=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/bash"}
	s, err := Open(Options{Config: cfg, StateDir: dir, Getenv: getenv, Environ: env, Events: bus})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		bus.Close()
	})
	caller := Caller{Agent: "main", SessionKey: "agent:main:main", Credential: "local", Origin: "test"}
	return &bed{t: t, s: s, caller: caller, dir: dir, bus: bus}
}

func (b *bed) call(req protocol.ToolRequest) (*protocol.ToolResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return b.s.Call(ctx, b.caller, req, nil)
}

func (b *bed) exec(args string) *protocol.ExecResult {
	b.t.Helper()
	res, err := b.call(protocol.ToolRequest{Tool: "exec", Args: []byte(args)})
	if err != nil {
		b.t.Fatalf("exec %s: %v", args, err)
	}
	return res.Details.(*protocol.ExecResult)
}

func (b *bed) process(args string) *protocol.ProcessResult {
	b.t.Helper()
	res, err := b.call(protocol.ToolRequest{Tool: "process", Args: []byte(args)})
	if err != nil {
		b.t.Fatalf("process %s: %v", args, err)
	}
	return res.Details.(*protocol.ProcessResult)
}

func (b *bed) fails(tool, args string) *protocol.Error {
	b.t.Helper()
	res, err := b.call(protocol.ToolRequest{Tool: tool, Args: []byte(args)})
	var wire *protocol.Error
	if !errors.As(err, &wire) {
		b.t.Fatalf("%s %s: got %+v, %v; want an error", tool, args, res, err)
	}
	return wire
}

func TestBadParametersRunNothing(t *testing.T) {
	b := newBed(t, "")
	mark := filepath.Join(b.dir, "ran")
	cmd := `"command":"touch ` + mark + `"`
	cases := []struct{ tool, args, want string }{
		{"exec", `{}`, `"command" is required`},
		{"exec", `{"command":"  \n"}`, `"command" is required`},
		{"exec", `{"command":7}`, `"command" must be a string`},
		{"exec", `[]`, "JSON object"},
		{"exec", `{` + cmd, "not valid JSON"},
		{"exec", `{` + cmd + `} {}`, "more text"},
		{"exec", `{` + cmd + `,"command":"true"}`, `"command" is given twice`},
		{"exec", `{` + cmd + `,"Command":"true"}`, `unknown parameter "Command"`},
		{"exec", `{` + cmd + `,"tiemout":1}`, `unknown parameter "tiemout"`},
		{"exec", `{` + cmd + `,"timeout":-1}`, `"timeout" must be from 0`},
		{"exec", `{` + cmd + `,"timeout":1e300}`, `"timeout" must be from 0`},
		{"exec", `{` + cmd + `,"timeout":1e999}`, `"timeout" must be`},
		{"exec", `{` + cmd + `,"timeout":"NaN"}`, `"timeout" must be a number`},
		{"exec", `{` + cmd + `,"timeout":1,"timeoutSeconds":2}`, "same setting"},
		{"exec", `{` + cmd + `,"yieldMs":-5}`, `"yieldMs" must be from 0`},
		{"exec", `{` + cmd + `,"background":"yes"}`, `"background" must be true or false`},
		{"exec", `{` + cmd + `,"env":{"A":1}}`, `the value of "A" must be a string`},
		{"exec", `{` + cmd + `,"env":["A=1"]}`, `"env" must be an object`},
		{"exec", `{` + cmd + `,"env":{"1A":"x"}}`, "1A"},
		{"exec", `{` + cmd + `,"env":{"A":"x\u0000y"}}`, "A"},
		{"exec", `{` + cmd + `,"host":"server1.example.com"}`, `"host" must be one of`},
		{"exec", `{` + cmd + `,"host":""}`, `"host" must be one of`},
		{"exec", `{` + cmd + `,"ask":"never"}`, `"ask" must be one of`},
		{"exec", `{` + cmd + `,"workdir":"/no/such/dir"}`, "/no/such/dir"},
		{"exec", `{` + cmd + `,"workdir":"   "}`, "workdir"},
		{"exec", `{` + cmd + `,"workdir":"/etc/passwd"}`, "/etc/passwd"},
		{"exec", `{` + cmd + `,"workdir":"~"}`, "workdir"},
		{"exec", `{"command":"touch ` + mark + `\u0000"}`, "NUL"},
		{"process", `{}`, `"action" is required`},
		{"process", `{"action":"explode"}`, `"action" must be one of`},
		{"process", `{"action":"poll"}`, `"sessionId" is required`},
		{"process", `{"action":"poll","sessionId":"x","data":"y"}`, "does not go with action poll"},
		{"process", `{"action":"poll","sessionId":"nobody-here"}`, "no such process session"},
		{"process", `{"action":"log","sessionId":"x","offset":-1}`, `"offset" must be from 0`},
		{"process", `{"action":"log","sessionId":"x","offset":1.5}`, `"offset" must be a whole number`},
		{"process", `{"action":"resize","sessionId":"x","cols":100000,"rows":2}`, `"cols" must be from 1`},
		{"process", `{"action":"write","sessionId":"x"}`, `needs "data"`},
		{"exec", `{` + cmd + `,"cols":80,"rows":24}`, `need "pty"`},
		{"exec", `{` + cmd + `,"pty":true,"cols":80}`, `go together`},
	}
	for _, c := range cases {
		t.Run(c.want+c.args[:min(40, len(c.args))], func(t *testing.T) {
			err := b.fails(c.tool, c.args)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err.Error(), c.want)
			}
			if err.Type != protocol.ErrInvalid && err.Type != protocol.ErrNotFound {
				t.Errorf("type %s, want an error of the caller", err.Type)
			}
		})
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a refused call ran its command")
	}
}

func TestX1Results(t *testing.T) {
	b := newBed(t, "")
	if r := b.exec(`{"command":"echo out; echo err >&2; exit 3"}`); r.Status != protocol.StatusCompleted || *r.ExitCode != 3 || *r.Output != "out\nerr\n" {
		t.Errorf("exit code: %+v", r)
	}
	if r := b.exec(`{"command":"kill -SEGV $$"}`); r.Signal != "SIGSEGV" || r.ExitCode != nil { // pro-0038
		t.Errorf("signal: %+v", r)
	}
	if r := b.exec(`{"command":"sleep 60","timeout":0.2}`); !r.TimedOut || r.Status != protocol.StatusFailed {
		t.Errorf("time-out: %+v", r)
	}
	if r := b.exec(`{"command":"echo a; echo b >&2","streams":true}`); *r.Stdout != "a\n" || *r.Stderr != "b\n" {
		t.Errorf("X-4 streams: %+v", r)
	}
	r := b.exec(`{"command":"pwd; echo $OPENCLAW_SHELL","security":"full","env":{"TERM":"dumb"}}`)
	if *r.Output != r.Cwd+"\nexec\n" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "security was ignored") {
		t.Errorf("X-8, security ignored: %+v", r)
	}
	if err := b.fails("exec", `{"command":"true","env":{"PATH":"/x"}}`); !strings.Contains(err.Message, "PATH") { // pro-0050
		t.Errorf("X-10: %v", err)
	}
}

func TestCallersFaultsAreNotOurs(t *testing.T) {
	b := newBed(t, "")
	id := b.exec(`{"command":"cat","background":true,"pty":true}`).SessionID
	for _, args := range []string{
		`{"action":"clear","sessionId":"` + id + `"}`,
		`{"action":"send-keys","sessionId":"` + id + `","hex":["zz"]}`,
		`{"action":"send-keys","sessionId":"` + id + `","keys":["Entr"]}`,
	} {
		if err := b.fails("process", args); err.Type != protocol.ErrInvalid {
			t.Errorf("%s: %s %s", args, err.Type, err.Message)
		}
	}
}

func TestX3WithoutProcessRunsToTheEnd(t *testing.T) {
	b := newBed(t, `{tools: {deny: ["process"]}}`)
	r := b.exec(`{"command":"sleep 0.3; echo done","background":true,"yieldMs":1}`)
	if r.Status != protocol.StatusCompleted || *r.Output != "done\n" || len(r.Warnings) == 0 {
		t.Errorf("got %+v", r)
	}
	if tools := b.s.Tools(b.caller); len(tools) != 1 || tools[0].Name != "exec" {
		t.Errorf("C-20: a denied tool is listed: %v", tools)
	}
	if err := b.fails("process", `{"action":"list"}`); err.Type != protocol.ErrNotFound || !strings.Contains(err.Message, "tools.deny") {
		t.Errorf("C-20: the error does not name the key: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	cases := []struct{ name, conf, args, rule string }{
		{"P-10 deny", `{tools: {exec: {mode: "deny"}}}`, `{"command":"touch X"}`, "P-10"},
		{"P-31 on no list", `{tools: {exec: {mode: "allowlist"}}}`, `{"command":"touch X"}`, "P-31"},
		{"P-11 nobody to ask", `{tools: {exec: {mode: "ask"}}}`, `{"command":"touch X"}`, "P-11"},
		{"P-2 the call's ask hardens", ``, `{"command":"touch X","ask":"always"}`, "P-11"},
		{"P-40 strictInlineEval", `{tools: {exec: {strictInlineEval: true}}}`, `{"command":"awk 'BEGIN{system(\"touch X\")}'"}`, "P-11"},
		{"H-3 no sandbox", ``, `{"command":"touch X","host":"sandbox"}`, "H-3"},
		{"H-4 no node", ``, `{"command":"touch X","host":"node"}`, "H-4"},
		{"H-4 node named", ``, `{"command":"touch X","node":"mac-1"}`, "H-4"},
		{"H-4 sandbox wanted by the operator", `{agents: {defaults: {sandbox: {mode: "all"}}}}`, `{"command":"touch X"}`, "H-4"},
		{"H-4 and not avoided by host=gateway", `{agents: {defaults: {sandbox: {mode: "all"}}}}`, `{"command":"touch X","host":"gateway"}`, "H-4"},
		{"X-15 channels login", ``, `{"command":"cd /tmp && openclaw channels login"}`, "X-15"},
		{"X-15 approve", ``, `{"command":"/approve abc allow-once"}`, "X-15"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, c.conf)
			mark := filepath.Join(b.dir, "ran")
			r := b.exec(strings.ReplaceAll(c.args, "touch X", "touch "+mark))
			if r.Status != protocol.StatusDenied || r.Denied == nil || r.Denied.Rule != c.rule || r.Denied.Reason == "" || r.Denied.Hint == "" {
				t.Errorf("got %+v, %+v; want denied by %s with reason and hint", r, r.Denied, c.rule)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("it ran")
			}
		})
	}
}

func TestA2DamagedDocumentRefuses(t *testing.T) {
	b := newBed(t, "")
	if err := os.WriteFile(filepath.Join(b.dir, "exec-approvals.json"), []byte(`{"version":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.exec(`{"command":"true"}`); r.Status != protocol.StatusDenied || r.Denied.Rule != "A-2" {
		t.Errorf("got %+v", r)
	}
}

func TestIdempotencyKey(t *testing.T) {
	b := newBed(t, "")
	file := filepath.Join(b.dir, "count")
	req := protocol.ToolRequest{Tool: "exec", IdempotencyKey: "k", Args: []byte(`{"command":"echo x >> ` + file + `; sleep 0.2"}`)}
	results := make(chan *protocol.ToolResult, 5)
	for range 5 {
		go func() {
			res, err := b.call(req)
			if err != nil {
				t.Error(err)
			}
			results <- res
		}()
	}
	first := <-results
	for range 4 {
		if r := <-results; r != first {
			t.Error("two answers for one key")
		}
	}
	if data, _ := os.ReadFile(file); string(data) != "x\n" {
		t.Errorf("the command ran %d times", strings.Count(string(data), "x"))
	}
	req.Args = []byte(`{"command":"true"}`)
	_, err := b.call(req)
	var wire *protocol.Error
	if !errors.As(err, &wire) || wire.Type != protocol.ErrConflict {
		t.Errorf("other arguments: %v", err)
	}
	other := b.caller
	other.Credential = "token:x"
	if _, err := b.s.Call(context.Background(), other, req, nil); err != nil {
		t.Errorf("another credential's key: %v", err)
	}
}

// A retry after a lost connection joins the run and keeps it alive.
func TestIdempotencyKeyOutlivesTheFirstCaller(t *testing.T) {
	b := newBed(t, "")
	req := protocol.ToolRequest{Tool: "exec", IdempotencyKey: "k", Args: []byte(`{"command":"sleep 1; echo done"}`)}
	first, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	gone := make(chan error, 1)
	go func() {
		_, err := b.s.Call(first, b.caller, req, func(p protocol.Progress) {
			if p.Pid != 0 {
				close(started)
			}
		})
		gone <- err
	}()
	<-started
	second := make(chan *protocol.ToolResult, 1)
	go func() {
		res, err := b.call(req)
		if err != nil {
			t.Error(err)
		}
		second <- res
	}()
	for { // until the second waits, too
		b.s.answers.mu.Lock()
		n := 0
		for _, e := range b.s.answers.m {
			n = e.waiting
		}
		b.s.answers.mu.Unlock()
		if n == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-gone; err == nil {
		t.Error("the first caller was cancelled and got a result")
	}
	if r := (<-second).Details.(*protocol.ExecResult); r.Status != protocol.StatusCompleted || *r.Output != "done\n" {
		t.Errorf("the second got %+v", r)
	}
}

func TestS1AgentsDoNotSeeEachOther(t *testing.T) { // pro-0022
	b := newBed(t, "")
	id := b.exec(`{"command":"sleep 60","background":true}`).SessionID
	b.caller.Agent, b.caller.SessionKey = "other", "agent:other:main"
	if rows := *b.process(`{"action":"list"}`).Sessions; len(rows) != 0 {
		t.Errorf("other agent lists %v", rows)
	}
	for _, action := range []string{"poll", "log", "kill", "clear", "remove", "submit", "screen"} {
		if err := b.fails("process", `{"action":"`+action+`","sessionId":"`+id+`"}`); err.Type != protocol.ErrNotFound {
			t.Errorf("%s: %v", action, err)
		}
	}
	b.caller.Agent, b.caller.SessionKey = "main", "agent:main:chat2" // pro-0023: one agent, another chat
	if rows := *b.process(`{"action":"list"}`).Sessions; len(rows) != 1 || rows[0].Status != protocol.StatusRunning {
		t.Errorf("own agent lists %v", rows)
	}
	if r := b.process(`{"action":"kill","sessionId":"` + id + `"}`); r.Status != protocol.StatusKilled {
		t.Errorf("kill: %+v", r)
	}
}

func TestX7CancelEndsForegroundOnly(t *testing.T) {
	b := newBed(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan int, 1)
	go func() { <-started; cancel() }()
	req := protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"sleep 100 & sleep 100"}`)}
	begin := time.Now()
	res, err := b.s.Call(ctx, b.caller, req, func(p protocol.Progress) {
		if p.Pid != 0 {
			started <- p.Pid
		}
	})
	if time.Since(begin) > 10*time.Second {
		t.Error("cancel did not end it")
	}
	if err == nil && res.Details.(*protocol.ExecResult).Status != protocol.StatusCancelled {
		t.Errorf("got %+v", res.Details)
	}
	ctx, cancel = context.WithCancel(context.Background())
	req.Args = []byte(`{"command":"sleep 0.5; echo late","yieldMs":50}`)
	if res, err = b.s.Call(ctx, b.caller, req, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	id := res.Details.(*protocol.ExecResult).SessionID
	for range 20 {
		r := b.process(`{"action":"poll","sessionId":"` + id + `","timeout":5000}`)
		if r.Status != protocol.StatusRunning {
			if r.Status != protocol.StatusCompleted {
				t.Errorf("a backgrounded command was ended: %+v", r)
			}
			return
		}
	}
	t.Error("it never ended")
}

func TestWatchDeliversEveryByte(t *testing.T) {
	b := newBed(t, "")
	for _, streams := range []string{"false", "true"} {
		got := map[string]*strings.Builder{"": {}, "stdout": {}, "stderr": {}}
		req := protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"seq 1 200000; echo end >&2","streams":` + streams + `}`)}
		if _, err := b.s.Call(context.Background(), b.caller, req, func(p protocol.Progress) {
			if p.Dropped != 0 {
				t.Errorf("dropped %d", p.Dropped)
			}
			got[p.Stream].Write(p.Data)
		}); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := 1; i <= 200000; i++ {
			want.WriteString(itoa(i) + "\n")
		}
		all, errs := want.String(), "end\n"
		if streams == "false" {
			if got[""].String() != all+errs {
				t.Errorf("live output differs: %d bytes", got[""].Len())
			}
			continue
		}
		if got["stdout"].String() != all || got["stderr"].String() != errs {
			t.Errorf("live streams differ: %d and %d bytes", got["stdout"].Len(), got["stderr"].Len())
		}
	}
}

func itoa(n int) string {
	var b [12]byte
	i := len(b)
	for ; n > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}

func TestX18ExitBecomesAnEvent(t *testing.T) { // pro-0041
	b := newBed(t, "")
	sub := b.bus.Subscribe(nil, "")
	defer sub.Close()
	id := b.exec(`{"command":"sleep 0.2; echo payload; exit 4","background":true}`).SessionID
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e, err := sub.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if e.SessionID != id || e.ExitCode == nil || *e.ExitCode != 4 || e.Tail != "payload\n" || !e.Wake || e.Agent != "main" {
		t.Errorf("event %+v", e)
	}
}

func TestX23OneRecordARunWithoutSecrets(t *testing.T) {
	b := newBed(t, "")
	b.exec(`{"command":"API_TOKEN=verysecretvalue true"}`)
	b.exec(`{"command":"false","ask":"always"}`)
	b.exec(`{"command":"sleep 60","timeout":0.1}`)
	if err := b.s.record.lines.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	var data []byte
	for range 100 { // the last run's line is written behind its result
		data, _ = os.ReadFile(filepath.Join(b.dir, "exec", "runs.jsonl"))
		if strings.Count(string(data), "\n") == 3 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	text := string(data)
	if strings.Count(text, "\n") != 3 || strings.Contains(text, "verysecretvalue") {
		t.Errorf("record:\n%s", text)
	}
	for _, want := range []string{`"decision":"allow"`, `"decision":"deny"`, `"timedOut":true`, `"credential":"local"`, `"origin":"test"`} {
		if !strings.Contains(text, want) {
			t.Errorf("record lacks %s", want)
		}
	}
}

func TestDryRunStartsNothing(t *testing.T) {
	b := newBed(t, "")
	mark := filepath.Join(b.dir, "ran")
	res, err := b.call(protocol.ToolRequest{Tool: "exec", DryRun: true, Args: []byte(`{"command":"touch ` + mark + `"}`)})
	if err != nil || !strings.Contains(res.Content[0].Text, "allow") {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

func FuzzReadExec(f *testing.F) {
	f.Add([]byte(`{"command":"x","timeout":1e3,"env":{"A":"b"}}`))
	f.Add([]byte(`{"command":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, err := readExec(raw); err == nil && strings.TrimSpace(p.Command) == "" {
			t.Error("an empty command passed")
		}
		_, _ = readProcess(raw)
	})
}
