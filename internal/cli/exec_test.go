package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/protocol"
)

// testEnv is a world of buffers.
func testEnv(t *testing.T, vars map[string]string) (env *Env, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(name string) string { return vars[name] }, Dir: t.TempDir(), Version: "1.2.3",
	}, stdout, stderr
}

// parse runs a command with a line of arguments; nothing it says is shown.
func parse(cmd *cobra.Command, args ...string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return cmd.ExecuteContext(context.Background())
}

func ptr[T any](v T) *T { return &v }

func TestExecFlags(t *testing.T) {
	for _, tt := range []struct {
		args string // blanks separate
		want execOptions
	}{
		{"-- ls", execOptions{command: []string{"ls"}}},
		{"ls -la --json", execOptions{command: []string{"ls", "-la", "--json"}}},
		{"-it -- bash", execOptions{command: []string{"bash"}, tty: true, stdin: true}},
		{"-ti bash", execOptions{command: []string{"bash"}, tty: true, stdin: true}},
		{"--timeout 90 x", execOptions{command: []string{"x"}, timeout: ptr(90 * time.Second)}},
		{"--timeout 1.5m x", execOptions{command: []string{"x"}, timeout: ptr(90 * time.Second)}},
		{"--timeout 0 x", execOptions{command: []string{"x"}, timeout: ptr(time.Duration(0))}},
		{"--yield 250 x", execOptions{command: []string{"x"}, yield: ptr(250 * time.Millisecond)}},
		{"--yield 5s x", execOptions{command: []string{"x"}, yield: ptr(5 * time.Second)}},
		{"--env A=1 --env B=a,b x", execOptions{command: []string{"x"}, vars: []string{"A=1", "B=a,b"}}},
		{"--streams=false x", execOptions{command: []string{"x"}, streams: ptr(false)}},
		{
			"--background --json --local --dry-run --cwd d --agent a --host gateway x",
			execOptions{command: []string{"x"}, background: true, json: true, local: true, dryRun: true, cwd: "d", agent: "a", host: "gateway"},
		},
	} {
		env, _, _ := testEnv(t, nil)
		var got execOptions
		cmd := newExec(env, func(_ context.Context, _ *Env, o execOptions) error { got = o; return nil })
		if err := parse(cmd, strings.Fields(tt.args)...); err != nil {
			t.Errorf("%s: %v", tt.args, err)
		} else if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.args, got, tt.want)
		}
	}
}

func TestExecFlagsRefused(t *testing.T) {
	for _, args := range []string{
		"", "--env A x", "--env =b x", "--timeout -1 x", "--timeout NaN x", "--timeout 1e30 x", "--yield never x",
		"--background -i x", "--background --yield 1s x", "-it --json x", "-t --streams x",
		"--host bogus x", "--host Gateway x",
	} {
		env, _, _ := testEnv(t, nil)
		cmd := newExec(env, func(context.Context, *Env, execOptions) error { t.Errorf("%s ran", args); return nil })
		err := parse(cmd, strings.Fields(args)...)
		if codeOf(err) != exitUsage {
			t.Errorf("%s: code %d, %v", args, codeOf(err), err)
		}
	}
}

func TestC30_EmptyCommandIsWrongUsage(t *testing.T) {
	for _, command := range []string{"", " \n\t"} {
		env, _, _ := testEnv(t, nil)
		cmd := newExec(env, func(context.Context, *Env, execOptions) error { t.Errorf("%q ran", command); return nil })
		if err := parse(cmd, "--", command); codeOf(err) != exitUsage {
			t.Errorf("%q: code %d, %v", command, codeOf(err), err)
		}
	}
}

// Bytes that are no text would arrive as others, in every mode.
func TestP25_CommandIsText(t *testing.T) {
	for _, args := range [][]string{{"--", "echo \xff"}, {"--", "rm", "caf\xe9"}, {"--env", "A=\xc0\xaf", "--", "ls"}} {
		env, _, _ := testEnv(t, nil)
		cmd := newExec(env, func(context.Context, *Env, execOptions) error { t.Errorf("%q ran", args); return nil })
		if err := parse(cmd, args...); codeOf(err) != exitUsage {
			t.Errorf("%q: code %d, %v", args, codeOf(err), err)
		}
	}
}

