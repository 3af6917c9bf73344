package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/protocol"
)

const askMode = `{tools: {exec: {mode: "ask"}}}`

// answer makes somebody be there who answers every request, after doing something.
func (b *bed) answer(d approval.Decision, before func(approval.Record)) {
	b.t.Helper()
	reg, err := b.s.Approvals(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	sub := reg.Subscribe(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			e, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			if e.Final {
				continue
			}
			if before != nil {
				before(e.Record)
			}
			if _, _, err := reg.Resolve(context.Background(), e.Record.ID, d, approval.Resolver{Kind: "device", ID: "test", Name: "tester"}); err != nil && d != "" {
				b.t.Errorf("resolve: %v", err)
			}
		}
	}()
	b.t.Cleanup(func() { sub.Close(); <-done })
}

// asks runs a command and waits for the answer within the call.
func (b *bed) asks(args string) *protocol.ExecResult {
	b.t.Helper()
	res, err := b.call(protocol.ToolRequest{Tool: "exec", Args: []byte(args), Wait: protocol.WaitForever})
	if err != nil {
		b.t.Fatalf("exec %s: %v", args, err)
	}
	return res.Details.(*protocol.ExecResult)
}

// TestA13_Inline: a caller that waits gets the command's result, or that it did not run.
func TestA13_Inline(t *testing.T) {
	b := newBed(t, askMode)
	var seen approval.Record
	b.answer(approval.AllowOnce, func(r approval.Record) { seen = r })
	r := b.asks(`{"command":"echo hi; echo there | cat","env":{"A":"1"},"workdir":"/tmp"}`)
	if r.Status != protocol.StatusCompleted || *r.Output != "hi\nthere\n" || r.Approval == nil {
		t.Fatalf("%+v %+v", r, r.Denied)
	}
	q := seen.Request
	if q.Agent != "main" || q.Cwd != "/tmp" || q.Host != "gateway" || len(q.Env) != 1 || q.Env[0] != "A" || q.ResolvedPath == "" || q.Reason == "" || q.Policy.Ask.Value != "on-miss" {
		t.Errorf("app-0044: %+v", q)
	}
	if r := b.asks(`{"command":"printenv A","env":{"A":"1"}}`); *r.Output != "1\n" { // app-0045
		t.Errorf("%+v", r)
	}
	d := newBed(t, askMode)
	d.answer(approval.DenyIt, nil)
	r = d.asks(`{"command":"touch ` + d.dir + `/ran"}`)
	if r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "denied by tester") || r.Output != nil {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(d.dir + "/ran"); err == nil {
		t.Error("it ran")
	}
}

// TestP61_TextByShell: what is not wholly understood runs by bash as it was shown.
func TestP61_TextByShell(t *testing.T) {
	b := newBed(t, askMode)
	b.answer(approval.AllowOnce, nil)
	if r := b.asks(`{"command":"x=$(echo sub); for i in 1 2; do echo $x$i; done > out; cat out","workdir":"` + b.dir + `"}`); *r.Output != "sub1\nsub2\n" {
		t.Errorf("%+v", r)
	}
	// The whole table of X-10 applies to what is asked for.
	if err := b.fails("exec", `{"command":"echo a","env":{"BASH_ENV":"/tmp/x"}}`); err.Type != protocol.ErrInvalid {
		t.Errorf("%v", err)
	}
}

// TestA17_Handle: an agent that does not wait is answered with an id that stands for the
// command from then on.
func TestA17_Handle(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil) // somebody is there, and takes time
	r := b.exec(`{"command":"echo later; sleep 0.2; exit 3"}`)
	if r.Status != protocol.StatusApprovalPending || r.Approval == nil || r.Output != nil || r.Pid != 0 {
		t.Fatalf("%+v", r)
	}
	p := b.process(`{"action":"poll","sessionId":"` + r.Approval.ID + `","timeout":50}`)
	if p.Status != protocol.StatusApprovalPending {
		t.Errorf("%+v", p)
	}
	other := b.caller
	other.Agent = "other"
	if _, err := b.s.Call(t.Context(), other, protocol.ToolRequest{Tool: "process", Args: []byte(`{"action":"poll","sessionId":"` + r.Approval.ID + `"}`)}, nil); err == nil {
		t.Error("S-1: another agent sees it")
	}
	reg, err := b.s.Approvals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sub := b.bus.Subscribe(nil, "")
	defer sub.Close()
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, _, _ = reg.Resolve(context.Background(), r.Approval.Slug, approval.AllowOnce, approval.Resolver{Kind: "device"})
	}()
	var out string
	for range 20 {
		p = b.process(`{"action":"poll","sessionId":"` + r.Approval.ID + `","timeout":5000}`)
		out += *p.Output
		if p.Status != protocol.StatusRunning && p.Status != protocol.StatusApprovalPending {
			break
		}
	}
	if p.Status != protocol.StatusCompleted || *p.ExitCode != 3 || out != "later\n" {
		t.Errorf("%+v, output %q", p, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	rec, err := reg.Get(r.Approval.ID)
	for err == nil && (rec.Run == nil || rec.Run.State != approval.RunEnded) && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
		rec, err = reg.Get(r.Approval.ID)
	}
	if err != nil || rec.Run == nil || *rec.Run.ExitCode != 3 {
		t.Errorf("%+v %v", rec.Run, err)
	}
}

