package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// raw is a program on a terminal in raw mode that shows every byte it gets in hex.
const raw = `stty raw -echo; printf ready; exec od -An -tx1 -v -w1`

func rawTerminal(t *testing.T, table *Table, before string) Plan {
	t.Helper()
	for _, tool := range []string{"stty", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("these tests need %s: %v", tool, err)
		}
	}
	p := script(t, before+raw, onTerminal)
	start(t, table, p)
	pollUntil(t, table, p.ID, "ready")
	return p
}

// arrives checks which bytes reach the program.
func arrives(t *testing.T, table *Table, p Plan, in Input, want string) {
	t.Helper()
	if _, err := table.Write(context.Background(), agent, p.ID, in); err != nil {
		t.Fatal(err)
	}
	got := ""
	for end := time.Now().Add(deadline); len(got) < len(want); {
		got += strings.Join(strings.Fields(poll(t, table, p.ID, time.Second).Output), "")
		if time.Now().After(end) {
			break
		}
	}
	if got != want {
		t.Errorf("%+v arrives as %s, want %s", in, got, want)
	}
}

// pro-0014, pro-0021: cursor keys in both modes, and many keys in order.
func TestS2_Keys(t *testing.T) {
	table := openTable(t, Options{})
	arrives(t, table, rawTerminal(t, table, ""), Input{Keys: []string{"Up"}}, "1b5b41")
	p := rawTerminal(t, table, `printf '\033[?1h';`)
	arrives(t, table, p, Input{Keys: []string{"Up"}}, "1b4f41")
	arrives(t, table, p, Input{Literal: "ab", Hex: []string{"00ff"}, Keys: []string{"Down", "Left", "C-x", "Enter", "F1"}},
		"616200ff"+"1b4f42"+"1b4f44"+"18"+"0d"+"1b4f50")
}

// pro-0015: C-c is an interrupt from the terminal.
func TestS2_Interrupt(t *testing.T) {
	table := openTable(t, Options{})
	// The pause: the kernel sends the signal and then flushes the terminal's output.
	p := script(t, "trap 'sleep 0.2; echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done", onTerminal)
	start(t, table, p)
	pollUntil(t, table, p.ID, "ready")
	if _, err := table.Write(context.Background(), agent, p.ID, Input{Literal: "some text", Keys: []string{"C-c"}}); err != nil {
		t.Fatal(err)
	}
	out, st := pollAll(t, table, p.ID)
	if !strings.Contains(out, "interrupted") {
		t.Errorf("output %q", out)
	}
	exited(t, st, protocol.StatusCompleted, 5)
}

// pro-0017: an unknown key sends nothing at all.
func TestS2_UnknownKey(t *testing.T) {
	table := openTable(t, Options{})
	p := rawTerminal(t, table, "")
	n, err := table.Write(context.Background(), agent, p.ID, Input{Literal: "typed", Keys: []string{"Entr"}})
	if err == nil || n != 0 || !strings.Contains(err.Error(), "Entr") {
		t.Errorf("%d bytes, %v", n, err)
	}
	arrives(t, table, p, Input{Literal: "z"}, "7a") // the first byte it gets
}

// pro-0019, pro-0020: pastes are framed and cannot leave the frame.
func TestProcess_Paste(t *testing.T) {
	table := openTable(t, Options{})
	p := rawTerminal(t, table, "")
	arrives(t, table, p, Input{Paste: &Paste{Text: "a\nb", Bracketed: true}}, "1b5b3230307e"+"610d62"+"1b5b3230317e")
	arrives(t, table, p, Input{Paste: &Paste{Text: "x\x1b[201~y", Bracketed: true}}, "1b5b3230307e"+"7879"+"1b5b3230317e")
}