func TestExecRequest(t *testing.T) {
	day := float64(24 * 60 * 60 * 1000)
	for _, tt := range []struct {
		name        string
		opt         execOptions
		interactive bool
		want        execArgs
	}{
		{"plain", execOptions{}, false, execArgs{Streams: true, YieldMs: &day}},
		{"input", execOptions{stdin: true}, false, execArgs{Streams: true, Stdin: true, YieldMs: &day}},
		{"json", execOptions{json: true}, false, execArgs{YieldMs: &day}},
		{"json with streams", execOptions{json: true, streams: ptr(true)}, false, execArgs{Streams: true, YieldMs: &day}},
		{"background", execOptions{background: true}, false, execArgs{Streams: true, Background: true}},
		{"yield", execOptions{yield: ptr(time.Second)}, false, execArgs{Streams: true, YieldMs: ptr(1000.0)}},
		{"terminal", execOptions{tty: true, stdin: true}, true, execArgs{
			PTY: true, Timeout: ptr(0.0), Env: map[string]string{"TERM": "xterm"}, YieldMs: &day,
		}},
		{"terminal of its own", execOptions{tty: true, timeout: ptr(time.Minute)}, false, execArgs{PTY: true, Timeout: ptr(60.0), YieldMs: &day}},
		{"variables", execOptions{vars: []string{"A=b=c", "B="}}, false, execArgs{
			Streams: true, Env: map[string]string{"A": "b=c", "B": ""}, YieldMs: &day,
		}},
	} {
		env, _, _ := testEnv(t, map[string]string{"TERM": "xterm"})
		tt.opt.command = []string{"a b"}
		tt.want.Command, tt.want.Workdir = "a b", env.Dir
		req, err := tt.opt.request(env, tt.interactive)
		if err != nil {
			t.Fatal(err)
		}
		var got execArgs
		if err := json.Unmarshal(req.Args, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %+v", tt.name, req.Args, tt.want)
		}
	}
}

// C-30: every way a command can end has its code.
func TestC30_ExecCode(t *testing.T) {
	for _, tt := range []struct {
		res  protocol.ExecResult
		want int
	}{
		{protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: ptr(0)}, 0},
		{protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: ptr(75)}, 75},
		{protocol.ExecResult{Status: protocol.StatusCompleted, Signal: "SIGSEGV"}, 139},
		{protocol.ExecResult{Status: protocol.StatusKilled, Signal: "SIGKILL"}, 137},
		{protocol.ExecResult{Status: protocol.StatusFailed, TimedOut: true, Signal: "SIGTERM"}, 124},
		{protocol.ExecResult{Status: protocol.StatusFailed, TimedOut: true, ExitCode: ptr(0)}, 124},
		{protocol.ExecResult{Status: protocol.StatusFailed}, 125},
		{protocol.ExecResult{Status: protocol.StatusLost}, 125},
		{protocol.ExecResult{Status: protocol.StatusDenied}, 126},
		{protocol.ExecResult{Status: protocol.StatusApprovalPending}, 75},
		{protocol.ExecResult{Status: protocol.StatusRunning}, 0},
		{protocol.ExecResult{Status: protocol.StatusCancelled, Signal: "SIGINT"}, 130},
		{protocol.ExecResult{Status: protocol.StatusCancelled}, 143},
	} {
		if got := execCode(&tt.res); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.res, got, tt.want)
		}
	}
	for kind, want := range map[protocol.ErrorType]int{
		protocol.ErrNotFound: 126, protocol.ErrForbidden: 126, protocol.ErrInvalid: 125,
		protocol.ErrUnavailable: 125, protocol.ErrLimit: 125, protocol.ErrUnauthorized: 125,
	} {
		if got := codeOf(execFailure(&protocol.Error{Type: kind})); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}

func TestPatience(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	type step struct {
		name string
		ms   int
		want bool
	}
	for _, steps := range [][]step{
		{{"SIGINT", 0, false}, {"SIGINT", 1999, true}},
		{{"SIGINT", 0, false}, {"SIGINT", 2000, false}, {"SIGINT", 3000, true}},
		{{"SIGTERM", 0, false}, {"SIGTERM", 60_000, true}},
		{{"SIGINT", 0, false}, {"SIGTERM", 10, false}, {"SIGHUP", 20, false}, {"SIGQUIT", 30, false}},
		{{"SIGHUP", 0, false}, {"SIGHUP", 2000, false}, {"SIGHUP", 3999, true}},
		{{"SIGQUIT", 0, false}, {"SIGHUP", 1000, false}, {"SIGQUIT", 1500, true}},
	} {
		var p patience
		for _, s := range steps {
			if got := p.exhausted(s.name, at(s.ms)); got != s.want {
				t.Errorf("%v: %v is %v", steps, s, got)
			}
		}
	}
}

// scripted answers every call with one result after some progress.
type scripted struct {
	progress []protocol.Progress
	details  any
	err      error
}

func (s scripted) Call(_ context.Context, _ protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	for _, p := range s.progress {
		watch(p)
	}
	return &protocol.ToolResult{Details: s.details}, s.err
}

func (s scripted) Tools(context.Context) ([]protocol.ToolInfo, error) { return nil, nil }

