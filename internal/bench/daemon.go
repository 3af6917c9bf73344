package main

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// daemon is a running `openclaw gateway run` with a state directory of its own.
type daemon struct {
	bench   *bench
	cmd     *exec.Cmd
	url     string
	state   string
	token   string
	http    *http.Client
	started time.Duration // from the start of the process to the first good /readyz
}

// environ is small and the same for floor and product: no start-up file of the person
// who runs the benchmark counts.
func (b *bench) environ(state, home string) []string {
	return []string{
		"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=" + b.shell, "LANG=C.UTF-8",
		"OPENCLAW_STATE_DIR=" + state,
	}
}

// stateDir makes a state directory with a config and an empty home.
func (b *bench) stateDir(port int, extra string) (state, home string, err error) {
	b.n++
	state = filepath.Join(b.dir, "state"+strconv.Itoa(b.n))
	home = filepath.Join(b.dir, "home"+strconv.Itoa(b.n))
	for _, d := range []string{state, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", "", err
		}
	}
	cfg := fmt.Sprintf("{gateway: {port: %d}, tools: {exec: {%s}}}", port, extra)
	return state, home, os.WriteFile(filepath.Join(state, "openclaw.json"), []byte(cfg), 0o600)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (b *bench) daemon(ctx context.Context, extra string, args ...string) (*daemon, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	state, home, err := b.stateDir(port, extra)
	if err != nil {
		return nil, err
	}
	return b.daemonIn(ctx, port, state, home, args...)
}

func (b *bench) daemonIn(ctx context.Context, port int, state, home string, args ...string) (*daemon, error) {
	d := &daemon{bench: b, state: state, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	d.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	d.cmd = exec.Command(b.binary, append([]string{"gateway", "run"}, args...)...)
	d.cmd.Env = b.environ(state, home)
	d.cmd.Dir = home
	var out bytes.Buffer
	d.cmd.Stderr = &out
	begin := time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		res, err := d.http.Get(d.url + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if ctx.Err() != nil || time.Since(begin) > 10*time.Second {
			d.stop()
			return nil, fmt.Errorf("the daemon is not ready: %s", out.String())
		}
		time.Sleep(200 * time.Microsecond)
	}
	d.started = time.Since(begin)
	token, err := os.ReadFile(filepath.Join(state, "agent-token"))
	if err != nil {
		d.stop()
		return nil, err
	}
	d.token = strings.TrimSpace(string(token))
	return d, nil
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(os.Interrupt)
	_ = d.cmd.Wait()
	d.bench.endSupervisor(d.state)
}

// processes are the daemon and its supervisor.
func (d *daemon) processes() []int {
	pids := []int{d.cmd.Process.Pid}
	if pid := supervisorOf(d.state); pid != 0 {
		pids = append(pids, pid)
	}
	return pids
}

// exec is a prepared call of the exec tool over HTTP, as lean as a client can be: what
// is measured is the product and not the benchmark's JSON.
func (d *daemon) exec(command string) (func() error, error) {
	body, err := json.Marshal(map[string]any{"tool": "exec", "args": map[string]any{"command": command}})
	if err != nil {
		return nil, err
	}
	answer := make([]byte, 64<<10)
	var mu sync.Mutex // answer is used by one call at a time; others bring their own
	return func() error {
		buf := answer
		if mu.TryLock() {
			defer mu.Unlock()
		} else {
			buf = make([]byte, 4<<10)
		}
		req, err := http.NewRequest(http.MethodPost, d.url+"/tools/invoke", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+d.token)
		res, err := d.http.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		n, err := io.ReadFull(res.Body, buf)
		if err != io.ErrUnexpectedEOF && err != io.EOF {
			return fmt.Errorf("answer of more than %d bytes, %v", n, err)
		}
		if !bytes.Contains(buf[:n], []byte(`"exitCode":0`)) {
			return fmt.Errorf("answer %d: %.300s", res.StatusCode, buf[:n])
		}
		return nil
	}, nil
}

// invoke makes one call of POST /tools/invoke and returns the details.
func (d *daemon) invoke(tool string, args any) (map[string]any, error) {
	body, err := json.Marshal(map[string]any{"tool": tool, "args": args})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, d.url+"/tools/invoke", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		OK     bool
		Result struct{ Details map[string]any }
	}
	if err := json.Unmarshal(data, &answer); err != nil || !answer.OK {
		return nil, fmt.Errorf("answer %d: %.300s", res.StatusCode, data)
	}
	return answer.Result.Details, nil
}

// rss returns the resident memory of the daemon and its supervisor, in bytes.
func (d *daemon) rss() int64 { return d.status("VmRSS:") }

// peak returns the highest resident memory so far, in bytes.
func (d *daemon) peak() int64 { return d.status("VmHWM:") }

func (d *daemon) status(field string) int64 {
	var sum int64
	for _, pid := range d.processes() {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, field); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				sum += kb << 10
			}
		}
	}
	return sum
}

func (d *daemon) descriptors() int {
	n := 0
	for _, pid := range d.processes() {
		entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		n += len(entries)
	}
	return n
}

// zombies counts the defunct children of the daemon and its supervisor.
func (d *daemon) zombies() int {
	n := 0
	ours := d.processes()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(f) < 2 || f[0] != "Z" {
			continue
		}
		if parent, err := strconv.Atoi(f[1]); err == nil && slices.Contains(ours, parent) {
			n++
		}
	}
	return n
}

// goroutines reads the count from /metrics.
func (d *daemon) goroutines() (int, error) {
	token, err := os.ReadFile(filepath.Join(d.state, "gateway-token"))
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequest(http.MethodGet, d.url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	res, err := d.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			return strconv.Atoi(strings.TrimSpace(rest))
		}
	}
	return 0, fmt.Errorf("/metrics has no go_goroutines")
}
