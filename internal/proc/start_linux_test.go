package proc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExit(t *testing.T) {
	s := newStarter(t)
	for _, c := range []struct {
		script string
		want   Exit
	}{
		{"exit 0", Exit{}},
		{"exit 3", Exit{Code: 3}},
		{"exit 255", Exit{Code: 255}},
		{"kill -SEGV $$", Exit{Code: -1, Signal: "SIGSEGV"}}, // pro-0038
		{"kill -KILL $$", Exit{Code: -1, Signal: "SIGKILL"}},
		{"kill -36 $$", Exit{Code: -1, Signal: "SIG36"}},                      // a signal without a name
		{"(sleep 0.1; kill -CONT $$) & kill -STOP $$; exit 4", Exit{Code: 4}}, // a stop is no end
	} {
		t.Run(c.script, func(t *testing.T) {
			exit, _ := start(t, s, script(t, c.script)).wait()
			if exit != c.want {
				t.Errorf("exit %+v, want %+v", exit, c.want)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	s := newPlainStarter(t)
	files := openFiles(t)
	good := script(t, "true")
	for _, c := range []struct {
		name   string
		change func(*Spec)
		is     error
		text   string
	}{
		{"no program", func(s *Spec) { s.Path = "/nosuch/program" }, syscall.ENOENT, "/nosuch/program"},
		{"no directory", func(s *Spec) { s.Dir = "/nosuch/dir" }, syscall.ENOENT, "in /nosuch/dir"},
		{"not executable", func(s *Spec) { s.Path = "/etc/passwd" }, syscall.EACCES, "/etc/passwd"},
		{"NUL", func(s *Spec) { s.Argv = []string{"a\x00b"} }, syscall.EINVAL, ""},
		{"long argument", func(s *Spec) { s.Argv = append(s.Argv, strings.Repeat("x", 200_000)) }, syscall.E2BIG, "too long for this system"},
		{"long environment", func(s *Spec) { s.Env = append(s.Env, "X="+strings.Repeat("x", 200_000)) }, syscall.E2BIG, "put the text in a file"},
		{"no size", func(s *Spec) { s.PTY = &Size{} }, nil, "0 columns"},
		{"large size", func(s *Spec) { s.PTY = &Size{Cols: 80, Rows: 70_000} }, nil, "70000 rows"},
	} {
		for _, mode := range []string{"pipes", "split", "stdin", "pty"} {
			spec := good
			spec.Split, spec.Stdin = mode == "split", mode == "stdin"
			if mode == "pty" {
				spec.PTY = &Size{Cols: 80, Rows: 24}
			}
			c.change(&spec)
			p, err := s.Start(spec)
			if err == nil {
				p.End(t.Context(), 0)
				p.Wait()
				t.Fatalf("%s, %s: started", c.name, mode)
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || errors.Is(err, ErrNoPTY) {
				t.Errorf("%s, %s: %v", c.name, mode, err)
			}
		}
	}
	if now := openFiles(t); now != files {
		t.Errorf("%d descriptors before, %d after", files, now)
	}
}

// X-19, pro-0035: without Stdin a program that reads gets end of file at once.
func TestX19_StdinNull(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, "cat; echo end"))
	if got := c.output(); got != "end\n" || c.In != nil {
		t.Errorf("output %q, input %v", got, c.In)
	}
}

func TestX19_StdinPipe(t *testing.T) {
	s := newStarter(t)
	spec := script(t, "read a; echo got $a; cat; echo end")
	spec.Stdin = true
	c := start(t, s, spec)
	if n, err := c.In.Write([]byte("one\n"), deadline); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	c.waitOutput("got one\n")
	if c.In.Closed() {
		t.Error("closed too early")
	}
	if n, err := c.In.Write([]byte("two\n"), deadline); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	for range 2 {
		if err := c.In.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.output(); got != "got one\ntwo\nend\n" {
		t.Errorf("output %q", got)
	}
	if _, err := c.In.Write([]byte("x"), time.Second); !errors.Is(err, ErrInputClosed) {
		t.Errorf("write after close: %v", err)
	}
}

func TestStdinClosedByProgram(t *testing.T) {
	s := newStarter(t)
	spec := script(t, "exec 0<&-; echo closed; exec sleep 300")
	spec.Stdin = true
	c := start(t, s, spec)
	c.waitOutput("closed")
	if _, err := c.In.Write([]byte("x"), deadline); !errors.Is(err, ErrInputClosed) {
		t.Errorf("write: %v", err)
	}
}

// S-7: a program that does not read takes what fits, and the count says how much.
func TestS7_FullPipe(t *testing.T) {
	s := newStarter(t)
	spec := script(t, "read -r go <fifo; wc -c")
	if err := syscall.Mkfifo(filepath.Join(spec.Dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec.Stdin = true
	c := start(t, s, spec)
	n, err := c.In.Write(make([]byte, 1<<20), 50*time.Millisecond)
	if !errors.Is(err, ErrInputFull) || n < 4096 || n >= 1<<20 {
		t.Fatalf("wrote %d: %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(spec.Dir, "fifo"), []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := c.In.Write(make([]byte, 1<<20), deadline)
	if m != 1<<20 || err != nil {
		t.Fatalf("wrote %d: %v", m, err)
	}
	c.In.Close()
	if got := strings.TrimSpace(c.output()); got != strconv.Itoa(n+m) {
		t.Errorf("the program read %s bytes, %d were said to have gone in", got, n+m)
	}
}

// A write that waits for a reader comes back when the process ends, also when
// something left running keeps the pipe open.
func TestS7_BlockedWriteAndExit(t *testing.T) {
	s := newStarter(t)
	spec := script(t, leaver+waitLeaver+"read -r x <fifo; exit 5")
	if err := syscall.Mkfifo(filepath.Join(spec.Dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec.Stdin = true
	c := start(t, s, spec)
	waitPid(t, spec.Dir, "pid")
	wrote := make(chan error, 1)
	go func() {
		_, err := c.In.Write(make([]byte, 1<<20), deadline)
		wrote <- err
	}()
	if err := os.WriteFile(filepath.Join(spec.Dir, "fifo"), []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if exit, _ := c.wait(); exit.Code != 5 {
		t.Error(exit)
	}
	if err := <-wrote; err == nil {
		t.Error("the write went in")
	}
	if took := time.Since(begun); took > deadline/2 {
		t.Errorf("took %v", took)
	}
	if _, err := c.In.Write([]byte("x"), deadline); !errors.Is(err, ErrInputClosed) {
		t.Errorf("write after the end: %v", err)
	}
}

// one pipe keeps the order; two keep the order within each.
func TestX4_Streams(t *testing.T) {
	s := newStarter(t)
	text := "for i in $(seq 200); do echo o$i; echo e$i >&2; done"
	var both, outs, errs strings.Builder
	for i := 1; i <= 200; i++ {
		outs.WriteString("o" + strconv.Itoa(i) + "\n")
		errs.WriteString("e" + strconv.Itoa(i) + "\n")
		both.WriteString("o" + strconv.Itoa(i) + "\ne" + strconv.Itoa(i) + "\n")
	}
	if got := start(t, s, script(t, text)).output(); got != both.String() {
		t.Errorf("one pipe: %q", got)
	}
	spec := script(t, text)
	spec.Split = true
	c := start(t, s, spec)
	if got := c.output(); got != outs.String() {
		t.Errorf("stdout: %q", got)
	}
	if got := c.err.String(); got != errs.String() {
		t.Errorf("stderr: %q", got)
	}
}

// The marker stands once in the environment, whatever this program inherited.
func TestMarkerReplacesInherited(t *testing.T) {
	s := newStarter(t)
	for _, marker := range []string{testMarker(t), ""} {
		spec := script(t, "env | grep ^"+MarkerEnv+"=; tr '\\0' '\\n' </proc/$$/environ | grep -c ^"+MarkerEnv+"=; true")
		spec.Env = append(spec.Env, MarkerEnv+"=outer", MarkerEnv+"X=kept")
		spec.Marker = marker
		want := MarkerEnv + "=" + marker + "\n1\n"
		if marker == "" {
			want = "0\n"
		}
		if got := start(t, s, spec).output(); got != want {
			t.Errorf("marker %q: %q", marker, got)
		}
		if spec.Env[len(spec.Env)-1] != MarkerEnv+"X=kept" {
			t.Error("the caller's environment was changed")
		}
	}
}

func TestOutputInterrupt(t *testing.T) {
	s := newStarter(t)
	for _, tty := range []bool{false, true} {
		spec := script(t, "read x")
		spec.Stdin = true
		if tty {
			spec.PTY = &Size{Cols: 80, Rows: 24}
		}
		p, err := s.Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() { got <- p.Out.Read(func([]byte) {}) }()
		p.Out.Interrupt()
		select {
		case err := <-got:
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("pty %v: read: %v", tty, err)
			}
		case <-time.After(deadline):
			t.Fatalf("pty %v: Interrupt does not wake a read", tty)
		}
		if err := p.Out.Read(func([]byte) {}); !errors.Is(err, ErrInterrupted) {
			t.Errorf("pty %v: second read: %v", tty, err)
		}
		if p.Out.Drain(func([]byte) {}) {
			t.Errorf("pty %v: drain saw the end", tty)
		}
		p.Out.Resume()
		go func() { got <- p.Out.Read(func([]byte) {}) }()
		p.Out.Close()
		if err := <-got; err != io.EOF {
			t.Errorf("pty %v: read of a closed output: %v", tty, err)
		}
		p.End(t.Context(), 0)
		p.Wait()
	}
}

// Something left running that writes without a pause must not hold Drain for ever.
func TestX6_DrainIsBounded(t *testing.T) {
	s := newStarter(t)
	spec := script(t, "exec yes")
	p, err := s.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Out.Close()
	done := make(chan bool)
	go func() {
		done <- p.Out.Drain(func([]byte) { time.Sleep(time.Millisecond) }) // slower than yes
	}()
	select {
	case eof := <-done:
		if eof {
			t.Error("drain saw an end")
		}
	case <-time.After(deadline):
		t.Error("drain does not return")
	}
	p.End(t.Context(), 0)
	p.Wait()
}

func TestSignalByName(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, "trap 'echo usr1; exit 7' USR1; echo ready; while :; do sleep 0.05; done"))
	c.waitOutput("ready")
	if err := c.Signal("nosuch"); err == nil {
		t.Error("an unknown name was taken")
	}
	if err := c.Signal("usr1"); err != nil {
		t.Fatal(err)
	}
	if exit, _ := c.wait(); exit.Code != 7 {
		t.Error(exit)
	}
	if err := c.Signal("TERM"); err == nil {
		t.Error("a process that has ended was signalled")
	}
}

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]syscall.Signal{
		"INT": syscall.SIGINT, "sigterm": syscall.SIGTERM, " Hup ": syscall.SIGHUP, "SIGUSR1": syscall.SIGUSR1, "": 0, "9": 0, "SIG": 0,
	} {
		if got, err := ParseSignal(name); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q = %v, %v", name, got, err)
		}
	}
}
