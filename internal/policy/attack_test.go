package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// wideInput allows every program by a lone *, so that only the reading of the command
// stands between it and the machine.
func wideInput(t *testing.T, command string) policy.Input {
	t.Helper()
	dir := caseDir(t)
	for _, d := range []string{"sub", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"tool", "sub/tool", "git"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("#!/bin/sh\nid\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return policy.Input{
		Command: command, Dir: dir, Path: "/usr/local/bin:/usr/bin:/bin", Machine: host.NewMachine(nil), Agent: "main",
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "test"},
		Rules: policy.Rules{
			Allowlist: policy.Compile([]policy.Entry{{Pattern: "*"}}, dir), AllowStreamRedirects: true,
			SafeBins: policy.CompileSafeBins(nil, nil, nil),
		},
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestP22_AlwaysMiss: whatever is on the list, the commands of testdata/always-miss.txt, one
// a line, are a miss. \n, \r and the like stand for themselves there.
func TestP22_AlwaysMiss(t *testing.T) {
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\0`, "\x00", `\u200b`, "\u200b", `\u202e`, "\u202e", `\u2028`, "\u2028",
		`\u0085`, "\u0085", `\x1b`, "\x1b", `\u00a0`, "\u00a0", `\\`, `\`)
	for line := range strings.Lines(readText(t, "always-miss.txt")) {
		command := unescape.Replace(strings.TrimSuffix(line, "\n"))
		if command == "" {
			continue
		}
		d := policy.Decide(wideInput(t, command))
		if d.Outcome == policy.OutcomeAllow {
			t.Errorf("%q was allowed", command)
		}
		if d.Outcome == policy.OutcomeDeny && (d.Reason == "" || d.Rule == "" || d.Plan != nil) {
			t.Errorf("%q: refused by %q for %q, plan %v", command, d.Rule, d.Reason, d.Plan != nil)
		}
	}
}

// TestP21_AlwaysAllowed: what people really type is allowed under the same list.
func TestP21_AlwaysAllowed(t *testing.T) {
	text := strings.ReplaceAll(readText(t, "always-allowed.txt"), "\\\n", "\\\x00")
	for line := range strings.Lines(text) {
		command := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\\\x00", "\\\n")
		if command == "" {
			continue
		}
		in := wideInput(t, command)
		d := policy.Decide(in)
		if d.Outcome == policy.OutcomeAllow && d.Plan != nil {
			continue
		}
		if strings.HasPrefix(d.Rule, "P-32") { // the program is not on this machine
			continue
		}
		t.Errorf("%q: %s: %s", command, d.Rule, d.Reason)
	}
}

// TestP34_AssignmentPath: env is given the inner program's absolute path, and one with = in
// it is an assignment to env, which then starts the next word.
func TestP34_AssignmentPath(t *testing.T) {
	for _, command := range []string{"cd a=b && env ./ok /usr/bin/id", "env ok /usr/bin/id", "nice env -u LANG ok /usr/bin/id", "env ./link /usr/bin/id"} {
		in := wideInput(t, command)
		dir := filepath.Join(in.Dir, "a=b")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "ok"), []byte("#!/bin/sh\n"), 0o755), os.Symlink("a=b/ok", filepath.Join(in.Dir, "link"))); err != nil {
			t.Fatal(err)
		}
		in.Path = dir + ":" + in.Path
		if d := policy.Decide(in); d.Outcome == policy.OutcomeAllow || d.Rule != "P-34" || d.Whole != nil {
			t.Errorf("%q: %v by %s, plan %v", command, d.Outcome, d.Rule, d.Whole != nil)
		}
	}
}

// TestP35_NoScriptFile: a shell's entry satisfies a script file only, not what is text by
// another name; nor is make given such a makefile (P-37).
func TestP35_NoScriptFile(t *testing.T) {
	for command, want := range map[string]bool{
		"echo id | sh /dev/stdin": false, "echo id | sh -x /dev/fd/0": false, "echo id | nice bash -- /dev/./stdin": false, "echo id | sh in": false, "echo id | sh sub/in": false,
		"cd /dev; echo id | sh stdin": false, "cd /dev/fd && echo id | sh ./0": false, "sh /proc/self/cmdline ';id #'": false, "cd /proc/self; sh cmdline ';id #'": false,
		"LC_X=';id #' sh /proc/self/environ": false, "cd $HOME; sh job": false, "sh /dev/tty": false, "sh /dev/null": false, "sh sub": false,
		"sh tool": true, "sh ./sub/tool x": true, "bash -x tool": true, "cd sub && sh tool": true, "sh alias": true, "sh nothing": true, "sh tool /dev/stdin": true,
		"echo x | make -f /dev/./stdin": false, "echo x | make --makefile=/dev//stdin": false, "cd /dev; echo x | make -f stdin": false, "make -kf/dev/fd/./0": false,
		"make -f /proc/self/cmdline": false, "make MAKEFILES='a /dev/stdin'": false,
		"make -f Makefile.in": true, "make -f /dev/null x": true, "make -j4 all": true, "make -C sub 4": true,
	} {
		in := wideInput(t, command)
		if err := errors.Join(os.Symlink("/dev/stdin", filepath.Join(in.Dir, "in")), os.Symlink("../in", filepath.Join(in.Dir, "sub/in")),
			os.Symlink("sub/tool", filepath.Join(in.Dir, "alias"))); err != nil {
			t.Fatal(err)
		}
		if d := policy.Decide(in); (d.Outcome == policy.OutcomeAllow) != want && d.Rule != "P-32" {
			t.Errorf("%q: %s by %s: %s", command, d.Outcome, d.Rule, d.Reason)
		}
	}
}

// TestP34_NohupTerminal: with a terminal nohup writes ./nohup.out, through a link too.
func TestP34_NohupTerminal(t *testing.T) {
	for _, command := range []string{"nohup ls", "nice nohup ls", "sh -c 'nohup ls'", "nohup ls | cat"} {
		in := wideInput(t, command)
		if d := policy.Decide(in); d.Outcome != policy.OutcomeAllow {
			t.Errorf("%q: %s", command, d.Reason)
		}
		in.Terminal = true
		if d := policy.Decide(in); d.Outcome == policy.OutcomeAllow {
			t.Errorf("%q was allowed in a terminal", command)
		}
	}
}
