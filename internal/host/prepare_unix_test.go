//go:build unix

package host

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

func TestX9_FishUserGetsBash(t *testing.T) {
	m := newMachine(t, needShell(t, "fish"), nil)
	if out, _ := m.run(Request{Command: "[[ a == a ]] && echo ok"}); out != "ok\n" { // pro-0044
		t.Errorf("output %q", out)
	}
}

func TestX8_Environment(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "dash", "ksh"} {
		m := newMachine(t, needShell(t, shell), nil, "OPENCLAW_GATEWAY_TOKEN=geheim", "KEPT=1", "OVER=old")
		out, launch := m.run(Request{
			Command: `echo "$OPENCLAW_SHELL,$OPENCLAW_CHANNEL_CONTEXT,$OPENCLAW_GATEWAY_TOKEN,$KEPT,$OVER,$NEW,$PWD"`,
			Env:     map[string]string{"OVER": "new", "NEW": "$HOME `x`", "PAGER": "cat"}, ChannelContext: `{"sender":"7"}`,
		})
		if want := `exec,{"sender":"7"},,1,new,$HOME ` + "`x`," + m.home + "\n"; out != want {
			t.Errorf("%s: %q, want %q", shell, out, want)
		}
		seen := map[string]bool{}
		for _, entry := range launch.Env {
			name, _, _ := strings.Cut(entry, "=")
			if seen[name] {
				t.Errorf("%s: %s twice", shell, name)
			}
			seen[name] = true
		}
		if launch.Shell.Kind != Kind(shell) {
			t.Errorf("shell %v", launch.Shell)
		}
	}
}

func TestP61_Judged(t *testing.T) {
	m := newMachine(t, needShell(t, "zsh"), map[string]string{
		".zshenv": "echo from zshenv", ".bashrc": "echo from bashrc", ".profile": "alias echo=false; PATH=/own:$PATH",
	},
		"BASH_ENV="+"/nowhere", "LD_LIBRARY_PATH=/x", "EDITOR=vim", "SSH_CLIENT=1", "SHLVL=0", "NODE_OPTIONS=--require=x")
	out, launch := m.run(Request{
		Command: `echo "$BASH_VERSION" | cut -c1; echo "$LD_LIBRARY_PATH$EDITOR$NODE_OPTIONS,$HOME,$OPENCLAW_SHELL,$LANG"; type vim_helper 2>/dev/null`,
		Judged:  true, Snapshot: true, PathPrepend: []string{"/first"}, Env: map[string]string{"LANG": "C.UTF-8"},
	})
	lines := strings.Split(out, "\n")
	if len(lines) < 2 || lines[0] == "" || lines[1] != ","+m.home+",exec,C.UTF-8" {
		t.Errorf("output %q", out)
	}
	if launch.Shell.Kind != KindBash || !slices.Contains(launch.Argv, "--norc") {
		t.Errorf("argv %q", launch.Argv)
	}
	env, _, err := m.JudgedEnv(context.Background(), []string{"/first"})
	if err != nil {
		t.Fatal(err)
	}
	path, _ := m.path("/first")
	for _, list := range [][]string{env, launch.Env} {
		if !slices.Contains(list, "PATH="+strings.Join(path, ":")) || slices.Contains(list, "EDITOR=vim") {
			t.Errorf("env %q", list)
		}
	}
}

func TestPrepare_Refusals(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{"file": ""})
	for _, c := range []struct {
		name string
		r    Request
		want any
	}{
		{"NUL", Request{Command: "a\x00b"}, new(*RequestError)},
		{"PATH", Request{Env: map[string]string{"PATH": "/x"}}, new(*policy.EnvError)},
		{"judged table", Request{Env: map[string]string{"BASH_ENV": "/x"}, Judged: true}, new(*policy.EnvError)},
		{"context", Request{ChannelContext: "{"}, new(*RequestError)},
		{"blank workdir", Request{Workdir: " \t"}, new(*DirError)},
		{"missing workdir", Request{Workdir: "/nosuchdir", Command: "cd /nosuchdir"}, new(*DirError)}, // pro-0045
		{"file", Request{Workdir: "file"}, new(*DirError)},
		{"below a file", Request{Workdir: "file/x"}, new(*DirError)},
		{"tilde is literal", Request{Workdir: "~"}, new(*DirError)},
		{"NUL in workdir", Request{Workdir: "/a\x00"}, new(*DirError)},
		{"default gone", Request{DefaultDir: "/gone/session"}, new(*DirError)},
		{"relative default", Request{DefaultDir: "x", Workdir: "y"}, new(*DirError)},
	} {
		if c.r.DefaultDir == "" {
			c.r.DefaultDir = m.home
		}
		launch, err := m.Prepare(context.Background(), c.r)
		if err == nil || launch != nil || !errors.As(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, launch, err)
		}
	}
	if maxArgBytes > 0 {
		_, err := m.Prepare(context.Background(), Request{DefaultDir: m.home, Command: strings.Repeat("x", maxArgBytes)})
		if err == nil || !strings.Contains(err.Error(), "file") {
			t.Errorf("too long: %v", err)
		}
		out, _ := m.run(Request{Command: ": " + strings.Repeat("x", maxArgBytes-4) + "\n"})
		if out != "" {
			t.Errorf("just short enough: %q", out)
		}
	}
	if _, err := m.Prepare(context.Background(), Request{}); err == nil {
		t.Error("no directory at all passes")
	}
}

