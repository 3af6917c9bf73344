package proc

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	roleStart = "start" // start the Spec that stands on standard input, print its Ref, wait for ever
)

func helper(role string) error {
	s, err := NewStarter()
	if err != nil {
		return err
	}
	var spec Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return err
	}
	p, err := s.Start(spec)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(p.Ref()); err != nil {
		return err
	}
	for p.Out.Read(func([]byte) {}) == nil {
	}
	select {}
}

// program is another program of ours that has started something.
type program struct {
	cmd   *exec.Cmd
	ref   Ref
	ended chan struct{}
}

func startProgram(t *testing.T, spec Spec) *program {
	t.Helper()
	input, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+roleStart)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), os.Stderr
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: cmd, ended: make(chan struct{})}
	go func() { // at once: an open Starter reaps what nobody waits for
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil && err != io.EOF || json.Unmarshal(line, &p.ref) != nil {
		t.Fatalf("the other program says %q: %v", line, err)
	}
	return p
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// S-8: a killed daemon takes its children with it (parent-death signal).
func TestS8_ParentDeath(t *testing.T) {
	for _, tty := range []bool{false, true} {
		spec := script(t, "echo $$ >pid; trap '' HUP TERM; while :; do sleep 0.05; done")
		if tty {
			spec.PTY = &Size{Cols: 80, Rows: 24}
		}
		p := startProgram(t, spec)
		child := waitPid(t, spec.Dir, "pid")
		if child.pid != p.ref.Pid || !alive(child) {
			t.Fatalf("%+v, %+v", child, p.ref)
		}
		p.kill()
		waitGone(t, child)
	}
}

// S-8: what outlives a killed daemon is found by the marker.
func TestS8_LostByMarker(t *testing.T) {
	spec := script(t, `setsid bash -c 'echo $$ >pid; env -i sleep 300 & echo $! >below; wait' &
		bash -c 'trap "" TERM; echo $$ >stubborn; while :; do sleep 0.05; done' & wait`)
	p := startProgram(t, spec)
	var children []stat
	for _, name := range []string{"pid", "below", "stubborn"} {
		children = append(children, waitPid(t, spec.Dir, name))
	}
	p.kill()
	other := p.ref
	other.Marker += "x"
	other.Pid, other.Cgroup = 1<<30, ""
	if found, left := Lost(t.Context(), []Ref{other}, nil, 0); found != 0 || len(left) != 0 {
		t.Errorf("with another marker: %d, %v", found, left)
	}
	old := p.ref
	old.BootID = "another boot"
	if found, left := Lost(t.Context(), []Ref{old}, nil, 0); found != 0 || len(left) != 0 {
		t.Errorf("with another boot: %d, %v", found, left)
	}
	for _, c := range children {
		if !alive(c) {
			t.Fatalf("%+v was ended by another's ref", c)
		}
	}
	found, left := Lost(t.Context(), []Ref{other, p.ref}, nil, 300*time.Millisecond)
	if found < 3 || len(left) != 0 {
		t.Errorf("found %d, left %v", found, left)
	}
	for _, c := range children {
		if alive(c) {
			t.Errorf("%+v lives", c)
		}
	}
	if found, _ := Lost(t.Context(), []Ref{p.ref}, nil, time.Second); found != 0 {
		t.Errorf("found %d more", found)
	}
	if found, _ := Lost(t.Context(), nil, nil, time.Second); found != 0 {
		t.Errorf("found %d without a ref", found)
	}
}

// S-8: without a marker the pid counts only with the time of its start.
func TestS8_LostByPid(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, "exec env -i sleep 300"))
	waitFor(t, "exec", func() bool { st, _ := readStat(c.ref.Pid); return st.comm == "sleep" })
	st, ok := readStat(c.ref.Pid)
	if !ok || !startedWithin(st, c.ref) {
		t.Fatalf("%+v is not within %+v", st, c.ref)
	}
	ref := c.Ref()
	ref.Marker, ref.Cgroup = "", ""
	for name, change := range map[string]func(*Ref){
		"started later":      func(r *Ref) { r.Before, r.After = r.Before-time.Minute, r.After-time.Minute },
		"started before":     func(r *Ref) { r.Before, r.After = r.Before+time.Minute, r.After+time.Minute },
		"in another boot":    func(r *Ref) { r.BootID = "x" },
		"in no boot":         func(r *Ref) { r.BootID = "" },
		"with another pid":   func(r *Ref) { r.Pid = 1 << 30 },
		"without any figure": func(r *Ref) { *r = Ref{Pid: r.Pid} },
	} {
		recycled := ref
		change(&recycled)
		if found, _ := Lost(t.Context(), []Ref{recycled}, nil, 0); found != 0 || !alive(st) {
			t.Errorf("a process that has its pid but was %s was ended", name)
		}
	}
	if found, left := Lost(t.Context(), []Ref{ref}, nil, deadline); found != 1 || len(left) != 0 {
		t.Errorf("found %d, left %v", found, left)
	}
	if exit, _ := c.wait(); exit.Signal != "SIGTERM" && exit.Signal != "SIGHUP" {
		t.Errorf("%+v", exit)
	}
}

// Another program may reap a child before we do (it should not); then the exit is not
// known, and above all it is not 0.
func TestWaitAfterForeignReap(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, "exit 0"))
	for {
		pid, err := syscall.Wait4(c.ref.Pid, nil, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid != c.ref.Pid {
			t.Fatal(pid, err)
		}
		break
	}
	if exit, _ := c.wait(); exit.Code == 0 {
		t.Errorf("%+v", exit)
	}
}