// TestA40_EventsOfApprovals: the approval's id is the run's in every event, a denial wakes
// nobody.
func TestA40_EventsOfApprovals(t *testing.T) {
	b := newBed(t, `{tools: {exec: {mode: "ask", approvalRunningNoticeMs: 100}}}`)
	b.answer("", nil)
	reg, err := b.s.Approvals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sub := b.bus.Subscribe(nil, "")
	defer sub.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := b.exec(`{"command":"sleep 0.4; echo done"}`)
	if _, _, err := reg.Resolve(ctx, r.Approval.ID, approval.AllowOnce, approval.Resolver{Kind: "device"}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{protocol.EventRunning, protocol.EventFinished} {
		e, err := sub.Next(ctx)
		if err != nil || e.Kind != kind || e.RunID != r.Approval.ID || e.SessionKey != b.caller.SessionKey {
			t.Fatalf("want %s: %+v %v", kind, e, err)
		}
	}
	r = b.exec(`{"command":"echo no"}`)
	if _, _, err := reg.Resolve(ctx, r.Approval.ID, approval.DenyIt, approval.Resolver{Kind: "device"}); err != nil {
		t.Fatal(err)
	}
	if e, err := sub.Next(ctx); err != nil || e.Kind != protocol.EventDenied || e.RunID != r.Approval.ID || e.Wake || !strings.Contains(e.Text, "did not run") {
		t.Errorf("%+v %v", e, err)
	}
	if p := b.process(`{"action":"poll","sessionId":"` + r.Approval.ID + `"}`); p.Status != protocol.StatusDenied { // app-0038
		t.Errorf("%+v", p)
	}
}

// TestA14_CallerGoes: an inline caller that goes away takes its request with it.
func TestA14_CallerGoes(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := b.s.Call(ctx, b.caller, protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"touch ` + b.dir + `/ran"}`), Wait: protocol.WaitForever}, nil)
	if err == nil {
		t.Error("no error")
	}
	reg, _ := b.s.Approvals(t.Context())
	if p := reg.Pending(); len(p) != 0 {
		t.Errorf("%+v", p)
	}
	items, _, err := reg.History(t.Context(), approval.Filter{}, "", 10)
	for range 100 {
		if len(items) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		items, _, err = reg.History(t.Context(), approval.Filter{}, "", 10)
	}
	if err != nil || len(items) != 1 || items[0].Status != approval.Cancelled || items[0].Reason != approval.ReasonAborted {
		t.Errorf("%+v %v", items, err)
	}
}

// TestA16_Join: an identical request joins the first: one decision, one run, its result
// goes to both.
func TestA16_Join(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	reg, _ := b.s.Approvals(t.Context())
	file := b.dir + "/count"
	call := protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"echo x | tee -a ` + file + `"}`), Wait: protocol.WaitForever}
	results := make(chan string, 3)
	for range 3 {
		go func() {
			res, err := b.call(call)
			if err != nil {
				t.Error(err)
				results <- ""
				return
			}
			results <- *res.Details.(*protocol.ExecResult).Output
		}()
	}
	for len(reg.Pending()) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	pending := reg.Pending()
	if len(pending) != 1 {
		t.Fatalf("%d pending", len(pending))
	}
	if _, _, err := reg.Resolve(t.Context(), pending[0].ID, approval.AllowOnce, approval.Resolver{Kind: "device"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out := <-results; out != "x\n" {
			t.Errorf("%q", out)
		}
	}
	if data, _ := os.ReadFile(file); string(data) != "x\n" {
		t.Errorf("it ran %d times", len(data)/2)
	}
}

