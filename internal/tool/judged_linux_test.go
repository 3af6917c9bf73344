package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/walk"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == walk.Role {
		os.Exit(walk.Main())
	}
	os.Exit(m.Run())
}

// allow writes a document with these entries for everybody.
func (b *bed) allow(patterns ...string) {
	b.t.Helper()
	text := `{"version":1,"agents":{"*":{"allowlist":["` + strings.Join(patterns, `","`) + `"]}}}`
	if err := os.WriteFile(filepath.Join(b.dir, "exec-approvals.json"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

const allowlistMode = `{tools: {exec: {mode: "allowlist"}}}`

// TestP60_AllowedRuns: what is on the lists runs, without a shell and without what the
// operator's environment would let a program load.
func TestP60_AllowedRuns(t *testing.T) {
	b := newBed(t, allowlistMode)
	b.allow("echo", "cat", "env", "printenv", "sleep", "ls", "false")
	for command, want := range map[string]string{
		"echo hello":                            "hello\n",
		"echo a | cat | wc -l":                  "1\n",
		"false || echo b; echo c":               "b\nc\n",
		"echo one && (cd / && pwd)":             "one\n/\n",
		"TERM=dumb printenv TERM":               "dumb\n",
		"printenv OPENCLAW_SHELL":               "exec\n",
		"printenv BASH_ENV || echo none":        "none\n",
		"sh -c 'echo $0 | cat' | cat || echo x": "",
	} {
		r := b.exec(`{"command":` + quote(command) + `}`)
		if want == "" {
			if r.Status != protocol.StatusDenied {
				t.Errorf("%q: %+v", command, r)
			}
			continue
		}
		if r.Status != protocol.StatusCompleted || *r.Output != want {
			t.Errorf("%q: %+v, denied %+v", command, r, r.Denied)
		}
	}
	r := b.exec(`{"command":"ls nothing-there; false"}`)
	if r.Status != protocol.StatusCompleted || *r.ExitCode != 1 || !strings.Contains(*r.Output, "nothing-there") {
		t.Errorf("%+v", r)
	}
	r = b.exec(`{"command":"echo a; false","streams":true}`)
	if *r.Stdout != "a\n" || *r.Stderr != "" || *r.ExitCode != 1 {
		t.Errorf("%+v", r)
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// A judged command has everything a session has: background, input, terminal, kill,
// time-out.
func TestP60_SessionsOfWalks(t *testing.T) {
	b := newBed(t, allowlistMode)
	b.allow("cat", "sleep", "echo", "tty", "stty")
	r := b.exec(`{"command":"cat; echo end","background":true}`)
	if r.Status != protocol.StatusRunning {
		t.Fatalf("%+v", r)
	}
	b.process(`{"action":"write","sessionId":"` + r.SessionID + `","data":"typed\n","eof":true}`)
	var out string
	for status := protocol.StatusRunning; status == protocol.StatusRunning; {
		p := b.process(`{"action":"poll","sessionId":"` + r.SessionID + `","timeout":10000}`)
		status, out = p.Status, out+*p.Output
	}
	if out != "typed\nend\n" {
		t.Errorf("%q", out)
	}
	for _, command := range []string{"sleep 100", "sleep 100; echo x", "sleep 100 | cat", "(sleep 100; echo y) | cat"} {
		r := b.exec(`{"command":` + quote(command) + `,"timeout":0.3}`)
		if !r.TimedOut || len(r.Warnings) > 0 {
			t.Errorf("%q: %+v", command, r)
		}
	}
	r = b.exec(`{"command":"tty; stty size; echo x | cat","pty":true,"cols":90,"rows":20}`)
	if !strings.Contains(*r.Output, "/dev/pts/") || !strings.Contains(*r.Output, "20 90") {
		t.Errorf("%+v, %q", r, *r.Output)
	}
}

// TestP60_ChangedBetween: a script that is swapped between judgement and start does not
// run, and the caller is told by the rule.
func TestP60_SwappedScript(t *testing.T) {
	b := newBed(t, allowlistMode)
	dir := b.dir + "/w"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tool := dir + "/tool"
	write := func(text string) {
		if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("echo good")
	b.allow(tool, "echo")
	if r := b.exec(`{"command":"./tool","workdir":"` + dir + `"}`); r.Status != protocol.StatusCompleted || *r.Output != "good\n" {
		t.Fatalf("%+v %+v", r, r.Denied)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				write("echo good # " + strings.Repeat("x", i%50))
			}
		}
	}()
	refused := 0
	for range 60 {
		r := b.exec(`{"command":"echo first; ./tool","workdir":"` + dir + `"}`)
		if r.Status == protocol.StatusDenied {
			refused++
			if r.Denied.Rule != "P-60" && r.Denied.Rule != "P-32" || r.Output != nil {
				t.Errorf("%+v", r.Denied)
			}
		}
	}
	close(stop)
	<-done
	t.Logf("%d of 60 refused", refused)
}

// TestP12_DryRun: the explanation comes for everything, refused parameters too.
func TestP12_DryRun(t *testing.T) {
	b := newBed(t, allowlistMode)
	b.allow("echo")
	for args, want := range map[string]string{
		`{"command":"echo a"}`:                           "allow P-10",
		`{"command":"id"}`:                               "deny P-31",
		`{"command":"echo \""}`:                          "deny P-20",
		`{"command":"echo a","env":{"LD_PRELOAD":"x"}}`:  "deny X-10",
		`{"command":"echo a","workdir":"/nothing/here"}`: "deny P-32",
	} {
		res, err := b.call(protocol.ToolRequest{Tool: "exec", Args: []byte(args), DryRun: true})
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		d := res.Details.(*policy.Decision)
		if got := string(d.Outcome) + " " + d.Rule; got != want {
			t.Errorf("%s: %s, want %s (%s)", args, got, want, d.Reason)
		}
	}
}

// TestP11_Fallback: who cannot be asked does not stop what the fallback lets run, and
// that runs as it was judged.
func TestP11_Fallback(t *testing.T) {
	for doc, want := range map[string]protocol.Status{
		`{"version":1,"defaults":{"security":"allowlist","ask":"always","askFallback":"allowlist"},"agents":{"*":{"allowlist":["echo"]}}}`: protocol.StatusCompleted,
		`{"version":1,"defaults":{"security":"allowlist","ask":"always","askFallback":"deny"},"agents":{"*":{"allowlist":["echo"]}}}`:      protocol.StatusDenied,
		`{"version":1,"defaults":{"security":"allowlist","ask":"always","askFallback":"full"}}`:                                            protocol.StatusDenied,
		`{"version":1,"defaults":{"security":"full","ask":"always","askFallback":"full"}}`:                                                 protocol.StatusCompleted,
		`{"version":1,"defaults":{"security":"full","ask":"always","askFallback":"allowlist"},"agents":{"*":{"allowlist":["echo"]}}}`:      protocol.StatusCompleted,
		`{"version":1,"defaults":{"security":"full","ask":"always","askFallback":"allowlist"}}`:                                            protocol.StatusDenied,
	} {
		b := newBed(t, "")
		if err := os.WriteFile(filepath.Join(b.dir, "exec-approvals.json"), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := b.exec(`{"command":"echo a"}`); r.Status != want {
			t.Errorf("%s: %s (%+v), want %s", doc, r.Status, r.Denied, want)
		}
	}
}

// TestA4_Usage: what ran is noted at its entry, and nobody's save is disturbed by that.
func TestA4_Usage(t *testing.T) {
	b := newBed(t, allowlistMode)
	b.allow("echo", "cat")
	_, before, _, err := b.s.judge.file.Read()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		b.exec(`{"command":"echo token=verysecretvalue"}`)
	}
	var text []byte
	var after string
	for range 100 {
		if text, after, _, err = b.s.judge.file.Read(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "lastUsedAt") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if n := strings.Count(string(text), "lastUsedAt"); n != 1 || strings.Contains(string(text), "verysecret") || !strings.Contains(string(text), `"lastResolvedPath": "/`) {
		t.Errorf("%d uses:\n%s", n, text)
	}
	if before != after {
		t.Errorf("the hash changed by use: %s, %s", before, after)
	}
}
