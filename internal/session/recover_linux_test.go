package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"openclaw/internal/protocol"
)

// The roles of the test binary as another program. Each reads an order from standard
// input, prints its sessions as JSON lines and waits to be killed.
const (
	roleOwner = "owner" // opens a table and starts the plans
	roleFull  = "full"  // the same with files that may not grow past a limit, and runs them
)

// order is what a helper is to do.
type order struct {
	Dir     string
	Recover bool
	Plans   []Plan
	Limit   uint64 // of a file, with roleFull
}

func helper(role string) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	table, err := Open(Options{Dir: o.Dir, Recover: o.Recover})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if role == roleFull {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: o.Limit, Max: unix.RLIM_INFINITY}); err != nil {
			return err
		}
	}
	for _, p := range o.Plans {
		if role == roleFull {
			snap, err := table.Run(context.Background(), RunRequest{Plan: p, Yield: -1, MaxChars: 200_000}, nil)
			if err != nil {
				return err
			}
			if err := out.Encode(snap); err != nil {
				return err
			}
			continue
		}
		st, err := table.Start(p)
		if err != nil {
			return err
		}
		if err := out.Encode(st); err != nil {
			return err
		}
	}
	_, _ = in.ReadByte() // until told to leave
	return table.Close()
}

// program is another program of ours with sessions in a folder.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    *os.File
	out   *json.Decoder
	ended chan error
}

func startProgram(t *testing.T, role string, o order) *program {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	p := &program{t: t, cmd: cmd, in: inW, out: json.NewDecoder(outR), ended: make(chan error, 1)}
	go func() { p.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		p.kill()
		inW.Close()
		outR.Close()
	})
	if err := json.NewEncoder(inW).Encode(o); err != nil {
		t.Fatal(err)
	}
	return p
}

// next decodes what the program prints next.
func (p *program) next(v any) {
	p.t.Helper()
	within(p.t, "a line of the helper", func() {
		if err := p.out.Decode(v); err != nil {
			p.t.Errorf("the helper: %v", err)
		}
	})
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	p.wait()
}

func (p *program) wait() {
	p.t.Helper()
	if p.cmd == nil {
		return
	}
	within(p.t, "the end of the helper", func() { <-p.ended })
	p.ended <- nil
}

// leave asks the program to close its table.
func (p *program) leave() {
	p.t.Helper()
	p.in.Close()
	p.wait()
}

