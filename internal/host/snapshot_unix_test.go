//go:build unix

package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const aliasesAndFunctions = `
alias hello='echo "from alias"'
alias rm='rm -i'
alias with-token='GITHUB_TOKEN=ghp_0123456789abcdef0123 true'
alias q="echo it\'s"
greet() { _helper "$1"; }
_helper() { echo "hello $1"; }
_completion() { echo never; }
chpwd() { echo boo; }
TRAPEXIT() { echo boo; }
send() { curl -H "Authorization: Bearer abcdefgh12345678" x; }
multi() {
	cat <<END
two
lines $1
END
}
export GOPATH=/go NPM_TOKEN=geheim-1 HTTPS_PROXY=http://user:geheim-2@proxy:1 EDITOR=vim
export PATH=/own:$PATH
echo noise
`

func TestX14_Snapshot(t *testing.T) {
	for _, shell := range []struct{ name, file string }{{"bash", ".profile"}, {"zsh", ".zshrc"}} {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, needShell(t, shell.name), map[string]string{shell.file: aliasesAndFunctions})
			for _, c := range []struct{ command, want string }{
				{"hello", "from alias\n"},
				{"hello\nhello", "from alias\nfrom alias\n"},
				{"greet you", "hello you\n"},
				{"multi x", "two\nlines x\n"},
				{"q", "it's\n"},
				{"type _completion >/dev/null 2>&1 || echo none", "none\n"},
				{"type send >/dev/null 2>&1 || echo none", "none\n"},
				{"cd /", ""},
				{"alias with-token >/dev/null 2>&1 || echo none", "none\n"},
				{"alias rm >/dev/null 2>&1 || echo none", "none\n"},
				{"echo $GOPATH,$NPM_TOKEN,$HTTPS_PROXY,$EDITOR", "/go,,,\n"},
				{"echo $BASH_ENV,$ZDOTDIR,$OPENCLAW_PATH,$OPENCLAW_ZDOTDIR,$OPENCLAW_CAPTURE,$OPENCLAW_SHELL", ",,,,,exec\n"},
				{"-x", ""}, // is a command, not an option of the shell; see below
			} {
				out, launch := m.run(Request{Command: c.command, Snapshot: true})
				if c.command == "-x" {
					if !strings.Contains(out, "not found") {
						t.Errorf("-x: %q", out)
					}
					continue
				}
				if out != c.want || len(launch.Warnings) > 0 {
					t.Errorf("%q: %q, want %q (warnings %q)", c.command, out, c.want, launch.Warnings)
				}
				if launch.Argv[len(launch.Argv)-1] != c.command {
					t.Errorf("the command was changed: %q", launch.Argv)
				}
			}
			for _, command := range []string{"hello", "greet"} {
				if out, _ := m.run(Request{Command: command}); !strings.Contains(out, "not found") {
					t.Errorf("%s without a snapshot: %q", command, out)
				}
				if out, _ := m.run(Request{Command: command, Snapshot: true, Judged: true}); !strings.Contains(out, "not found") {
					t.Errorf("%s judged: %q", command, out)
				}
			}
			m.checkPrivate("ghp_", "abcdefgh12345678", "geheim")
		})
	}
}

// checkPrivate looks at modes below the state directory and for texts that must not be there.
func (m *machine) checkPrivate(never ...string) {
	m.t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(m.state, "cache"), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			m.t.Errorf("%s has mode %s", path, info.Mode())
		}
		if entry.IsDir() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for _, secret := range never {
			if strings.Contains(string(text), secret) {
				m.t.Errorf("%s holds %s", path, secret)
			}
		}
		return err
	})
	if err != nil || files != 2 {
		m.t.Errorf("%d cache files, want 2: %v", files, err)
	}
}

// pathPrepend wins over everything a start-up file does, with and without a snapshot.
func TestX11_PrependWins(t *testing.T) {
	for _, c := range []struct{ shell, file string }{{"bash", ".profile"}, {"zsh", ".zshenv"}, {"dash", ".profile"}, {"ksh", ".profile"}} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, needShell(t, c.shell), map[string]string{
				c.file: "PATH=/evil:$PATH; alias a=b; f() { PATH=/evil:$PATH; }", ".bashrc": "PATH=/evil:$PATH",
			}, "SSH_CLIENT=1.2.3.4 5 6", "SHLVL=0", "BASH_ENV="+"/nowhere", "ENV=/nowhere")
			for _, snapshot := range []bool{false, true} {
				out, _ := m.run(Request{Command: "echo $PATH", Snapshot: snapshot, PathPrepend: []string{"~/bin", "/first"}})
				if !strings.HasPrefix(out, m.home+"/bin:/first:/evil:/usr/local/") {
					t.Errorf("snapshot %v: PATH %q", snapshot, out)
				}
			}
		})
	}
}

