//go:build unix

package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestX11_LoginPath(t *testing.T) {
	for _, c := range []struct {
		name, shell string
		files       map[string]string
	}{
		{"bash profile", "bash", map[string]string{".bash_profile": "PATH=$HOME/own:$PATH:/opt/last\n"}},
		{"bash not exported to a child first", "bash", map[string]string{".profile": "export PATH=$HOME/own:$PATH:/opt/last"}},
		{"bash prints", "bash", map[string]string{".profile": "echo welcome; env; echo path; printf 'no newline'; PATH=$HOME/own:$PATH:/opt/last; set -x; set -v"}},
		{"bash reads stdin", "bash", map[string]string{".profile": "read answer; cat >/dev/null; PATH=$HOME/own:$PATH:/opt/last"}},
		{"bash replaces positional parameters", "bash", map[string]string{".profile": "set -- a b c; PATH=$HOME/own:$PATH:/opt/last"}},
		{"bash stops on errors", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; set -eu; IFS=/; trap 'exit 3' ERR; trap 'echo bye' EXIT"}},
		{"bash replaced when interactive", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; case $- in *i*) exec true;; esac"}},
		{"bash exits when interactive", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; case $- in *i*) exit 0;; esac"}},
		{"bash aliases and functions in the way", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; alias printf=false if=false for=false; printf() { false; }; eval() { false; }; exit() { sleep 60; }; set() { false; }"}},
		{"bash leaves a child holding the output", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; sleep 20 &"}},
		{"bash echoes its prompt command", "bash", map[string]string{".profile": "PATH=$HOME/own:$PATH:/opt/last; PROMPT_COMMAND='echo prompt'; trap 'echo debug' DEBUG"}},
		{"bash bad entries", "bash", map[string]string{".profile": "PATH=$HOME/own:relative::.:$HOME/own:$HOME/own/:$PATH:/opt/last"}},
		{"zsh zprofile", "zsh", map[string]string{".zprofile": "path=($HOME/own $path /opt/last)"}},
		{"zsh zshrc", "zsh", map[string]string{".zshrc": "echo hi; alias -g for=x if=x done=x; alias printf=false; setopt ksh_arrays sh_word_split err_exit xtrace no_unset; PATH=$HOME/own:$PATH:/opt/last"}},
		{"dash profile", "dash", map[string]string{".profile": "echo hi; set -eu; PATH=$HOME/own:$PATH:/opt/last; alias if=x command=x"}},
		{"ksh profile", "ksh", map[string]string{".profile": "echo hi; PATH=$HOME/own:$PATH:/opt/last"}},
		{"fish config", "fish", map[string]string{".config/fish/config.fish": "echo hi; set -gx PATH $HOME/own $PATH /opt/last"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, needShell(t, c.shell), c.files)
			begin := time.Now()
			path, warnings := m.path("~/mine", "/first")
			if len(warnings) > 0 {
				t.Fatalf("warnings %q", warnings)
			}
			wantEntries(t, path, m.home+"/mine", "/first", m.home+"/own", "/usr/bin", "/opt/last")
			for _, dir := range MinimalPath() {
				wantEntries(t, path, dir)
			}
			for i, dir := range path {
				if !filepath.IsAbs(dir) || slices.Contains(path[:i], dir) || strings.HasSuffix(dir, "/") {
					t.Errorf("PATH %q: entry %q", path, dir)
				}
			}
			if took := time.Since(begin); took > 8*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestX11_FishGivesPathBashGivesAliases(t *testing.T) {
	needShell(t, "bash")
	m := newMachine(t, needShell(t, "fish"), map[string]string{
		".config/fish/config.fish": "set -gx PATH /from/fish $PATH",
		".bash_profile":            "PATH=/from/bash:$PATH; . ~/.bashrc",
		".bashrc":                  "alias hello='echo from-alias'",
	})
	path, _ := m.path()
	wantEntries(t, path, "/from/fish")
	if slices.Contains(path, "/from/bash") {
		t.Errorf("PATH %q is not the login shell's", path)
	}
	if out, _ := m.run(Request{Command: "hello", Snapshot: true}); out != "from-alias\n" {
		t.Errorf("alias of bash: %q", out)
	}
}

func TestX11_HangingProfileFallsBack(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "PATH=/own:$PATH; sleep 600"})
	m.reopen(realRunner, time.Second)
	begin := time.Now()
	path, warnings := m.path()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	if !slices.Equal(path, MinimalPath()) {
		t.Errorf("PATH %q, want the minimal one", path)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "1s") || !strings.Contains(warnings[0], "pathPrepend") {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := os.Stat(recordPath(m.state)); err == nil {
		t.Error("a failure was cached")
	}
	if out, launch := m.run(Request{Command: "echo works", Snapshot: true}); out != "works\n" || len(launch.Warnings) != 1 {
		t.Errorf("output %q, warnings %q", out, launch.Warnings)
	}
	if n := m.runs.Load(); n != 1 {
		t.Errorf("asked %d times, want 1", n)
	}

	// After a minute it is asked again, and nobody waits for that.
	m.clock.Add(61)
	begin = time.Now()
	m.path()
	if took := time.Since(begin); took > 800*time.Millisecond {
		t.Errorf("a retry held up its caller for %s", took)
	}
	m.waitFlight()
	if n := m.runs.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}

	// A corrected file is noticed by the next check, and waited for.
	m.write(".profile", "PATH=/own:$PATH")
	m.reopenLimit(10 * time.Second)
	m.clock.Add(2)
	path, warnings = m.path()
	wantEntries(t, path, "/own")
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
}

// reopenLimit changes the limit between captures.
func (m *machine) reopenLimit(limit time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opt.CaptureLimit = limit
}

func (m *machine) waitFlight() {
	m.mu.Lock()
	f := m.flight
	m.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

func TestX11_RefreshedWhenFilesChange(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "PATH=/one:$PATH"})
	path, _ := m.path()
	wantEntries(t, path, "/one")
	runs := m.runs.Load()

	m.clock.Add(5)
	m.path()
	if n := m.runs.Load(); n != runs {
		t.Errorf("asked again though nothing changed")
	}
	m.write(".profile", "PATH=/two-longer:$PATH")
	path, _ = m.path() // within the second: the check is not due
	wantEntries(t, path, "/one")
	m.clock.Add(5)
	path, _ = m.path()
	wantEntries(t, path, "/two-longer")

	m.write(".bash_profile", "PATH=/three:$PATH") // a file that was not there
	m.clock.Add(5)
	path, _ = m.path()
	wantEntries(t, path, "/three")
}

func TestX11_CachedOnDisk(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "PATH=/one:$PATH; alias hi='echo hi'; export GOPATH=/go"})
	m.path()
	info, err := os.Stat(recordPath(m.state))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("cache file: %v, %v", info, err)
	}
	runs := m.runs.Load()
	check := func(why string, more int32) {
		t.Helper()
		m.reopen(realRunner, 0)
		path, _ := m.path()
		wantEntries(t, path, "/one")
		if out, _ := m.run(Request{Command: "hi; echo $GOPATH", Snapshot: true}); out != "hi\n/go\n" {
			t.Errorf("%s: output %q", why, out)
		}
		if n := m.runs.Load() - runs; (n > 0) != (more > 0) {
			t.Errorf("%s: %d runs", why, n)
		}
		runs = m.runs.Load()
	}
	check("a new daemon takes the cache", 0)

	if err := os.WriteFile(recordPath(m.state), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("a broken cache is made anew", 1)

	var rec record
	text, _ := os.ReadFile(recordPath(m.state))
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rec.Snapshot, []byte("alias hi='echo other'"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("a changed snapshot is made anew", 1)

	if err := os.RemoveAll(snapshotsDir(m.state)); err != nil {
		t.Fatal(err)
	}
	m.clock.Add(5)
	if out, _ := m.run(Request{Command: "hi", Snapshot: true}); out != "hi\n" {
		t.Errorf("a removed snapshot: output %q", out)
	}
}

func TestX11_OneCaptureForAll(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "PATH=/one:$PATH"})
	release := make(chan struct{})
	entered := make(chan struct{}, 1)
	var runs atomic.Int32
	m.reopen(func(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
		if slices.Contains(argv, "-l") { // else it is the trial of the snapshot
			runs.Add(1)
			entered <- struct{}{}
			<-release
		}
		return realRunner(ctx, argv, env, dir, limit)
	}, 0)

	gone, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() { _, _, err := m.Path(gone, nil); first <- err }()
	<-entered
	cancel() // ends this caller's waiting and nothing else
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first caller: %v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			path, _ := m.path()
			wantEntries(t, path, "/one")
		})
	}
	close(release)
	wg.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("%d captures, want 1", n)
	}
}