func TestExecSays(t *testing.T) {
	done := &protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: ptr(0), Output: ptr("all"), Stdout: ptr("out"), Stderr: ptr("err")}
	for _, tt := range []struct {
		name        string
		opt         execOptions
		call        scripted
		code        int
		out, errors string
	}{
		{
			"streams", execOptions{}, scripted{progress: []protocol.Progress{
				{Stream: "stdout", Data: []byte("a\x00")}, {Stream: "stderr", Data: []byte("b")}, {Data: []byte("c\xff")},
			}, details: done}, 0, "a\x00c\xff", "b",
		},
		{"a daemon that does not stream", execOptions{}, scripted{details: done}, 0, "out", "err"},
		{
			"lost output",
			execOptions{},
			scripted{progress: []protocol.Progress{{Dropped: 12, Data: []byte("x")}}, details: done},
			0, "x", "openclaw: warning: 12 bytes of output are missing here: they came faster than they were read\n",
		},
		{
			"refused", execOptions{}, scripted{details: &protocol.ExecResult{
				Status: protocol.StatusDenied, Denied: &protocol.Denied{Reason: "not on the list", Rule: "P-10", Hint: "ask"},
			}}, 126, "", "openclaw: error: refused: not on the list (P-10)\nopenclaw: hint: ask\n",
		},
		{
			"waits", execOptions{}, scripted{details: &protocol.ExecResult{
				Status: protocol.StatusApprovalPending, Approval: &protocol.ApprovalRef{ID: "ap-1"},
			}}, 75, "", "openclaw: error: not run yet: approval ap-1 is waiting for an operator, for another 0ms\n",
		},
		{
			"background", execOptions{background: true}, scripted{details: &protocol.ExecResult{
				Status: protocol.StatusRunning, SessionID: "calm-owl", Pid: 7,
			}}, 0, "calm-owl\n", "openclaw: note: runs in the background as calm-owl (pid 7); see openclaw process poll calm-owl\n",
		},
		{
			"output in the background", execOptions{background: true}, scripted{
				progress: []protocol.Progress{{Stream: "stdout", Data: []byte("hello")}}, details: &protocol.ExecResult{
					Status: protocol.StatusCompleted, SessionID: "calm-owl", ExitCode: ptr(3), Output: ptr("hello"),
				},
			}, 0, "calm-owl\n", "openclaw: note: calm-owl has ended already (exit 3); see openclaw process log calm-owl\n",
		},
		{
			"warnings", execOptions{}, scripted{details: &protocol.ExecResult{
				Status: protocol.StatusCompleted, ExitCode: ptr(3), Warnings: []string{"left \x1b[2Jbehind"},
			}}, 3, "", "openclaw: warning: left \\u{1b}[2Jbehind\n",
		},
		{"our fault", execOptions{}, scripted{err: &protocol.Error{Type: protocol.ErrLimit, Message: "too many", Hint: "wait"}}, 125, "", "openclaw: error: too many\nopenclaw: hint: wait\n"},
		{"dry run", execOptions{dryRun: true}, scripted{details: json.RawMessage(`{"decision":"deny"}`)}, 0, "{\n  \"decision\": \"deny\"\n}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := testEnv(t, nil)
			tt.opt.command = []string{"x"}
			err := execThrough(t.Context(), env, tt.opt, &link{caller: tt.call, remote: true})
			if err != nil {
				env.report(err, "openclaw exec")
			}
			if got := codeOf(err); got != tt.code || stdout.String() != tt.out || stderr.String() != tt.errors {
				t.Errorf("code %d, out %q, err %q", got, stdout, stderr)
			}
		})
	}
}

// failing is standard output on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExecOutputCannotBeWritten(t *testing.T) {
	env, _, _ := testEnv(t, nil)
	env.Stdout = failing{}
	call := scripted{progress: []protocol.Progress{{Data: []byte("x")}}, details: &protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: ptr(0)}}
	err := execThrough(t.Context(), env, execOptions{command: []string{"x"}}, &link{caller: call, remote: true})
	if codeOf(err) != exitOurs || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("code %d, %v", codeOf(err), err)
	}
}

// X-21, C-30: a record that cannot be written is a warning; the command's end stands.
func TestX21_RecordCannotBeWritten(t *testing.T) {
	for _, code := range []int{0, 7} {
		env, stdout, stderr := testEnv(t, nil)
		call := scripted{progress: []protocol.Progress{{Data: []byte("x")}}, details: &protocol.ExecResult{Status: protocol.StatusCompleted, ExitCode: &code}}
		full := &link{caller: call, close: func() error { return errors.New("runs.jsonl: no space left on device") }}
		err := execAndClose(t.Context(), env, execOptions{command: []string{"x"}}, full)
		const warning = "openclaw: warning: the command's record may be incomplete: runs.jsonl: no space left on device\n"
		if codeOf(err) != code || stdout.String() != "x" || stderr.String() != warning {
			t.Errorf("code %d, want %d; out %q, err %q", codeOf(err), code, stdout, stderr)
		}
	}
}

// TestP12_ExplainReadsAsExec: several arguments are a program and its own, as they are for
// exec.
func TestP12_ExplainReadsAsExec(t *testing.T) {
	for _, args := range [][]string{{"echo", "$(id)", "a; b"}, {"echo 'a' \"$(id)\""}, {"ls", "-l"}} {
		env, out, _ := testEnv(t, map[string]string{"OPENCLAW_STATE_DIR": t.TempDir(), "PATH": "/usr/bin:/bin"})
		cmd := newExplain(env)
		if err := parse(cmd, append([]string{"--local", "--"}, args...)...); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), commandText(args)) {
			t.Errorf("%q was read otherwise: %s", args, out)
		}
	}
}