// S-8: what a killed program ran is ended and reads lost, with its log; what had ended
// keeps its exit and log.
func TestS8_Recover(t *testing.T) {
	dir := t.TempDir()
	running := script(t, "setsid bash -c 'echo $$ >grandchild; exec sleep 300' & echo $$ >pid; echo so far; wait", background, func(p *Plan) { p.SessionKey = "chat" })
	pty := script(t, "echo on a terminal; echo $$ >pid; cat", onTerminal)
	over := script(t, "for i in 1 2 3; do echo line $i; done; echo oops >&2; exit 7", background, func(p *Plan) { p.Streams = true })
	prog := startProgram(t, roleOwner, order{Dir: dir, Plans: []Plan{running, pty, over}})
	var first, second, third State
	prog.next(&first)
	prog.next(&second)
	prog.next(&third)
	grandchild := pidIn(t, running.Dir, "grandchild")
	waitFor(t, "the output and the end on disk", func() bool {
		return hasText(dir, first.ID+".log", "so far\n") && hasText(dir, second.ID+".log", "terminal") && hasText(dir, "*.journal", `"op":"end"`)
	})
	prog.kill()
	waitGone(t, first.Pid, second.Pid)

	var c told
	opt := c.options()
	opt.Dir, opt.Recover = dir, true
	table := openTable(t, opt)
	if lives(grandchild) {
		t.Errorf("the grandchild %d still lives", grandchild)
	}
	st, err := table.Get(context.Background(), agent, first.ID)
	if err != nil || st.Status != protocol.StatusLost || st.SessionKey != "chat" || st.ExitCode != nil || len(st.Warnings) == 0 {
		t.Errorf("lost session: %+v, %v", st, err)
	}
	if out, _ := pollAll(t, table, first.ID); out != "so far\n" {
		t.Errorf("output of the lost session %q", out)
	}
	if c.ends[third.ID] != 0 {
		t.Error("told again of an end that its own program knew")
	}
	for _, st := range []State{first, second} {
		if c.ends[st.ID] != 1 {
			t.Errorf("%s: told of its end %d times", st.Command, c.ends[st.ID])
		}
		table.Told(st.Key)
	}
	if st, err := table.Screen(context.Background(), agent, second.ID); err != nil || !st.PTY {
		t.Errorf("screen of the lost terminal: %v", err)
	}
	st, err = table.Get(context.Background(), agent, third.ID)
	if err != nil {
		t.Fatal(err)
	}
	exited(t, st, protocol.StatusCompleted, 7)
	if out := whole(t, table, third.ID); strings.Replace(out, "oops\n", "", 1) != "line 1\nline 2\nline 3\n" || len(out) != 26 { // order between the two is approximate
		t.Errorf("output of the finished session %q", out)
	}
	chunk, err := table.Read(t.Context(), ReadRequest{Agent: agent, ID: third.ID, Stream: "stderr", Max: 100})
	if err != nil || string(chunk.Data) != "oops\n" || !chunk.End {
		t.Errorf("standard error of the finished session: %+v, %v", chunk, err)
	}
	if _, err := table.Write(context.Background(), agent, first.ID, Input{Data: []byte("x")}); err == nil {
		t.Error("a lost session takes input")
	}
	closeTable(t, table) // and once more, in good order

	table = openTable(t, opt)
	if st, _ := table.Get(context.Background(), agent, first.ID); st.Status != protocol.StatusLost || c.ends[first.ID] != 1 {
		t.Errorf("after one more start: %s, told of %d times", st.Status, c.ends[first.ID])
	}
	for _, id := range []string{first.ID, second.ID, third.ID} {
		if err := table.Clear(context.Background(), agent, id); err != nil {
			t.Error(err)
		}
	}
	if n := table.logUsed.Load(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "*-*")); len(logs) != 0 {
		t.Errorf("files are left: %v", logs)
	}
}

// S-8: the sessions of a living program are not touched, nor are the logs that it has
// taken over from a dead one.
func TestS8_LivingProgram(t *testing.T) {
	dir := t.TempDir()
	done := script(t, "echo kept", background)
	dead := startProgram(t, roleOwner, order{Dir: dir, Plans: []Plan{done}})
	var old State
	dead.next(&old)
	waitFor(t, "the end on disk", func() bool { return hasText(dir, "*.journal", `"op":"end"`) })
	dead.kill()

	running := script(t, "echo mine; echo $$ >pid; cat", background)
	living := startProgram(t, roleOwner, order{Dir: dir, Recover: true, Plans: []Plan{running}})
	var st State
	living.next(&st)
	waitFor(t, "its output", func() bool { return hasText(dir, st.ID+".log", "mine") })

	table := openTable(t, Options{Dir: dir, Recover: true})
	if list := listed(t, table, AnyAgent); len(list) != 0 {
		t.Errorf("took over %+v", list)
	}
	if !lives(st.Pid) {
		t.Error("ended the session of a living program")
	}
	if !hasText(dir, st.ID+".log", "mine") || !hasText(dir, old.ID+".log", "kept") {
		t.Error("removed a log of a living program")
	}
	living.leave()
	if lives(st.Pid) {
		t.Error("a program that closed left its session running")
	}
}

// Two dead programs had used the same id; neither session vanishes.
func TestS8_SameID(t *testing.T) {
	dir := t.TempDir()
	one := script(t, "echo one", background)
	for range 2 {
		prog := startProgram(t, roleOwner, order{Dir: dir, Plans: []Plan{one}})
		var st State
		prog.next(&st)
		waitFor(t, "all ends on disk", func() bool {
			journals, _ := filepath.Glob(filepath.Join(dir, "*.journal"))
			for _, j := range journals {
				if data, _ := os.ReadFile(j); !bytes.Contains(data, []byte(`"op":"end"`)) {
					return false
				}
			}
			return len(journals) > 0
		})
		prog.kill()
	}
	table := openTable(t, Options{Dir: dir, Recover: true})
	list := listed(t, table, agent)
	if len(list) != 2 || list[0].ID == list[1].ID {
		t.Fatalf("list %+v", list)
	}
	for _, st := range list {
		if out := whole(t, table, st.ID); out != "one\n" {
			t.Errorf("%s: output %q", st.ID, out)
		}
	}
}