// A child shell gets neither our start-up file nor a changed ZDOTDIR.
func TestX14_ChildrenDoNotInherit(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "alias hello='echo x'"})
	if out, _ := m.run(Request{Command: `bash -O expand_aliases -c 'alias hello'`, Snapshot: true}); !strings.Contains(out, "not found") {
		t.Errorf("child bash: %q", out)
	}
	z := newMachine(t, needShell(t, "zsh"), map[string]string{"z/.zshrc": "alias hello='echo x'"})
	z.environ = append(z.environ, "ZDOTDIR="+z.home+"/z")
	z.reopen(realRunner, 0)
	if out, _ := z.run(Request{Command: "hello; echo $ZDOTDIR", Snapshot: true}); out != "x\n"+z.home+"/z\n" {
		t.Errorf("own ZDOTDIR: %q", out)
	}
}

// A .zshenv that moves ZDOTDIR is where many people keep their files: they are watched.
func TestX11_MovedZdotdirIsWatched(t *testing.T) {
	m := newMachine(t, needShell(t, "zsh"), map[string]string{".zshenv": "export ZDOTDIR=$HOME/z", "z/.zshrc": "PATH=/one:$PATH"})
	path, _ := m.path()
	wantEntries(t, path, "/one")
	m.write("z/.zshrc", "PATH=/other:$PATH")
	m.clock.Add(5)
	path, _ = m.path()
	wantEntries(t, path, "/other")
}

// People's .bash_profile often does not lead to .bashrc, where the aliases are.
func TestX14_BashrcThatLoginDoesNotRead(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{
		".bash_profile": "PATH=/one:$PATH",
		".bashrc":       "case $- in *i*) ;; *) return;; esac\necho noise\nalias hello='echo x'\nset -e; shopt -s expand_aliases extglob\nmatch() { [[ $1 == @(a|b) ]] && echo yes; }",
	})
	if out, _ := m.run(Request{Command: "hello; match b", Snapshot: true}); out != "x\nyes\n" {
		t.Errorf("output %q", out)
	}
}

func TestX14_Off(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "alias hello='echo x'; export GOPATH=/go; PATH=/one:$PATH"}, "OPENCLAW_EXEC_SHELL_SNAPSHOT=0")
	out, launch := m.run(Request{Command: "hello; echo $GOPATH", Snapshot: true})
	if !strings.Contains(out, "not found") || strings.Contains(out, "/go") || len(launch.Warnings) > 0 {
		t.Errorf("output %q, warnings %q", out, launch.Warnings)
	}
	path, _ := m.path()
	wantEntries(t, path, "/one")
	if _, err := os.Stat(snapshotsDir(m.state)); err == nil {
		t.Error("a snapshot was written")
	}
}

func TestX14_EmptyIsNone(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), nil)
	got := &capture{complete: true, aliases: []definition{{"rm", "alias rm='rm -i'"}}, functions: []definition{{"_completion", "_completion () { :; }"}}}
	if file, notes := m.makeSnapshot(context.Background(), got); file != "" || len(notes) > 0 {
		t.Errorf("file %q, notes %q", file, notes)
	}
}

// The caller's own start-up file (full/off only) is not replaced by ours.
func TestX14_CallersBashEnv(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "alias hello='echo x'", "mine": "echo mine"})
	out, _ := m.run(Request{Command: "true", Snapshot: true, Env: map[string]string{"BASH_ENV": m.home + "/mine"}})
	if out != "mine\n" {
		t.Errorf("output %q", out)
	}
}