// TestA31_Always stores exactly what it said, bound to arguments and directory.
func TestA31_Always(t *testing.T) {
	b := newBed(t, askMode)
	asked := 0
	b.answer(approval.AllowAlways, func(approval.Record) { asked++ })
	run := func(command string, want int) {
		t.Helper()
		r := b.asks(`{"command":` + quote(command) + `,"workdir":"` + b.dir + `"}`)
		if r.Status != protocol.StatusCompleted || asked != want {
			t.Errorf("%q: %s, asked %d times, want %d (%+v)", command, r.Status, asked, want, r.Denied)
		}
	}
	run("env LANG=C nice -n 5 ls --version", 1) // app-0011
	run("ls --version", 1)                      // app-0018
	run("ls --help", 2)                         // app-0019: bound to the arguments
	run("sh -c 'cat --version'", 3)             // app-0009: the text, not the shell
	run("cat --version", 3)
	run("sh -c 'cat --help'", 4)
	doc, err := os.ReadFile(filepath.Join(b.dir, approval.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(doc)) {
		if strings.Contains(line, `"pattern"`) && !strings.Contains(line, `/ls"`) && !strings.Contains(line, `/cat"`) {
			t.Errorf("stored: %s", line)
		}
	}
	if n := strings.Count(string(doc), `"source": "allow-always"`); n != 4 {
		t.Errorf("%d entries:\n%s", n, doc)
	}
	if _, err := os.Stat(filepath.Join(b.dir, approval.SeenName)); err != nil {
		t.Error(err)
	}
}

// TestA21_AlwaysOnOffer: it is offered only where something can be stored safely.
func TestA21_AlwaysOnOffer(t *testing.T) {
	for command, want := range map[string]string{
		"ls -la": "", "cd sub && ls": "", "wc x; ls y": "safe bin", "nice ls": "",
		"ls > out": "not wholly understood", "script -q -c 'git status' /dev/null": "starts another program", "ls $HOME": "not literal",
		"python3 -c 'print(1)'": "code on the command line", "awk 1 x": "code on the command line", "echo $(id)": "not wholly understood", "git status 2>&1": "asked about again", "A=1 ls": "asked about again",
	} {
		b := newBed(t, askMode)
		if err := os.Mkdir(b.dir+"/sub", 0o755); err != nil {
			t.Fatal(err)
		}
		var seen *approval.Record
		b.answer(approval.DenyIt, func(r approval.Record) { seen = &r })
		b.asks(`{"command":` + quote(command) + `,"workdir":"` + b.dir + `"}`)
		if seen == nil {
			t.Errorf("%q was not asked", command)
			continue
		}
		offered := seen.Offers(approval.AllowAlways)
		if offered != (want == "") && want != "" || !strings.Contains(seen.Request.AlwaysWhy, want) {
			t.Errorf("%q: always offered %v, because %q; want %q", command, offered, seen.Request.AlwaysWhy, want)
		}
		t.Logf("%-40s always %v %s", command, offered, seen.Request.AlwaysWhy)
	}
}

// Nobody is asked about what could never be started, and who is refused because nobody
// is there is told so (P-11).
func TestP11_NobodyIsAskedForNothing(t *testing.T) {
	b := newBed(t, askMode)
	if r := b.exec(`{"command":"ls x"}`); r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "nobody who could answer is there") {
		t.Errorf("%+v", r.Denied)
	}
	b.answer("", nil)
	if err := b.fails("exec", `{"command":"echo `+strings.Repeat("a", 200000)+`"}`); err.Type != protocol.ErrInvalid {
		t.Errorf("%v", err)
	}
	r := b.exec(`{"command":"printenv A","env":{"A":"1"}}`)
	reg, _ := b.s.Approvals(t.Context())
	if rec, err := reg.Get(r.SessionID); err != nil || rec.Offers(approval.AllowAlways) || !strings.Contains(rec.Request.AlwaysWhy, "asked about again") {
		t.Errorf("%+v %v", rec.Request, err)
	}
}