func hasText(dir, pattern, text string) bool {
	names, _ := filepath.Glob(filepath.Join(dir, "*"+pattern))
	for _, name := range names {
		if data, _ := os.ReadFile(name); bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// a disk that takes no more does not stop the command; what was there and the
// last output can be read.
func TestX21_FullDisk(t *testing.T) {
	dir := t.TempDir()
	small := script(t, "seq 1 5000; exit 3")                               // some 24,000 bytes
	large := script(t, "head -c 2000000 /dev/zero | tr '\\0' x; echo end") // far more than is kept
	prog := startProgram(t, roleFull, order{Dir: dir, Plans: []Plan{small, large}, Limit: 20_000})
	var snap Snapshot
	prog.next(&snap)
	exited(t, snap.State, protocol.StatusCompleted, 3)
	var want strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintln(&want, i)
	}
	if snap.Output != want.String() || len(snap.Warnings) == 0 || snap.LogPath != "" {
		t.Errorf("output of %d bytes, want %d; warnings %q, log %q", len(snap.Output), want.Len(), snap.Warnings, snap.LogPath)
	}
	snap = Snapshot{}
	prog.next(&snap)
	if !strings.HasSuffix(snap.Output, "xxend\n") || snap.Bytes != 2_000_004 || snap.Omitted == 0 {
		t.Errorf("%d bytes, %d left out, output ends %q", snap.Bytes, snap.Omitted, snap.Output[max(0, len(snap.Output)-20):])
	}
	prog.leave()
}

// the log's place is taken.
func TestX21_NoLog(t *testing.T) {
	table := openTable(t, Options{})
	p := script(t, "seq 1 30000; echo more; exit 2")
	if err := os.Mkdir(table.store.logBase(p.ID)+".log", 0o700); err != nil {
		t.Fatal(err)
	}
	snap := run(t, table, p)
	exited(t, snap.State, protocol.StatusCompleted, 2)
	if !strings.HasPrefix(snap.Output, "1\n2\n") || !strings.HasSuffix(snap.Output, "30000\nmore\n") || snap.Omitted != 0 || len(snap.Warnings) != 1 {
		t.Errorf("output of %d bytes, %d left out, warnings %q", len(snap.Output), snap.Omitted, snap.Warnings)
	}
	page, err := table.Log(context.Background(), agent, p.ID, 29_998, 2, 1000) // nothing is missing yet: lines can be counted
	if err != nil || page.Output != "29999\n30000\n" {
		t.Errorf("page %q, %v", page.Output, err)
	}
}

// A command that nothing we may do can end must not hang its caller nor Close.
func TestX6_CannotBeEnded(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: no process is out of reach of an ordinary user's test")
	}
	dir := t.TempDir()
	for d := dir; d != "/" && d != "/tmp"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "root-python")
	python, err := filepath.EvalSymlinks("/usr/bin/python3")
	if err != nil {
		t.Skip("needs /usr/bin/python3")
	}
	data, err := os.ReadFile(python)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(exe, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	helperPath := filepath.Join(dir, "helper")
	if data, err = os.ReadFile(os.Args[0]); err == nil {
		err = os.WriteFile(helperPath, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := script(t, "")
	p.Dir = dir
	p.Steps[0] = Step{Path: exe, Argv: []string{"python", "-c", "import os, time\nos.setuid(0)\nopen('pid', 'w').write(str(os.getpid()) + '\\n')\ntime.sleep(300)"}}
	input, err := json.Marshal(order{Dir: filepath.Join(dir, "table"), Plans: []Plan{p}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(helperPath)
	cmd.Env = append(os.Environ(), helperEnv+"="+roleOwner)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(input, '\n')); err != nil {
		t.Fatal(err)
	}
	endLater(t, pidIn(t, dir, "pid"))
	in.Close() // it calls Close
	begun := time.Now()
	within(t, "the end of Close", func() { err = cmd.Wait() })
	if err == nil || !strings.Contains(stderr.String(), "could not be ended") {
		t.Errorf("after %v: %v, %q", time.Since(begun), err, stderr.String())
	}
}
