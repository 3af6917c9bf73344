//go:build linux

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endpoint is what the daemon wrote down of itself.
type endpoint struct {
	PID       int
	StartedAt time.Time
}

func (d *daemon) endpoint() endpoint {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.state, "gateway.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var e endpoint
	if err := json.Unmarshal(data, &e); err != nil {
		d.t.Fatal(err)
	}
	return e
}

// must runs the CLI and wants exit code 0.
func (p *place) must(args ...string) string {
	p.t.Helper()
	out, errOut, code := p.run("", args...)
	if code != 0 {
		p.t.Fatalf("openclaw %v: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// ended waits for the daemon's process and returns its exit code, -1 for a signal.
func (d *daemon) ended() int {
	d.t.Helper()
	late := time.AfterFunc(20*time.Second, func() { _ = d.cmd.Process.Kill() })
	_ = d.cmd.Wait()
	if !late.Stop() {
		d.t.Errorf("the daemon did not end by itself\n%s", d.stderr)
	}
	return d.cmd.ProcessState.ExitCode()
}

// TestRestartTwiceAndStop: the process stays, the daemon in it is a new one, and no
// descriptor is left behind in it.
func TestRestartTwiceAndStop(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	before := d.endpoint()
	if before.PID != d.cmd.Process.Pid {
		t.Fatalf("pid %d wrote down %d", d.cmd.Process.Pid, before.PID)
	}
	d.storeOpen()
	files := d.descriptors()
	for range 2 {
		out := d.must("gateway", "restart")
		after := d.endpoint()
		if after.PID != before.PID || !after.StartedAt.After(before.StartedAt) || !strings.Contains(out, "pid "+strconv.Itoa(before.PID)+",") {
			t.Errorf("%+v, then %+v: %s", before, after, out)
		}
		before = after
		if r := d.invoke(token, "exec", map[string]any{"command": "echo answers"}); r["output"] != "answers\n" {
			t.Errorf("exec after the restart: %v", r)
		}
	}
	d.storeOpen()
	d.await("no descriptor is left over", func() bool { return d.descriptors() <= files+2 })
	d.must("gateway", "stop")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
	if out := d.must("gateway", "stop"); out != "no gateway runs\n" {
		t.Errorf("a second stop: %s", out)
	}
}

// storeOpen returns when the daemon has its store open, which it opens behind its start.
func (d *daemon) storeOpen() {
	d.t.Helper()
	if failure, ok := d.rpc("exec.approval.list", nil, nil); !ok || failure != "" {
		d.t.Fatalf("the store: %s", failure)
	}
}

func (d *daemon) descriptors() int {
	list, _ := os.ReadDir("/proc/" + strconv.Itoa(d.cmd.Process.Pid) + "/fd")
	return len(list)
}

// upgradable starts a daemon through a link, as package managers lay programs out.
func upgradable(t *testing.T) (d *daemon, link string) {
	t.Helper()
	p := newPlace(t, "")
	link = filepath.Join(p.home, "openclaw")
	if err := os.Symlink(binary, link); err != nil {
		t.Fatal(err)
	}
	original := binary
	binary = link
	defer func() { binary = original }()
	return p.start(), link
}

func replaceLink(t *testing.T, link, target string) {
	t.Helper()
	if err := os.Symlink(target, link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
}

// TestRestartRunsTheUpgradedProgram: what the path names by then is what runs; a file
// that cannot run is no outage.
func TestRestartRunsTheUpgradedProgram(t *testing.T) {
	d, link := upgradable(t)
	broken := filepath.Join(d.home, "broken")
	if err := os.WriteFile(broken, []byte("\x7fELF, not quite"), 0o755); err != nil {
		t.Fatal(err)
	}
	replaceLink(t, link, broken)
	before := d.endpoint()
	out, errOut, code := d.run("", "gateway", "restart")
	if code != 1 || !strings.Contains(errOut, "refused to restart") || !strings.Contains(errOut, "exec format error") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if now := d.endpoint(); now != before {
		t.Errorf("%+v, then %+v", before, now)
	}
	upgraded := filepath.Join(d.home, "openclaw-2")
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(upgraded, data, 0o755); err != nil {
		t.Fatal(err)
	}
	replaceLink(t, link, upgraded)
	d.must("gateway", "restart")
	if now := d.endpoint(); now.PID != before.PID || !now.StartedAt.After(before.StartedAt) {
		t.Errorf("%+v, then %+v", before, now)
	}
	if exe, err := os.Readlink("/proc/" + strconv.Itoa(before.PID) + "/exe"); err != nil || exe != upgraded {
		t.Errorf("%s runs, want %s (%v)", exe, upgraded, err)
	}
}

// TestRestartThatCannotBegin: a program that passes the look and then does not start
// is an outage that is told, by the exit codes of both and in the log.
func TestRestartThatCannotBegin(t *testing.T) {
	need(t, "sh")
	d, link := upgradable(t)
	trap := filepath.Join(d.home, "trap")
	script := "#!/bin/sh\ncase \"$*\" in *--check) rm -f \"$0\" '" + link + "'; exit 0;; esac\n"
	if err := os.WriteFile(trap, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	replaceLink(t, link, trap)
	ended := make(chan int, 1)
	go func() { ended <- d.ended() }()
	_, errOut, code := d.run("", "gateway", "restart")
	if code != 1 || !strings.Contains(errOut, "the gateway ended and did not come back") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if code := <-ended; code != 1 || !strings.Contains(d.stderr.String(), "error: restart: start "+link+": no such file") {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
}

// TestStopDuringRestart: a request to end counts over one to restart, whenever it comes.
func TestStopDuringRestart(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond, 60 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			d := newPlace(t, "").start()
			if err := d.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
				t.Fatal(err)
			}
			time.Sleep(pause) // to end it in another phase of the restart each time
			if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			// In the instant in which the new program cannot hear yet, SIGTERM is the kernel's.
			if code := d.ended(); code != 0 && code != -1 && code != 143 {
				t.Errorf("exit code %d\n%s", code, d.stderr)
			}
			if held, err := exec.Command("sh", "-c", "ls '"+d.state+"/gateway.json'").CombinedOutput(); err == nil {
				t.Errorf("left behind: %s", held)
			}
		})
	}
}

// TestRestartUnderCalls: callers see their calls end or refused connections, never a
// hang, and the daemon that comes back answers them.
func TestRestartUnderCalls(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	done := make(chan error, 1)
	go func() {
		req, err := http.NewRequest(http.MethodPost, d.url+"/tools/invoke", strings.NewReader(`{"tool":"exec","args":{"command":"sleep 60","yieldMs":60000}}`))
		if err != nil {
			done <- err
			return
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		done <- err
	}()
	d.await("the call runs", func() bool { return len(processesWith("sleep 60")) > 0 })
	for range 3 { // one after the other, as an impatient person does
		if err := d.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
	}
	d.must("gateway", "restart")
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the call hangs")
	}
	if r := d.invoke(token, "exec", map[string]any{"command": "echo answers"}); r["output"] != "answers\n" {
		t.Errorf("exec after the restart: %v", r)
	}
}

// TestRestartBesideAnotherStart: whoever starts a daemon in the instant in which the
// lock is free may win, but then the restart says so: there is one daemon, and no
// restart that claims what is not so.
func TestRestartBesideAnotherStart(t *testing.T) {
	d := newPlace(t, "").start()
	pid := d.endpoint().PID
	over := make(chan struct{})
	rival := make(chan *exec.Cmd, 1)
	go func() { // tries until it wins or the restart is over
		defer close(rival)
		for {
			select {
			case <-over:
				return
			default:
			}
			cmd := exec.Command(binary, "gateway", "run", "--banner=false")
			cmd.Env, cmd.Dir = d.env(), d.home
			var out strings.Builder
			cmd.Stderr = &out
			err := cmd.Start()
			if err == nil {
				kill := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGTERM) }) // it has won
				err = cmd.Wait()
				if !kill.Stop() {
					rival <- cmd
					return
				}
			}
			if text := out.String(); err == nil || !strings.Contains(text, "another gateway") && !strings.Contains(text, "address already in use") {
				t.Errorf("a second daemon ended with %v: %s", err, text)
			}
		}
	}()
	_, errOut, code := d.run("", "gateway", "restart")
	close(over)
	won := <-rival
	switch {
	case code == 0 && won == nil && d.endpoint().PID == pid:
	case code == 1 && won != nil && strings.Contains(errOut, "another gateway (pid "+strconv.Itoa(won.Process.Pid)+","):
		t.Log("the other daemon won")
	default:
		t.Errorf("exit code %d, another won: %v\n%s", code, won != nil, errOut)
	}
}