func TestCloseEndsCapture(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "sleep 600"})
	entered := make(chan struct{}, 2)
	m.reopen(func(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
		entered <- struct{}{}
		return realRunner(ctx, argv, env, dir, limit)
	}, 0)
	waiting := make(chan error, 1)
	go func() { _, _, err := m.Path(context.Background(), nil); waiting <- err }()
	<-entered
	begin := time.Now()
	m.Close()
	<-waiting
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	if _, _, err := m.Path(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestX11_NoRunnerNoStateDir(t *testing.T) {
	l := New(Options{Environ: []string{"SHELL=" + needShell(t, "bash")}})
	defer l.Close()
	path, warnings, err := l.Path(context.Background(), nil)
	if err != nil || path != strings.Join(MinimalPath(), ":") || len(warnings) != 1 {
		t.Errorf("%q, %q, %v", path, warnings, err)
	}
}

// Secrets of the daemon are not shown to start-up files either.
func TestX11_CaptureEnvironment(t *testing.T) {
	m := newMachine(t, needShell(t, "bash"), map[string]string{".profile": "env >~/seen; exec 5<&0; readlink /proc/self/fd/0 >>~/seen"},
		"OPENCLAW_GATEWAY_TOKEN=geheim", "BASH_ENV=/nowhere", "NOTIFY_SOCKET=/run/x")
	m.path()
	seen, err := os.ReadFile(m.home + "/seen")
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"geheim", "BASH_ENV", "NOTIFY_SOCKET"} {
		if strings.Contains(string(seen), never) {
			t.Errorf("the login shell sees %s", never)
		}
	}
	if !strings.Contains(string(seen), "OPENCLAW_SHELL=exec\n") {
		t.Error("the login shell cannot see for whom it runs")
	}
}

