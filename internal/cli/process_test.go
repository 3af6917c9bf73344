package cli

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"openclaw/internal/protocol"
)

// Every action of process.md has its command, and the command gives the tool what the
// action takes.
func TestProcessFlags(t *testing.T) {
	type args = map[string]any
	for _, tt := range []struct {
		line string
		want args
	}{
		{"list", args{"action": "list"}},
		{"poll s", args{"action": "poll", "sessionId": "s"}},
		{"poll s --timeout 2s", args{"action": "poll", "sessionId": "s", "timeout": int64(2000)}},
		{"log s", args{"action": "log", "sessionId": "s"}},
		{"log s --offset 0", args{"action": "log", "sessionId": "s", "offset": int64(0)}},
		{"log s --limit 5", args{"action": "log", "sessionId": "s", "limit": int64(5)}},
		{"write s hi -n --eof", args{"action": "write", "sessionId": "s", "data": "aGkK", "encoding": "base64", "eof": true}},
		{"write s", args{"action": "write", "sessionId": "s", "data": "cGlwZWQ=", "encoding": "base64"}},
		{"send-keys s C-c Enter --literal x --hex 1b,41", args{
			"action": "send-keys", "sessionId": "s", "keys": []string{"C-c", "Enter"}, "literal": "x", "hex": []string{"1b", "41"},
		}},
		{"submit s", args{"action": "submit", "sessionId": "s"}},
		{"paste s text", args{"action": "paste", "sessionId": "s", "text": "text", "bracketed": true}},
		{"paste s --bracketed=false", args{"action": "paste", "sessionId": "s", "text": "piped", "bracketed": false}},
		{"kill s", args{"action": "kill", "sessionId": "s"}},
		{"kill s --signal HUP", args{"action": "kill", "sessionId": "s", "signal": "HUP"}},
		{"clear s", args{"action": "clear", "sessionId": "s"}},
		{"remove s", args{"action": "remove", "sessionId": "s"}},
		{"screen s", args{"action": "screen", "sessionId": "s"}},
		{"resize s 100 30", args{"action": "resize", "sessionId": "s", "cols": 100, "rows": 30}},
	} {
		env, _, _ := testEnv(t, nil)
		env.Stdin = strings.NewReader("piped")
		var got processOptions
		cmd := newProcessWith(env, func(_ context.Context, _ *Env, o processOptions) error { got = o; return nil })
		if err := parse(cmd, append(strings.Fields(tt.line), "--agent", "a", "--json")...); err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if !reflect.DeepEqual(got.args, tt.want) || got.agent != "a" || !got.json {
			t.Errorf("%s:\n got %v\nwant %v", tt.line, got.args, tt.want)
		}
	}
}

func TestProcessFlagsRefused(t *testing.T) {
	for _, line := range []string{
		"poll", "poll a b", "poll s --timeout x", "list s", "resize s 1", "resize s 0 3", "send-keys s", "kill", "write", "paste s \xff",
	} {
		env, _, _ := testEnv(t, nil)
		cmd := newProcessWith(env, func(context.Context, *Env, processOptions) error { t.Errorf("%s ran", line); return nil })
		if err := parse(cmd, strings.Fields(line)...); codeOf(err) != exitUsage {
			t.Errorf("%s: code %d, %v", line, codeOf(err), err)
		}
	}
}

func TestShowSession(t *testing.T) {
	env, stdout, stderr := testEnv(t, nil)
	res := &protocol.ProcessResult{SessionID: "calm-owl", Status: protocol.StatusCompleted, ExitCode: ptr(2), DurationMs: 61_000, Output: ptr("text")}
	if err := showOutput(env, res); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "text" || stderr.String() != "openclaw: note: calm-owl: exit 2, 1m01s\n" {
		t.Errorf("out %q, err %q", stdout, stderr)
	}
	if err := showSent(env, &protocol.ProcessResult{SessionID: "calm-owl", Written: ptr(3)}, 10); err == nil {
		t.Error("a part that did not go in is no error")
	}
	for want, s := range map[string]protocol.SessionInfo{
		"needs input": {Status: protocol.StatusRunning, WaitingForInput: true},
		"running":     {Status: protocol.StatusRunning},
		"timed out":   {Status: protocol.StatusFailed, TimedOut: true},
		"SIGSEGV":     {Status: protocol.StatusCompleted, Signal: "SIGSEGV"},
		"killed":      {Status: protocol.StatusKilled, Signal: "SIGKILL"},
		"lost":        {Status: protocol.StatusLost},
	} {
		if got := runState(s.Status, s.ExitCode, s.Signal, s.TimedOut, s.WaitingForInput); got != want {
			t.Errorf("%+v: %q", s, got)
		}
	}
}