// A snapshot that the shell cannot read back is not used, and commands work.
func TestX14_BrokenSnapshot(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), nil)
	for _, c := range []struct {
		name string
		got  capture
		want string // output of "hello"
	}{
		{"good", capture{complete: true, aliases: []definition{{"hello", "alias hello='echo x'"}}}, "x\n"},
		{"broken function", capture{
			complete:  true,
			aliases:   []definition{{"hello", "alias hello='echo x'"}},
			functions: []definition{{"f", "f () \n{ \n    if broken"}},
		}, "x\n"},
		{"function that runs", capture{
			complete:  true,
			aliases:   []definition{{"hello", "alias hello='echo x'"}},
			functions: []definition{{"f", "f () { :; }; echo boo"}},
		}, "x\n"},
		{"broken alias", capture{complete: true, aliases: []definition{{"hello", "alias hello='echo x"}}}, ""},
		{"cut", capture{aliases: []definition{{"hello", "alias hello='echo x'"}}}, ""},
	} {
		file, notes := m.makeSnapshot(context.Background(), &c.got)
		if (file != "") != (c.want != "") || (len(notes) > 0) != (c.name != "good") {
			t.Errorf("%s: file %q, notes %q", c.name, file, notes)
		}
		if file == "" {
			continue
		}
		m.mu.Lock()
		m.cur = m.finish(&loginEnv{fingerprint: fingerprint(m.shell, m.login, m.home, ""), snapshot: file})
		m.mu.Unlock()
		if out, _ := m.run(Request{Command: "hello", Snapshot: true}); out != c.want {
			t.Errorf("%s: output %q", c.name, out)
		}
	}
}

func TestX14_StateDirNotWritable(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "alias hello='echo x'; PATH=/one:$PATH"})
	if err := os.WriteFile(m.state+"/cache", nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	out, launch := m.run(Request{Command: "echo $PATH", Snapshot: true})
	if !strings.HasPrefix(out, "/one:") || len(launch.Warnings) != 1 {
		t.Errorf("output %q, warnings %q", out, launch.Warnings)
	}
}

func TestX14_LooksSecret(t *testing.T) {
	for text, want := range map[string]bool{
		"GITHUB_TOKEN=ghp_0123456789abcdef01":                   true,
		`export API_KEY="abcdefgh1"`:                            true,
		"password: hunter2hunter2":                              true,
		"https://me:pw@host/x":                                  true,
		"sk-ant-api03-abcdefghijklmnop":                         true,
		"AKIAIOSFODNN7EXAMPLE":                                  true,
		"-----BEGIN RSA PRIVATE KEY-----":                       true,
		"TOKEN=$(pass show token)":                              false,
		"ls --color=auto":                                       false,
		"/opt/homebrew/share/man:/usr/share/man":                false,
		"http://proxy.example:3128":                             false,
		"git log --author=somebody-else":                        false,
		"cd ~/src/tokenizer && make":                            false,
		`[ -n "$SSH_AUTH_SOCK" ] && ssh-add -l`:                 false,
		"docker run -e POSTGRES_PASSWORD=short -p 5432 pg":      false,
		"docker run -e POSTGRES_PASSWORD=longenough -p 5432 pg": true,
	} {
		if got := looksSecret(text); got != want {
			t.Errorf("looksSecret(%q) = %v", text, got)
		}
	}
}

// What a snapshot costs each command: `bash -c true` with none, a usual one, a large one.
func BenchmarkX14_Snapshot(b *testing.B) {
	for _, c := range []struct {
		name      string
		functions int
	}{{"none", 0}, {"usual 20 functions", 20}, {"large 400 functions", 400}} {
		b.Run(c.name, func(b *testing.B) {
			var profile strings.Builder
			for i := range c.functions {
				name := "fn" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
				profile.WriteString(name + "() { local a=$1; if [ -n \"$a\" ]; then for i in 1 2 3; do echo \"$a $i\"; done; fi; case $a in x) return 1;; esac; }\n")
				profile.WriteString("alias al" + name + "='echo " + name + "'\n")
			}
			m := newMachine(b, needShell(b, "bash"), map[string]string{".profile": profile.String()})
			launch, err := m.Prepare(context.Background(), Request{Command: ":", DefaultDir: m.home, Snapshot: c.functions > 0})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				start(b, launch)
			}
			if info, err := os.Stat(m.cur.snapshot); err == nil && c.functions > 0 {
				b.ReportMetric(float64(info.Size()), "snapshot-bytes")
			}
		})
	}
}