func TestParseCapture(t *testing.T) {
	mark := newMark()
	for _, c := range []struct {
		name, out string
		path      []string
		complete  bool
	}{
		{"nothing", "", nil, false},
		{"noise only", "hello\nOPENCLAW_CAPTURE=" + mark + "\n", nil, false},
		{"whole", "noise\n" + mark + " path\n/a:/b\n" + mark + " end\n", []string{"/a", "/b"}, true},
		{"at the beginning", mark + " path\n/a\n" + mark + " end", []string{"/a"}, false},
		{"cut in PATH", mark + " path\n/a:/usr/lo", nil, false},
		{"cut behind PATH", mark + " path\n/a\n" + mark + " function f\nf ()", []string{"/a"}, false},
		{"noise with the mark inside a line", "x" + mark + " path\n/evil\n" + mark + " path\n/a\n" + mark + " end\n", []string{"/a"}, true},
		{"another mark", newMark() + " path\n/evil\n" + mark + " path\n/a\n" + mark + " end\n", []string{"/a"}, true},
		{"behind the end", mark + " path\n/a\n" + mark + " end\n" + mark + " path\n/evil\n" + mark + " end\n", []string{"/a"}, true},
	} {
		got := parseCapture([]byte(c.out), mark)
		if !slices.Equal(got.path, c.path) {
			t.Errorf("%s: path %q, want %q", c.name, got.path, c.path)
		}
		if c.name != "at the beginning" && got.complete != c.complete {
			t.Errorf("%s: complete %v", c.name, got.complete)
		}
	}
}
