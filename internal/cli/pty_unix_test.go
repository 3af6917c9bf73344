//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"openclaw/internal/client"
)

// person is somebody at a terminal who types and reads.
type person struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	tty    *os.File // the program's side, kept open to look at its modes

	mu   sync.Mutex // guards seen
	seen bytes.Buffer
	done chan struct{}
}

// atTerminal starts the program in a terminal of 100x30.
func atTerminal(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, master: master, tty: tty, done: make(chan struct{})}
	p.size(100, 30)
	p.cmd = exec.Command("openclaw", args...)
	p.cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			p.mu.Lock()
			p.seen.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = tty.Close()
		_ = master.Close()
		<-p.done
	})
	return p
}

func (p *person) size(cols, rows uint16) {
	p.t.Helper()
	if err := pty.Setsize(p.master, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits for text and forgets what came up to its end.
func (p *person) sees(text string) {
	p.t.Helper()
	if !p.seesWithin(text, 20*time.Second) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%q did not come; there is %q", text, p.seen.String())
	}
}

func (p *person) seesWithin(text string, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		p.mu.Lock()
		_, rest, ok := bytes.Cut(p.seen.Bytes(), []byte(text))
		if ok {
			kept := bytes.Clone(rest)
			p.seen.Reset()
			p.seen.Write(kept)
		}
		p.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

// leaves waits for the end and returns the exit code.
func (p *person) leaves() int {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		p.t.Fatal("the program did not end")
		return -1
	}
}

// modes are the terminal's settings.
func (p *person) modes() *term.State {
	p.t.Helper()
	state, err := term.GetState(int(p.tty.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}

// bothWays runs a test against a daemon and without one.
func bothWays(t *testing.T, test func(t *testing.T, env []string)) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	dir := func(t *testing.T) string {
		path := t.TempDir() + "/state"
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("in process", func(t *testing.T) { test(t, []string{"OPENCLAW_STATE_DIR=" + dir(t)}) })
	t.Run("daemon", func(t *testing.T) {
		state := dir(t)
		env := []string{"OPENCLAW_STATE_DIR=" + state}
		startDaemon(t, state, env)
		test(t, env)
	})
}

// startDaemon runs a daemon of the program until the test ends.
func startDaemon(t *testing.T, state string, env []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("openclaw", "gateway", "run", "--port", "0")
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("gateway: %s", &out)
		}
	})
	for range 1000 {
		if _, found, err := client.Find(state); err == nil && found {
			return cmd
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no daemon after 10 s: %s", &out)
	return nil
}

// C-31: openclaw exec -it is a terminal: keys, size, Ctrl-C, the exit code, and the
// person's own terminal as it was.
func TestC31_Interactive(t *testing.T) {
	bothWays(t, func(t *testing.T, env []string) {
		p := atTerminal(t, env, "exec", "-it", "--", "bash", "--norc", "--noprofile")
		before := p.modes()
		p.types("PS1='rea''dy$ '\r") // typed before it reads: nothing may get lost
		p.sees("ready$ ")

		sized := func(want string) {
			t.Helper()
			for range 50 { // the new size may need a moment to arrive
				p.types("stty size\r")
				if p.seesWithin(want, 200*time.Millisecond) {
					p.sees("ready$ ")
					return
				}
			}
			t.Errorf("the size did not become %s", want)
		}
		sized("\r30 100\r")
		p.size(77, 11)
		sized("\r11 77\r")

		p.types("printf '<%s>' \"$TERM\"; test -t 0 && echo \" is$((1+1))\"\r")
		p.sees("<xterm> is2")
		p.sees("ready$ ")

		p.types("echo abX\x7fc\r") // a key that edits the line
		p.sees("\rabc\r")
		p.sees("ready$ ")

		p.types("sleep 1000\r")
		p.sees("1000")
		time.Sleep(50 * time.Millisecond) // until the shell has started it
		p.types("\x03")
		p.sees("ready$ ")
		p.types("echo code $?\r")
		p.sees("code 130")

		p.types("exit 7\r")
		if code := p.leaves(); code != 7 {
			t.Errorf("exit code %d, want 7", code)
		}
		if !reflect.DeepEqual(before, p.modes()) {
			t.Error("the terminal was not given back as it was")
		}
	})
}

// Every key is there and back before a person could notice.
func TestC31_KeysAreFast(t *testing.T) {
	bothWays(t, func(t *testing.T, env []string) {
		p := atTerminal(t, env, "exec", "-it", "--", "cat")
		p.types("start\r")
		p.sees("start\r\nstart")
		var worst time.Duration
		start := time.Now()
		const keys = 50
		for i := range keys {
			began := time.Now()
			p.types(fmt.Sprintf("<%d>", i))
			p.sees(fmt.Sprintf("<%d>", i))
			worst = max(worst, time.Since(began))
		}
		t.Logf("mean %v, worst %v", time.Since(start)/keys, worst)
		if mean := time.Since(start) / keys; mean > 50*time.Millisecond {
			t.Errorf("a key takes %v", mean)
		}
		p.types("\r\x04")
		if code := p.leaves(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// C-31: signals reach the command; the second SIGTERM ends what does not listen.
func TestC31_Signals(t *testing.T) {
	bothWays(t, func(t *testing.T, env []string) {
		for _, tt := range []struct {
			name    string
			command string
			send    []syscall.Signal
			want    int
		}{
			{"handled", `trap 'exit 9' INT; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGINT}, 9},
			{"not handled", `echo up; sleep 1000`, []syscall.Signal{syscall.SIGINT}, 130},
			{"terminate", `echo up; exec sleep 1000`, []syscall.Signal{syscall.SIGTERM}, 143},
			{"hang up", `trap 'exit 8' HUP; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGHUP}, 8},
			{"quit", `trap 'exit 6' QUIT; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGQUIT}, 6},
			{"two interrupts", `trap '' INT; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130},
			{"two hang-ups", `trap '' HUP; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, 129},
			{"two quits", `trap '' QUIT; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGQUIT, syscall.SIGQUIT}, 131},
			{"two terminates", `trap '' TERM; echo up; while :; do sleep 0.02; done`, []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143},
		} {
			t.Run(tt.name, func(t *testing.T) {
				cmd := exec.Command("openclaw", "exec", "--", tt.command)
				cmd.Env = append(os.Environ(), env...)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := out.Read(make([]byte, 8)); err != nil {
					t.Fatal(err)
				}
				for _, s := range tt.send {
					if err := cmd.Process.Signal(s); err != nil {
						t.Fatal(err)
					}
					time.Sleep(50 * time.Millisecond) // two at once may count as one
				}
				_ = cmd.Wait() // the code says it
				if got := cmd.ProcessState.ExitCode(); got != tt.want {
					t.Errorf("exit code %d, want %d", got, tt.want)
				}
			})
		}
	})
}

// A reader that leaves ends the command, as in any pipeline.
func TestC31_ReaderLeaves(t *testing.T) {
	bothWays(t, func(t *testing.T, env []string) {
		cmd := exec.Command("bash", "-c", `openclaw exec -- 'echo $$ >pid; exec yes' | head -1; echo ${PIPESTATUS[0]}`)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "y\n141\n" {
			t.Errorf("%q, %v", out, err)
		}
		pid, err := os.ReadFile(cmd.Dir + "/pid")
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("the command goes on without a reader")
	})
}

// A daemon that is killed in the middle is an error of ours that says so, with 125.
func TestC30_DaemonDies(t *testing.T) {
	state := t.TempDir() + "/state"
	env := []string{"OPENCLAW_STATE_DIR=" + state}
	daemon := startDaemon(t, state, env)
	cmd := exec.Command("openclaw", "exec", "--", "echo up; sleep 1000")
	cmd.Env = append(os.Environ(), env...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Process.Kill()
	_ = cmd.Wait() // the code says it
	if got := cmd.ProcessState.ExitCode(); got != 125 || !strings.Contains(problem.String(), "ended the connection") {
		t.Errorf("exit code %d: %s", got, &problem)
	}

	_ = daemon.Wait() // it was killed
}
