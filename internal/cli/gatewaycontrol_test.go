package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/safefile"
)

// stateEnv is the environment of a person with a state directory.
func stateEnv(t *testing.T) (env *Env, stateDir string) {
	t.Helper()
	dir := t.TempDir()
	vars := map[string]string{"HOME": dir, "OPENCLAW_STATE_DIR": filepath.Join(dir, "state"), "PATH": os.Getenv("PATH")}
	env = &Env{
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Getenv: func(name string) string { return vars[name] }, Dir: dir, Version: "test",
	}
	for name, value := range vars {
		env.Environ = append(env.Environ, name+"="+value)
	}
	if err := safefile.Dir(vars["OPENCLAW_STATE_DIR"]); err != nil {
		t.Fatal(err)
	}
	return env, vars["OPENCLAW_STATE_DIR"]
}

// announce writes what a daemon writes down; release ends its lock.
func announce(t *testing.T, stateDir string, pid int, url string, started time.Time) (release func()) {
	t.Helper()
	held, err := safefile.TryLock(filepath.Join(stateDir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"pid":%d,"url":%q,"version":"9","startedAt":%q}`, pid, url, started.Format(time.RFC3339Nano))
	if err := safefile.Write(filepath.Join(stateDir, "gateway.json"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHoldDaemon(t *testing.T) {
	_, dir := stateEnv(t)
	if h, err := holdDaemon(dir); h != nil || err != nil {
		t.Errorf("nobody is held: %v, %v", h, err)
	}
	started := time.Now().UTC().Truncate(time.Millisecond)
	release := announce(t, dir, os.Getpid(), "http://127.0.0.1:1", started)
	h, err := holdDaemon(dir)
	if err != nil || h == nil || h.PID != os.Getpid() || !h.StartedAt.Equal(started) || gone(h.process) {
		t.Fatalf("%+v, %v", h, err)
	}
	h.release()
	release()
	if h, err := holdDaemon(dir); h != nil || err != nil { // the file alone proves nothing
		t.Errorf("a dead daemon's file: %v, %v", h, err)
	}
	for _, pid := range []int{0, 1, -1, -5} { // a signal to these reaches more than one process
		release := announce(t, dir, pid, "http://127.0.0.1:1", started)
		if h, err := holdDaemon(dir); h != nil || err == nil {
			t.Errorf("pid %d is held: %v", pid, h)
		}
		release()
	}
}

// A daemon that starts holds the lock and has written nothing; one that ends, too.
func TestSettledDaemonWaits(t *testing.T) {
	env, dir := stateEnv(t)
	starting, err := safefile.TryLock(filepath.Join(dir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(150*time.Millisecond, func() { _ = starting.Close() })
	begin := time.Now()
	if h, err := env.settledDaemon(t.Context(), dir); h != nil || err != nil {
		t.Errorf("%v, %v", h, err)
	}
	if d := time.Since(begin); d < 100*time.Millisecond {
		t.Errorf("after %s", d)
	}
	held, err := safefile.TryLock(filepath.Join(dir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := env.settledDaemon(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's end: %v", err)
	}
}

func TestAwaitStart(t *testing.T) {
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	}))
	defer live.Close()
	before := time.Now().UTC().Truncate(time.Millisecond)
	after := before.Add(time.Second)
	for name, c := range map[string]struct {
		started time.Time // zero = nobody runs
		pid     int
		refusal string
		ended   bool
		want    string // of the error; "" = none
	}{
		"comes back":           {started: after, pid: 77},
		"another took its way": {started: after, pid: 78, want: "another gateway (pid 78, " + live.URL + ") took"},
		"refuses":              {started: before, pid: 77, refusal: "no such thing", want: "the gateway (pid 77) refused to restart: no such thing"},
		"ended":                {ended: true, want: "the gateway ended and did not come back"},
	} {
		t.Run(name, func(t *testing.T) {
			env, dir := stateEnv(t)
			if !c.started.IsZero() {
				defer announce(t, dir, c.pid, live.URL, c.started)()
			}
			if c.refusal != "" {
				if err := writeRefusal(dir, refusal{PID: 77, Reason: c.refusal}); err != nil {
					t.Fatal(err)
				}
			}
			rep, err := env.awaitStart(t.Context(), startWait{
				stateDir: dir, after: before, pid: 77, log: "its log", ended: func() bool { return c.ended },
			})
			switch {
			case c.want == "" && (err != nil || rep.PID != 77 || rep.URL != live.URL || rep.Version != "9" || rep.StartedAtMs != after.UnixMilli()):
				t.Errorf("%+v, %v", rep, err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	_, dir := stateEnv(t)
	if _, found, err := takeRefusal(dir, 7); found || err != nil {
		t.Errorf("none: %v, %v", found, err)
	}
	for _, pid := range []int{7, 8} {
		if err := writeRefusal(dir, refusal{PID: 7, Reason: "why"}); err != nil {
			t.Fatal(err)
		}
		r, found, err := takeRefusal(dir, pid)
		if err != nil || found != (pid == 7) || found && r.Reason != "why" {
			t.Errorf("asked for %d: %+v, %v, %v", pid, r, found, err)
		}
		if _, err := os.Stat(filepath.Join(dir, refusalFile)); err == nil {
			t.Error("it is still there")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, refusalFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := takeRefusal(dir, 7); found || err != nil {
		t.Errorf("nonsense: %v, %v", found, err)
	}
}

func TestStartPath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "v1", "openclaw")
	other := filepath.Join(dir, "other", "openclaw")
	for _, path := range []string{file, other} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "bin", "openclaw")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	for name, c := range map[string]struct {
		args []string
		path string // of the environment
		want string
	}{
		"by a link's path":          {[]string{link}, "", link},
		"by a relative path":        {[]string{filepath.Join(".", "bin", "openclaw") + "x"}, "", file}, // not there
		"through PATH":              {[]string{"openclaw"}, list("relative", filepath.Dir(link)), link},
		"past another of the name":  {[]string{"openclaw"}, list(filepath.Dir(other), filepath.Dir(link)), link},
		"under a name of no file":   {[]string{"-openclaw"}, filepath.Dir(link), file},
		"under another file's name": {[]string{other}, "", file},
		"not known how":             {nil, "", file},
	} {
		env := &Env{Program: file, Args: c.args, Dir: dir, Getenv: func(string) string { return c.path }}
		if got := env.startPath(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	rel := &Env{Program: file, Args: []string{"bin" + string(filepath.Separator) + "openclaw"}, Dir: dir, Getenv: func(string) string { return "" }}
	if got := rel.startPath(); got != link {
		t.Errorf("by a relative path: %s", got)
	}
	if got := (&Env{Args: []string{link}}).startPath(); got != "" {
		t.Errorf("no program: %s", got)
	}
}

func TestServiceSpec(t *testing.T) {
	home := t.TempDir()
	for name, c := range map[string]struct {
		vars map[string]string
		want map[string]string
	}{
		"nothing set":       {nil, map[string]string{}},
		"the default, said": {map[string]string{"OPENCLAW_STATE_DIR": filepath.Join(home, ".openclaw")}, map[string]string{}},
		"both elsewhere": {
			map[string]string{"OPENCLAW_STATE_DIR": filepath.Join(home, "s"), "OPENCLAW_CONFIG_PATH": "~/c.json", "OPENCLAW_GATEWAY_TOKEN": "secret"},
			map[string]string{"OPENCLAW_STATE_DIR": filepath.Join(home, "s"), "OPENCLAW_CONFIG_PATH": filepath.Join(home, "c.json")},
		},
		"the state alone": {map[string]string{"OPENCLAW_STATE_DIR": "~/s"}, map[string]string{"OPENCLAW_STATE_DIR": filepath.Join(home, "s")}},
	} {
		env := &Env{Program: filepath.Join(home, "openclaw"), Dir: home, Getenv: func(n string) string {
			if n == "HOME" {
				return home
			}
			return c.vars[n]
		}}
		dir := filepath.Join(home, ".openclaw")
		if d := c.want["OPENCLAW_STATE_DIR"]; d != "" {
			dir = d
		}
		spec, err := env.serviceSpec(dir)
		if err != nil || fmt.Sprint(spec.Env) != fmt.Sprint(c.want) || spec.Program != env.Program || spec.StateDir != dir {
			t.Errorf("%s: %+v, %v", name, spec, err)
		}
	}
	if _, err := (&Env{Getenv: func(string) string { return "" }}).serviceSpec("/s"); err == nil {
		t.Error("a service without a program")
	}
}