// TestA30_DriftOfRuns: what changed while the question was open does not run.
func TestA30_DriftOfRuns(t *testing.T) {
	b := newBed(t, askMode)
	script := b.dir + "/job.sh"
	if err := os.WriteFile(script, []byte("echo good\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.answer(approval.AllowOnce, func(approval.Record) {
		if err := os.WriteFile(script, []byte("touch "+b.dir+"/evil\n"), 0o644); err != nil {
			t.Error(err)
		}
	})
	r := b.asks(`{"command":"sh job.sh","workdir":"` + b.dir + `"}`)
	if r.Status != protocol.StatusDenied || r.Denied.Rule != "A-30" || !strings.Contains(r.Denied.Reason, "changed after approval: "+script) {
		t.Errorf("%+v %+v", r, r.Denied)
	}
	if _, err := os.Stat(b.dir + "/evil"); err == nil {
		t.Error("it ran")
	}
	reg, _ := b.s.Approvals(t.Context())
	rec, err := reg.Get(r.Approval.ID)
	if err != nil || rec.Status != approval.Allowed || rec.Run == nil || rec.Run.State != approval.RunRefused {
		t.Errorf("%+v %v", rec.Run, err)
	}
	if r := b.asks(`{"command":"npm run build"}`); r.Status != protocol.StatusDenied || r.Denied.Rule != "A-30" && r.Denied.Rule != "A-42" && !strings.Contains(r.Denied.Reason, "package file") {
		t.Logf("app-0049 (npm may be missing here): %+v", r.Denied)
	}
}

// TestP40_Asked: code on the command line is asked about in full mode too, and never
// stored (app-0013, app-0034).
func TestP40_Asked(t *testing.T) {
	b := newBed(t, `{tools: {exec: {strictInlineEval: true}}}`)
	if r := b.asks(`{"command":"awk 'BEGIN{print 1}'"}`); r.Status != protocol.StatusDenied || r.Denied.Rule != "P-11" {
		t.Errorf("nobody there: %+v", r.Denied)
	}
	asked := 0
	b.answer(approval.AllowOnce, func(r approval.Record) {
		asked++
		if r.Offers(approval.AllowAlways) {
			t.Error("always is on offer")
		}
	})
	for range 2 {
		if r := b.asks(`{"command":"awk 'BEGIN{print 1}'"}`); r.Status != protocol.StatusCompleted || *r.Output != "1\n" {
			t.Errorf("%+v %+v", r, r.Denied)
		}
	}
	if r := b.asks(`{"command":"echo plain"}`); r.Status != protocol.StatusCompleted || asked != 2 {
		t.Errorf("%+v, asked %d times", r, asked)
	}
}

// The question is plain data that says all there is to say.
func TestA14_QuestionIsWhole(t *testing.T) {
	q := question{Args: json.RawMessage(`{"command":"x"}`), Env: map[string]string{"A": "1"}, Caller: Caller{Agent: "main", SessionKey: "k"}, Dir: "/d", Path: "/bin", Judged: []byte{1, 0xff}}
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var back question
	if err := json.Unmarshal(raw, &back); err != nil || back.Caller != q.Caller || string(back.Judged) != string(q.Judged) || back.Env["A"] != "1" {
		t.Errorf("%+v %v", back, err)
	}
}

