package host

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// lookIn is a look-up on a machine that has these programs.
func lookIn(programs ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		for _, path := range programs {
			if path == name || !strings.Contains(name, "/") && strings.HasSuffix(path, "/"+name) {
				return path, nil
			}
		}
		return "", fs.ErrNotExist
	}
}

// pro-0044 is the fish row: bash runs `[[ a == a ]] && echo ok`.
func TestX9_ChooseShell(t *testing.T) {
	all := lookIn("/bin/bash", "/bin/sh", "/bin/zsh", "/bin/dash", "/bin/ash", "/usr/bin/ksh93", "/usr/local/bin/bash5",
		"/opt/bash-5.2", "/opt/zsh-5.9", "/usr/bin/fish", "/bin/csh", "/usr/bin/tcsh", "/usr/bin/nu", "/usr/sbin/nologin", "/bin/false", "/usr/bin/mksh")
	bash := Shell{"/bin/bash", KindBash}
	for _, c := range []struct {
		name, shell string
		look        func(string) (string, error)
		want        Shell
	}{
		{"bash", "/bin/bash", all, bash},
		{"sh", "/bin/sh", all, Shell{"/bin/sh", KindSh}},
		{"zsh", "/bin/zsh", all, Shell{"/bin/zsh", KindZsh}},
		{"dash", "/bin/dash", all, Shell{"/bin/dash", KindDash}},
		{"ash", "/bin/ash", all, Shell{"/bin/ash", KindAsh}},
		{"ksh with a version", "/usr/bin/ksh93", all, Shell{"/usr/bin/ksh93", KindKsh}},
		{"bash with a version", "/usr/local/bin/bash5", all, Shell{"/usr/local/bin/bash5", KindBash}},
		{"bash with a dashed version", "/opt/bash-5.2", all, Shell{"/opt/bash-5.2", KindBash}},
		{"zsh with a dashed version", "/opt/zsh-5.9", all, Shell{"/opt/zsh-5.9", KindZsh}},
		{"fish", "/usr/bin/fish", all, bash},
		{"csh", "/bin/csh", all, bash},
		{"tcsh", "/usr/bin/tcsh", all, bash},
		{"nu", "/usr/bin/nu", all, bash},
		{"mksh is not in the list", "/usr/bin/mksh", all, bash},
		{"nologin", "/usr/sbin/nologin", all, bash},
		{"unset", "", all, bash},
		{"relative", "bash", all, bash},
		{"relative with a directory", "./zsh", all, bash},
		{"missing", "/gone/zsh", all, bash},
		{"no bash", "/usr/bin/fish", lookIn("/usr/bin/fish", "/bin/sh"), Shell{"/bin/sh", KindSh}},
		{"only fish", "/usr/bin/fish", lookIn("/usr/bin/fish"), Shell{"/usr/bin/fish", KindOther}},
		{"only csh", "/bin/csh", lookIn("/bin/csh"), Shell{"/bin/csh", KindOther}},
		{"only nologin", "/usr/sbin/nologin", lookIn("/usr/sbin/nologin"), Shell{}},
		{"nothing", "/bin/bash", lookIn(), Shell{}},
		{"nothing and unset", "", lookIn(), Shell{}},
		{"a look-up that answers with a relative path", "", func(string) (string, error) { return "bash", nil }, Shell{}},
	} {
		got, err := choosePOSIX(func(string) string { return c.shell }, c.look)
		if got != c.want || (err != nil) != (c.want == Shell{}) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if err != nil && (!errors.Is(err, ErrNoShell) || !strings.Contains(err.Error(), "SHELL")) {
			t.Errorf("%s: error %q", c.name, err)
		}
	}
}

func TestX9_ChoosePowerShell(t *testing.T) {
	const seven, five = `C:\Program Files\PowerShell\7\pwsh.exe`, `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	env := map[string]string{"ProgramFiles": `C:\Program Files (x86)`, "ProgramW6432": `C:\Program Files`, "SystemRoot": `C:\Windows`}
	getenv := func(name string) string { return env[name] }
	for _, c := range []struct {
		name  string
		files []string
		look  func(string) (string, error)
		want  string
	}{
		{"both", []string{seven, five}, lookIn(), seven},
		{"7 in PATH", []string{five}, func(string) (string, error) { return `D:\pwsh.exe`, nil }, `D:\pwsh.exe`},
		{"5.1 only", []string{five}, lookIn(), five},
		{"none", nil, lookIn(), ""},
	} {
		got, err := choosePowerShell(getenv, c.look, func(path string) bool { return slices.Contains(c.files, path) })
		if got.Path != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestX9_Argv(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		startup bool
		want    string
	}{
		{KindBash, false, "/s --noprofile --norc -c -- TEXT"},
		{KindZsh, false, "/s -f -c -- TEXT"},
		{KindZsh, true, "/s -c -- TEXT"},
		{KindDash, false, "/s -c -- TEXT"},
		{KindOther, false, "/s -c TEXT"},
		{KindPowerShell, false, "/s -NoLogo -NoProfile -NonInteractive -Command TEXT"},
	} {
		if got := strings.Join(Shell{"/s", c.kind}.argv("TEXT", c.startup), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}