// pro-0037 and S-7: what cannot be done says so and changes nothing.
func TestS7_Errors(t *testing.T) {
	table := openTable(t, Options{})
	over := script(t, "exit 0", background)
	start(t, table, over)
	ended(t, table, over.ID)
	_, err := table.Write(context.Background(), agent, over.ID, Input{Data: []byte("x")})
	wantErr(t, err, ErrFinished)
	wantErr(t, table.Signal(context.Background(), agent, over.ID, "INT"), ErrFinished)
	wantErr(t, table.Resize(context.Background(), agent, over.ID, 10, 10), ErrFinished)

	pipe := script(t, "echo ready; cat", background)
	start(t, table, pipe)
	_, err = table.Write(context.Background(), agent, pipe.ID, Input{Keys: []string{"Up"}})
	wantErr(t, err, ErrNoTTY)
	wantErr(t, table.Resize(context.Background(), agent, pipe.ID, 10, 10), ErrNoTTY)
	_, err = table.Screen(context.Background(), agent, pipe.ID)
	wantErr(t, err, ErrNoTTY)
	if err := table.Clear(context.Background(), agent, pipe.ID); err == nil {
		t.Error("a running session was cleared")
	}
	if err := table.Signal(context.Background(), agent, pipe.ID, "NOSUCH"); err == nil {
		t.Error("an unknown signal was sent")
	}
	closed := script(t, "sleep 300", func(p *Plan) { p.Background = true })
	start(t, table, closed)
	_, err = table.Write(context.Background(), agent, closed.ID, Input{Data: []byte("x")})
	wantErr(t, err, ErrNoStdin)
	_, err = table.Write(context.Background(), agent, "no-such", Input{})
	wantErr(t, err, ErrNotFound)

	if n, err := table.Write(context.Background(), agent, pipe.ID, Input{Data: []byte("still here\n"), EOF: true}); n != 11 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := table.Write(context.Background(), agent, pipe.ID, Input{Data: []byte("x")}); err == nil {
		t.Error("a closed input takes bytes")
	}
	out, st := pollAll(t, table, pipe.ID)
	if out != "ready\nstill here\n" {
		t.Errorf("output %q", out)
	}
	exited(t, st, protocol.StatusCompleted, 0)
}

// S-7: a full pipe gives back how many bytes went in, and killing lets a waiting
// writer go.
func TestS7_FullPipe(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "sleep 300", background)
	start(t, table, p)
	n, err := table.Write(context.Background(), agent, p.ID, Input{Data: make([]byte, 1<<20)})
	if !errors.Is(err, proc.ErrInputFull) || n == 0 || n == 1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := table.Write(context.Background(), agent, p.ID, Input{Data: []byte("x")})
		got <- err
	}()
	if _, _, err := table.Kill(context.Background(), agent, p.ID); err != nil {
		t.Fatal(err)
	}
	within(t, "the writer", func() {
		if err := <-got; err == nil {
			t.Error("a killed program took bytes")
		}
	})
}

// pro-0030: killing a terminal session leaves a plain one alone.
func TestProcess_KillTerminal(t *testing.T) {
	table := openTable(t, Options{})
	pty, plain := script(t, "cat", onTerminal), script(t, "cat", background)
	start(t, table, pty)
	start(t, table, plain)
	st, was, err := table.Kill(context.Background(), agent, pty.ID)
	if err != nil || !was || st.Status != protocol.StatusKilled {
		t.Errorf("%+v, %t, %v", st, was, err)
	}
	if _, err := table.Write(context.Background(), agent, plain.ID, Input{Data: []byte("on\n")}); err != nil {
		t.Error(err)
	}
	pollUntil(t, table, plain.ID, "on")
}

func TestS4_WaitingForInput(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "echo question; cat", background, func(p *Plan) { p.IdleInput = 50 * time.Millisecond })
	start(t, table, p)
	pollUntil(t, table, p.ID, "question")
	waitFor(t, "waitingForInput", func() bool { st, _ := table.Get(context.Background(), agent, p.ID); return st.WaitingForInput })
	quiet := script(t, "sleep 300", func(p *Plan) { p.Background, p.IdleInput = true, 0 })
	if st := start(t, table, quiet); st.WaitingForInput || st.StdinOpen {
		t.Errorf("a session without input waits for it: %+v", st)
	}
}

func TestProcess_Screen(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, `trap 'stty size' WINCH; printf 'top\033[5;3Hmiddle'; while :; do sleep 0.05; done`, onTerminal, func(p *Plan) { p.Cols, p.Rows = 30, 6 })
	start(t, table, p)
	pollUntil(t, table, p.ID, "middle")
	shown, err := table.Screen(context.Background(), agent, p.ID)
	screen := shown.Screen
	if err != nil || screen.Cols != 30 || screen.Rows != 6 || screen.Lines[0] != "top" || screen.Lines[4] != "  middle" {
		t.Errorf("screen %+v, %v", screen, err)
	}
	if err := table.Resize(context.Background(), agent, p.ID, 0, 5); err == nil {
		t.Error("a terminal of no columns")
	}
	if err := table.Resize(context.Background(), agent, p.ID, 33, 7); err != nil {
		t.Fatal(err)
	}
	pollUntil(t, table, p.ID, "7 33")
}

// A write of more than a pipe holds arrives whole when the program reads.
func TestS7_LargeWrite(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "cat >copy", background)
	start(t, table, p)
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for rest := data; len(rest) > 0; {
		n, err := table.Write(context.Background(), agent, p.ID, Input{Data: rest})
		if err != nil && !errors.Is(err, proc.ErrInputFull) {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if _, err := table.Write(context.Background(), agent, p.ID, Input{EOF: true}); err != nil {
		t.Fatal(err)
	}
	ended(t, table, p.ID)
	if got, err := os.ReadFile(p.Dir + "/copy"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
}