// TestA30_Directory: what was allowed runs in the directory that was shown, also text that
// a shell reads: a link that leads elsewhere by now is a change, and so is no default.
func TestA30_Directory(t *testing.T) {
	b := newBed(t, askMode)
	for _, d := range []string{"/one", "/two", "/later"} {
		if err := os.Mkdir(b.dir+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var shown string
	b.answer(approval.AllowOnce, func(rec approval.Record) {
		shown = rec.Request.Cwd
		if err := os.Remove(b.dir + "/link"); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		if err := os.Symlink(b.dir+"/two", b.dir+"/link"); err != nil {
			t.Error(err)
		}
		path := filepath.Join(b.dir, "openclaw.json")
		if err := os.WriteFile(path, []byte(`{agents: {defaults: {workspace: "`+b.dir+`/later"}}, tools: {exec: {mode: "ask"}}}`), 0o600); err != nil {
			t.Error(err)
		}
		cfg, err := config.Load(path, func(string) string { return "" })
		if err != nil {
			t.Error(err)
			return
		}
		b.s.Reload(cfg)
	})
	r := b.asks(`{"command":"echo $(pwd -P)"}`) // the workspace as it was
	if r.Status != protocol.StatusCompleted || *r.Output != shown+"\n" || strings.HasSuffix(shown, "later") {
		t.Errorf("shown %s: %+v %+v", shown, r, r.Denied)
	}
	for _, command := range []string{"pwd -P > ran", "ls -d ."} {
		if err := os.Remove(b.dir + "/link"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(b.dir+"/one", b.dir+"/link"); err != nil {
			t.Fatal(err)
		}
		r := b.asks(`{"command":"` + command + `","workdir":"` + b.dir + `/link"}`)
		if r.Status != protocol.StatusDenied || r.Denied.Rule != "A-30" {
			t.Errorf("%s: %+v %+v", command, r, r.Denied)
		}
	}
	if _, err := os.Stat(b.dir + "/two/ran"); err == nil {
		t.Error("it ran where nobody was asked about")
	}
}

// TestA31_ScriptOption: a script that an option names is bound by its content, as one that
// stands by itself; a module's file cannot be told, so nothing is stored.
func TestA31_ScriptOption(t *testing.T) {
	b := newBed(t, askMode)
	asked := 0
	b.answer(approval.AllowAlways, func(approval.Record) { asked++ })
	for _, c := range [][2]string{{"awk -f prog", `BEGIN { print "x" }`}, {"sed -nf prog /dev/null", "p"}} {
		call := `{"command":"` + c[0] + `","workdir":"` + b.dir + `"}`
		for i, text := range []string{c[1], c[1], c[1] + "\n"} {
			if err := os.WriteFile(b.dir+"/prog", []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			before := asked
			if r := b.asks(call); r.Status != protocol.StatusCompleted || asked-before != []int{1, 0, 1}[i] {
				t.Errorf("%s, %d: %s, asked %d times", c[0], i, r.Status, asked-before)
			}
		}
	}
	var seen approval.Record
	d := newBed(t, askMode)
	d.answer(approval.DenyIt, func(r approval.Record) { seen = r })
	d.asks(`{"command":"python3 -m mod","workdir":"` + d.dir + `"}`)
	if seen.Offers(approval.AllowAlways) {
		t.Errorf("python3 -m: %+v", seen.Request.Always)
	}
}

// only waits for the one pending request.
func (b *bed) only() approval.Record {
	b.t.Helper()
	reg, err := b.s.Approvals(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for range 500 {
		if p := reg.Pending(); len(p) == 1 {
			return p[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatal("nothing is pending")
	return approval.Record{}
}

func (b *bed) say(id string) {
	b.t.Helper()
	reg, _ := b.s.Approvals(b.t.Context())
	if _, _, err := reg.Resolve(context.Background(), id, approval.AllowOnce, approval.Resolver{Kind: "device"}); err != nil {
		b.t.Error(err)
	}
}

// TestA13_WaitEnds: approval-pending means that nothing has started. A caller whose wait
// ends while the allowed command runs is told so, and where its output is.
func TestA13_WaitEnds(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	go func() { b.say(b.only().ID) }()
	res, err := b.call(protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"echo a; sleep 2; echo b"}`), Wait: 1000})
	if err != nil {
		t.Fatal(err)
	}
	r := res.Details.(*protocol.ExecResult)
	if r.Status != protocol.StatusRunning || r.Pid == 0 || r.Approval == nil || strings.Contains(res.Content[0].Text, "Nothing has started") {
		t.Errorf("%+v %q", r, res.Content[0].Text)
	}
	var out string
	for range 3 {
		p := b.process(`{"action":"poll","sessionId":"` + r.SessionID + `","timeout":5000}`)
		if out += *p.Output; p.Status == protocol.StatusCompleted {
			break
		}
	}
	if out != "a\nb\n" {
		t.Errorf("%q", out)
	}
}

// TestA14_JoinWhileLeaving: who asks the same while the last caller of a request goes is not
// cancelled with it.
func TestA14_JoinWhileLeaving(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	call := protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"echo x"}`), Wait: protocol.WaitForever}
	go func() { _, _ = b.call(call) }()
	first := b.only().ID
	if !b.s.flights.leave(b.s.flights.get(first)) { // its caller goes, and has not cancelled it yet
		t.Fatal("somebody else waits")
	}
	done := make(chan *protocol.ExecResult, 1)
	go func() { done <- b.asks(string(call.Args)) }()
	time.Sleep(100 * time.Millisecond)
	reg, _ := b.s.Approvals(t.Context())
	if _, _, err := reg.Cancel(t.Context(), first, approval.ReasonAborted); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	b.say(b.only().ID)
	if r := <-done; r.Status != protocol.StatusCompleted || r.Approval.ID == first {
		t.Errorf("%+v", r)
	}
}

// TestA16_JoinAfterRestart: a caller that asks again for what an earlier program was asked
// waits for it.
func TestA16_JoinAfterRestart(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	first := b.exec(`{"command":"echo again"}`).Approval.ID
	b.s.flights.mu.Lock()
	delete(b.s.flights.m, first)
	b.s.flights.mu.Unlock()
	go func() { time.Sleep(200 * time.Millisecond); b.say(first) }()
	if r := b.asks(`{"command":"echo again"}`); r.Status != protocol.StatusCompleted || *r.Output != "again\n" || r.Approval.ID != first {
		t.Errorf("%+v", r)
	}
}

// TestA17_KillAtTheStart: a kill between the answer and the start is not lost.
func TestA17_KillAtTheStart(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	for i := range 40 {
		file := b.dir + "/ran" + itoa(i)
		r := b.exec(`{"command":"sleep 0.2; touch ` + file + `"}`)
		allowed := make(chan struct{})
		go func() {
			defer close(allowed)
			reg, _ := b.s.Approvals(context.Background())
			_, _, _ = reg.Resolve(context.Background(), r.Approval.ID, approval.AllowOnce, approval.Resolver{Kind: "device"})
		}()
		time.Sleep(time.Duration(i*25) * time.Microsecond)
		p := b.process(`{"action":"kill","sessionId":"` + r.Approval.ID + `"}`)
		if p.Status != protocol.StatusKilled && p.Status != protocol.StatusCancelled {
			t.Errorf("%d: %+v", i, p)
		}
		<-allowed
		time.Sleep(300 * time.Millisecond)
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%d: %s, and it ran to its end", i, p.Status)
		}
	}
}

// TestIdempotencyKeyOfQuestions: a key is kept while its question is pending and its command
// runs, and ten minutes longer; nothing is asked or run twice.
func TestIdempotencyKeyOfQuestions(t *testing.T) {
	b := newBed(t, askMode)
	b.answer("", nil)
	var skew time.Duration
	b.s.answers.now = func() time.Time { return time.Now().Add(skew) }
	file := b.dir + "/count"
	call := func(key, args string) string {
		t.Helper()
		res, err := b.call(protocol.ToolRequest{Tool: "exec", IdempotencyKey: key, Args: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		return res.Details.(*protocol.ExecResult).SessionID
	}
	args := `{"command":"echo x >> ` + file + `"}`
	first := call("k", args)
	skew = answerLife + time.Second
	if id := call("k", args); id != first {
		t.Error("asked anew while it was pending")
	}
	b.say(first)
	reg, _ := b.s.Approvals(t.Context())
	for {
		if rec, err := reg.Get(first); err != nil || rec.Run.Over() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.s.answers.mu.Lock()
	for _, e := range b.s.answers.m {
		e.expires = time.Now() // as if it had been answered long ago
	}
	b.s.answers.mu.Unlock()
	skew = time.Minute
	if id := call("k", args); id != first {
		t.Error("asked anew a minute after the end")
	}
	skew = answerLife + time.Hour
	if id := call("k", args); id == first {
		t.Error("the key is kept for ever")
	}
}

// TestH4_ClosedMeanwhile: what the operator has closed between the question and the answer
// stays closed (P-1, H-4, C-20).
func TestH4_ClosedMeanwhile(t *testing.T) {
	for name, conf := range map[string]string{
		"sandbox":    `{agents: {defaults: {sandbox: {mode: "all"}}}, tools: {exec: {mode: "ask"}}}`,
		"tools.deny": `{tools: {deny: ["exec"], exec: {mode: "ask"}}}`,
		"mode deny":  `{tools: {exec: {mode: "deny"}}}`,
	} {
		b := newBed(t, askMode)
		b.answer("", nil)
		r := b.exec(b.touch())
		b.reload(conf)
		b.say(r.Approval.ID)
		p := b.process(`{"action":"poll","sessionId":"` + r.Approval.ID + `","timeout":5000}`)
		if p.Status != protocol.StatusDenied || b.ran() {
			t.Errorf("%s: %+v, ran: %v", name, p, b.ran())
		}
	}
}