func TestPrepare_Workdir(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{"~/x": "", "sub dir/x": ""})
	if err := os.Symlink(m.home+"/sub dir", m.home+"/link"); err != nil {
		t.Fatal(err)
	}
	for workdir, want := range map[string]string{
		"": "", "sub dir": "/sub dir", "./sub dir/../sub dir/": "/sub dir", "~": "/~", m.home + "/link": "/link",
	} {
		out, launch := m.run(Request{Command: "pwd", Workdir: workdir})
		if launch.Dir != m.home+want || out != m.home+want+"\n" {
			t.Errorf("workdir %q: dir %q, pwd %q", workdir, launch.Dir, out)
		}
	}
}

// the daemon's own directory may be gone, and the workspace not there yet.
func TestX21_Workspace(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), nil)
	gone := t.TempDir() + "/gone"
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	workspace := m.home + "/agents/main/workspace"
	launch, err := m.Prepare(context.Background(), Request{Command: "pwd", Workspace: workspace})
	if err != nil || launch.Dir != workspace {
		t.Fatalf("%v, %v", launch, err)
	}
	if info, err := os.Stat(workspace); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("workspace: %v, %v", info, err)
	}
	if out := start(t, launch); out != workspace+"\n" {
		t.Errorf("output %q", out)
	}
	if _, err := m.Prepare(context.Background(), Request{Workspace: workspace, DefaultDir: "/gone/session"}); err == nil || !strings.Contains(err.Error(), "/gone/session") {
		t.Errorf("a default directory that is gone: %v", err)
	}
	if _, err := m.Prepare(context.Background(), Request{Workspace: workspace, Workdir: "missing"}); err == nil {
		t.Error("a missing workdir in the workspace is made")
	}
}

func TestX21_NoHome(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), nil)
	m.environ = []string{"SHELL=" + needShell(t, "bash")}
	m.reopen(realRunner, 0)
	if out, _ := m.run(Request{Command: "echo ok $HOME"}); !strings.HasPrefix(out, "ok") {
		t.Errorf("output %q", out)
	}
}

func TestX9_NoShell(t *testing.T) {
	l := New(Options{})
	defer l.Close()
	l.shell, l.shellErr = Shell{}, ErrNoShell
	if _, err := l.Prepare(context.Background(), Request{Command: "x", DefaultDir: "/"}); !errors.Is(err, ErrNoShell) {
		t.Errorf("%v", err)
	}
}

// The hot path: everything but the first call.
func BenchmarkPrepare(b *testing.B) {
	m := newMachine(b, needShell(b, "bash"), map[string]string{".profile": "alias hello='echo x'; PATH=/one:/two:$PATH"})
	for i := range 40 {
		m.environ = append(m.environ, "VARIABLE_"+string(rune('A'+i%26))+string(rune('A'+i/26))+"=some value that is not short")
	}
	m.reopen(realRunner, 0)
	for _, c := range []struct {
		name string
		r    Request
	}{
		{"plain", Request{Command: "git status", DefaultDir: m.home}},
		{"snapshot", Request{Command: "git status", DefaultDir: m.home, Snapshot: true}},
		{"prepend and env", Request{Command: "git status", DefaultDir: m.home, Snapshot: true, PathPrepend: []string{"~/bin"}, Env: map[string]string{"CI": "1"}}},
		{"judged", Request{Command: "git status", DefaultDir: m.home, Judged: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := m.Prepare(context.Background(), c.r); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Prepare(context.Background(), c.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("check of start-up files", func(b *testing.B) {
		for b.Loop() {
			fingerprint(m.shell, m.login, m.home, "")
		}
	})
}
