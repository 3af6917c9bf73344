package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "openclaw/internal/cli" // a result is not taken from the test cache when the product has changed
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if spec := os.Getenv(soakEnv); spec != "" {
		os.Exit(soakProgram(spec))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "openclaw-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "openclaw")
		build := exec.Command("go", "build", "-o", binary, "../../cmd/openclaw")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// need skips a test whose program is missing and says which (scripts/test-deps).
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// place is a state directory, a home and the environment of a person with them.
type place struct {
	t           *testing.T
	state, home string
	port        int
}

func newPlace(t *testing.T, conf string) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, state: filepath.Join(dir, "state"), home: filepath.Join(dir, "home")}
	for _, d := range []string{p.state, p.home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	text := fmt.Sprintf("{gateway: {port: %d}, %s}", p.port, conf)
	if err := os.WriteFile(filepath.Join(p.state, "openclaw.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.endSupervisors)
	return p
}

func (p *place) env() []string {
	return []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color",
		"OPENCLAW_STATE_DIR=" + p.state,
	}
}

// run runs the CLI without a terminal.
func (p *place) run(stdin string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = p.env(), p.home
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		p.t.Fatalf("openclaw %v: %v", args, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// daemon is a running gateway.
type daemon struct {
	*place
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
}

func (p *place) start(args ...string) *daemon {
	p.t.Helper()
	d := &daemon{place: p, url: "http://127.0.0.1:" + strconv.Itoa(p.port), stderr: &bytes.Buffer{}}
	d.cmd = exec.Command(binary, append([]string{"gateway", "run"}, args...)...)
	d.cmd.Env, d.cmd.Dir = p.env(), p.home
	d.cmd.Stderr = d.stderr
	d.cmd.Stdout = io.Discard
	if err := d.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(d.stop)
	p.await("the daemon is ready", func() bool {
		res, err := http.Get(d.url + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return d
}

func (d *daemon) stop() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		_ = d.cmd.Wait()
	}
}

// supervisors lists the supervisors of the place.
func (p *place) supervisors() []int { return processesWith("supervise --dir " + p.state + "/") }

// endSupervisors ends what outlives a daemon, as a reboot would.
func (p *place) endSupervisors() {
	for _, pid := range p.supervisors() {
		signalTo(pid, syscall.SIGTERM)
	}
	p.await("the supervisors have ended", func() bool { return len(p.supervisors()) == 0 })
}

// signalTo sends a signal to a process that may have ended.
func signalTo(pid int, sig os.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(sig)
	}
}

func (d *daemon) kill9() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

func (p *place) secret(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.state, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func (p *place) await(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			p.t.Fatalf("gave up waiting until %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// response is an HTTP answer read to its end.
type response struct {
	code int
	body string
}

func (d *daemon) request(method, path, token, body string, header ...string) response {
	d.t.Helper()
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := http.DefaultClient.Do(req.WithContext(ctx))
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return response{res.StatusCode, string(data)}
}

// invoke calls a tool over HTTP and returns the details.
func (d *daemon) invoke(token, tool string, args map[string]any) map[string]any {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"tool": tool, "args": args})
	if err != nil {
		d.t.Fatal(err)
	}
	r := d.request(http.MethodPost, "/tools/invoke", token, string(body))
	var answer struct {
		OK     bool
		Result struct{ Details map[string]any }
	}
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil || !answer.OK {
		d.t.Fatalf("%s %s: %d %s", tool, body, r.code, r.body)
	}
	return answer.Result.Details
}

// begin calls a tool whose answer may come late or never; then it is nil.
func (d *daemon) begin(token, tool string, args map[string]any) <-chan map[string]any {
	body, err := json.Marshal(map[string]any{"tool": tool, "args": args})
	if err != nil {
		d.t.Fatal(err)
	}
	done := make(chan map[string]any, 1)
	go func() { // ends with the answer, or with the daemon
		defer close(done)
		req, err := http.NewRequest(http.MethodPost, d.url+"/tools/invoke", strings.NewReader(string(body)))
		if err != nil {
			return
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer res.Body.Close()
		var answer struct {
			Result struct{ Details map[string]any }
		}
		if json.NewDecoder(res.Body).Decode(&answer) == nil {
			done <- answer.Result.Details
		}
	}()
	return done
}

// alive reports whether a process is there and not a zombie.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := string(data[bytes.LastIndexByte(data, ')')+1:])
	return !strings.HasPrefix(strings.TrimSpace(rest), "Z")
}

// processesWith lists the pids of processes that have text in their command line.
func processesWith(text string) []int {
	var out []int
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(strings.ReplaceAll(string(data), "\x00", " "), text) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(path, "/")[2]); err == nil && alive(pid) && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}
