package proc

import (
	"strings"
	"testing"
	"time"
)

func terminalSpec(t *testing.T, text string) Spec {
	spec := script(t, text)
	spec.PTY = &Size{Cols: 97, Rows: 31}
	return spec
}

func TestPTY_SizeAndResize(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, terminalSpec(t, "trap 'stty size' WINCH; stty size; tty; while :; do sleep 0.05; done"))
	c.waitOutput("31 97\r\n/dev/pts/")
	if err := c.Resize(Size{Cols: 41, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	c.waitOutput("12 41")
	for _, size := range []Size{{}, {Cols: -1, Rows: 5}, {Cols: 80, Rows: 70000}} {
		if err := c.Resize(size); err == nil {
			t.Errorf("resized to %v", size)
		}
	}
	// The sizes above must not have made it blocking: it still can be interrupted.
	c.Out.Interrupt()
	c.readers.Wait()
	if err := start(t, s, script(t, "true")).Resize(Size{Cols: 1, Rows: 1}); err == nil {
		t.Error("a pipe was resized")
	}
}

// pro-0015: C-c comes to the program as SIGINT from its terminal.
func TestPTY_ControlC(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, terminalSpec(t, "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.05; done"))
	c.waitOutput("ready")
	if _, err := c.In.Write([]byte{3}, deadline); err != nil {
		t.Fatal(err)
	}
	if exit, _ := c.wait(); exit.Code != 9 {
		t.Error(exit)
	}
	if got := c.output(); !strings.Contains(got, "interrupted") {
		t.Errorf("%q", got)
	}
}

func TestPTY_EndOfFile(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, terminalSpec(t, "cat -v; echo over"))
	if _, err := c.In.Write([]byte("line\n"), deadline); err != nil {
		t.Fatal(err)
	}
	c.waitOutput("line\r\nline")
	if err := c.In.Close(); err != nil {
		t.Fatal(err)
	}
	c.wait()
	if got := c.output(); !strings.Contains(got, "over") {
		t.Errorf("%q", got)
	}
	if err := c.In.Close(); err != nil {
		t.Errorf("close after the end: %v", err)
	}
}

// All that was written before the exit can be read, and then the end is seen.
func TestPTY_LastOutput(t *testing.T) {
	s := newStarter(t)
	for range 20 {
		c := start(t, s, terminalSpec(t, "seq 1 2000"))
		if exit, _ := c.wait(); exit.Code != 0 {
			t.Fatal(exit)
		}
		if got := c.output(); !strings.HasSuffix(got, "\r\n1999\r\n2000\r\n") {
			t.Fatalf("ends with %q", got[max(0, len(got)-40):])
		}
	}
}

// Something left running that holds the terminal cannot hold a reader.
func TestX6_PTYHeldByLeftover(t *testing.T) {
	s := newStarter(t)
	spec := terminalSpec(t, leaver+waitLeaver+"echo said; exit 2")
	c := start(t, s, spec)
	exit, _ := c.wait()
	if exit.Code != 2 {
		t.Error(exit)
	}
	c.Out.Interrupt()
	read := make(chan struct{})
	go func() { c.readers.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(deadline):
		t.Fatal("the reader does not come back")
	}
	left := waitPid(t, spec.Dir, "pid")
	c.End(t.Context(), time.Second)
	waitGone(t, left)
}

// An interactive shell ignores SIGTERM; ending it takes the hangup, not the grace.
func TestX6_EndInteractiveShell(t *testing.T) {
	s := newStarter(t)
	path := lookPath(t, "bash")
	spec := terminalSpec(t, "")
	spec.Argv = []string{path, "--norc", "--noprofile", "-i"}
	spec.Env = append(spec.Env, "PS1=prompt> ", "TERM=dumb")
	c := start(t, s, spec)
	c.waitOutput("prompt> ")
	if _, err := c.In.Write([]byte("sleep 300 &\n"), deadline); err != nil {
		t.Fatal(err)
	}
	c.waitOutput("[1] ")
	begun := time.Now()
	if left := c.End(t.Context(), deadline); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if took := time.Since(begun); took > deadline/2 {
		t.Errorf("took %v", took)
	}
	c.wait()
}
