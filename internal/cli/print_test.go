package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/protocol"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("read x: gone"), "openclaw: error: read x: gone\n"},
		{usage("what"), "openclaw: error: what\nopenclaw: hint: see openclaw x --help\n"},
		{hint("do this", "no %s", "luck"), "openclaw: error: no luck\nopenclaw: hint: do this\n"},
		{fmt.Errorf("list: %w", &protocol.Error{Message: "down", Hint: "start it"}), "openclaw: error: list: down\nopenclaw: hint: start it\n"},
		{&exitError{code: 125, err: hint("h", "e")}, "openclaw: error: e\nopenclaw: hint: h\n"},
		{&exitError{code: 7}, ""},
		{errors.New("two\nlines\x1b]0;title\x07"), "openclaw: error: two\nopenclaw: error: lines\\u{1b}]0;title\\u{7}\n"},
	} {
		env, _, stderr := testEnv(t, nil)
		env.report(tt.err, "openclaw x")
		if stderr.String() != tt.want {
			t.Errorf("%v:\n got %q\nwant %q", tt.err, stderr, tt.want)
		}
	}
}

// A name must not repaint the terminal or turn its text around.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain täxt 漢": "plain täxt 漢", "a\nb\tc": `a\nb c`, "\x1b[31m": `\u{1b}[31m`,
		"evil\u202egpj": `evil\u{202e}gpj`, "a\u200bb": `a\u{200b}b`, "\xff": "\ufffd", "\u0085": `\u{85}`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	env, stdout, _ := testEnv(t, nil)
	if err := env.table([]string{"A", "LAST"}, [][]string{{"long one", "x\ny"}, {"é", ""}}); err != nil {
		t.Fatal(err)
	}
	if want := "A         LAST\nlong one  x\\ny\né\n"; stdout.String() != want {
		t.Errorf("got\n%swant\n%s", stdout, want)
	}
	if got := cut("äöü123", 4); got != "äöü…" {
		t.Errorf("cut: %q", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 850 * time.Millisecond: "850ms", 12 * time.Second: "12s",
		185 * time.Second: "3m05s", 130 * time.Minute: "2h10m", 99 * time.Hour: "4d3h",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// Every command explains itself with examples, and the error of a wrong flag names it.
func TestEveryCommandHasHelp(t *testing.T) {
	env, _, _ := testEnv(t, nil)
	todo := newRoot(env).Commands()
	for len(todo) > 0 {
		cmd := todo[0]
		todo = append(todo[1:], cmd.Commands()...)
		if cmd.Short == "" || !strings.Contains(cmd.Example, "openclaw "+strings.TrimPrefix(cmd.CommandPath(), "openclaw ")) {
			t.Errorf("%s: short %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
		for _, text := range []string{cmd.Long, cmd.Example} {
			for line := range strings.Lines(text) {
				if len(line) > 96 {
					t.Errorf("%s: help line of %d characters: %s", cmd.CommandPath(), len(line), line)
				}
			}
		}
	}
}

// Main with buffers: codes, messages, and nothing left running.
func TestMainLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, tt := range []struct {
		args string
		code int
		out  string
		err  string
	}{
		{"version", 0, "openclaw 1.2.3", ""},
		{"nothing", 2, "", "has no command"},
		{"status", 0, "not running", ""},
		{"exec -- echo hi there", 0, "hi there\n", ""},
		{"exec -i -- cat", 0, "", ""},
		{"exec --timeout 0.1 -- sleep 9", 124, "", "timed out"},
		{"process list", 0, "", "no sessions"},
	} {
		env, stdout, stderr := testEnv(t, nil)
		env.Environ = []string{"PATH=/usr/bin:/bin"}
		env.Getenv = func(name string) string {
			return map[string]string{"OPENCLAW_STATE_DIR": env.Dir + "/state", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}[name]
		}
		code := Main(t.Context(), strings.Fields(tt.args), env)
		if code != tt.code || !strings.Contains(stdout.String(), tt.out) || !strings.Contains(stderr.String(), tt.err) {
			t.Errorf("%s: code %d, out %q, err %q", tt.args, code, stdout, stderr)
		}
	}
}

// C-6: what the start prints names the agent's token file and holds no secret.
func TestC6_BannerHasNoSecret(t *testing.T) {
	env, stdout, _ := testEnv(t, map[string]string{"OPENCLAW_STATE_DIR": "/srv/my state", "PATH": "/usr/bin"})
	env.Program = "/opt/openclaw/bin/openclaw"
	if err := banner(env, "/srv/my state", "http://127.0.0.1:18789", ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http://127.0.0.1:18789/mcp", "/srv/my state/agent-token", `"command":"/opt/openclaw/bin/openclaw"`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout.String(), "gateway-token") || strings.Count(stdout.String(), "\n") > 24 {
		t.Errorf("banner:\n%s", stdout)
	}
}
