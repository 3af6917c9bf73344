package proc

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// whatever the command started ends with it.
func TestX6_EndWholeTree(t *testing.T) {
	s := newStarter(t)
	const forkOff = `
import os, signal, sys, time
def daemon(clear):
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    open("pid", "w").write("%d\n" % os.getpid())
    if clear: os.execve("/bin/sleep", ["sleep", "300"], {})
    os.execv("/bin/sleep", ["sleep", "300"])
`
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"member of the group", script(t, "sleep 300 & echo $! >pid; wait")}, // pro-0005
		{"own session", script(t, "setsid sleep 300 & echo $! >pid; wait")},  // pro-0006
		{"nohup", script(t, "nohup sleep 300 >/dev/null 2>&1 & echo $! >pid; wait")},
		{"job control", script(t, "set -m; sleep 300 & echo $! >pid; wait")},
		{"ignores TERM", script(t, `bash -c 'trap "" TERM HUP INT; echo $$ >pid; while :; do sleep 0.05; done' & wait`)},
		{"stopped", script(t, "sleep 300 & kill -STOP $!; echo $! >pid; wait")},
		{"stopped session", script(t, "setsid sleep 300 & kill -STOP $!; echo $! >pid; wait")},
		{"empty environment", script(t, "env -i sleep 300 & echo $! >pid; wait")},
		{"orphan with empty environment", script(t, "(env -i sleep 300 & echo $! >pid) & sleep 300")},
		{"below a session", script(t, `setsid bash -c 'env -i setsid sleep 300 & echo $! >pid; wait' & wait`)},
		{"daemon", python(t, forkOff+"daemon(False); time.sleep(300)")},
		{"first thread has ended", python(t, `
import ctypes, os, threading, time
if os.fork() == 0:
    def rest():
        open("pid", "w").write("%d\n" % os.getpid())
        time.sleep(300)
    threading.Thread(target=rest).start()
    ctypes.CDLL(None).syscall(60, 0)
time.sleep(300)`)},
		{"first thread of a daemon has ended", python(t, `
import ctypes, os, threading, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    def rest():
        while open("/proc/self/stat").read().split()[2] != "Z": time.sleep(0.01)
        open("pid", "w").write("%d\n" % os.getpid())
        time.sleep(300)
    threading.Thread(target=rest).start()
    ctypes.CDLL(None).syscall(60, 0)
os.wait()
time.sleep(300)`)},
	} {
		for _, grace := range []time.Duration{0, 300 * time.Millisecond} {
			t.Run(c.name+" "+grace.String(), func(t *testing.T) {
				spec := c.spec
				spec.Dir, spec.Marker = t.TempDir(), testMarker(t)
				p := start(t, s, spec)
				child := waitPid(t, spec.Dir, "pid")
				if left := p.End(t.Context(), grace); len(left) != 0 {
					t.Errorf("left: %v", left)
				}
				if alive(child) {
					t.Errorf("child %+v lives", child)
				}
				if exit, _ := p.wait(); exit.Signal == "" {
					t.Errorf("%+v", exit)
				}
				if left := p.Leftovers(); len(left) != 0 {
					t.Errorf("leftovers: %v", left)
				}
				if left := p.End(t.Context(), time.Second); len(left) != 0 { // again does nothing
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

// The polite signal comes first and once, and a program has the grace to act on it.
func TestX6_GraceIsGiven(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, `trap 'echo term; sleep 0.2; echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.01; done`))
	c.waitOutput("ready")
	if left := c.End(t.Context(), deadline); len(left) != 0 {
		t.Error(left)
	}
	if exit, _ := c.wait(); exit != (Exit{}) {
		t.Errorf("%+v", exit)
	}
	if got := c.output(); strings.Count(got, "term\n") != 1 || !strings.HasSuffix(got, "cleaned\n") {
		t.Errorf("%q", got)
	}
}

// A shell does not go on with its next command because its child was signalled first.
func TestX6_NothingNewBegins(t *testing.T) {
	s := newStarter(t)
	for _, child := range []string{"sleep 300", "setsid -w sleep 300", "(sleep 300; touch next)"} {
		for range 10 {
			spec := script(t, "touch begun; "+child+"; touch next; sleep 300")
			c := start(t, s, spec)
			waitFor(t, "the child", func() bool { return len(carriers(spec.Marker)) > 1 })
			if left := c.End(t.Context(), deadline); len(left) != 0 {
				t.Error(left)
			}
			if _, err := os.Stat(filepath.Join(spec.Dir, "next")); err == nil {
				t.Fatalf("%s: the next command ran", child)
			}
			c.wait()
		}
	}
}

// A cancelled context ends the grace, not the killing.
func TestX6_CancelEndsGrace(t *testing.T) {
	s := newStarter(t)
	c := start(t, s, script(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`))
	c.waitOutput("ready")
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(100*time.Millisecond, cancel)
	defer timer.Stop()
	begun := time.Now()
	if left := c.End(ctx, deadline); len(left) != 0 {
		t.Error(left)
	}
	if took := time.Since(begun); took > deadline/2 {
		t.Errorf("took %v", took)
	}
	if exit, _ := c.wait(); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

// Programs that fork without an end are outrun: the group is killed in one step.
func TestX6_ForkRunners(t *testing.T) {
	s := newStarter(t)
	for name, text := range map[string]string{
		"hopping": "import os, time\nwhile True:\n  if os.fork(): os._exit(0)\n  time.sleep(0.0005)",
		"growing": "import os, time\nfor i in range(6): os.fork()\nwhile True:\n  if os.fork() == 0: time.sleep(0.02); os._exit(0)\n  os.waitpid(-1, 0)",
	} {
		t.Run(name, func(t *testing.T) {
			spec := python(t, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('begun', 'w').close()\n"+text)
			c := start(t, s, spec)
			waitFor(t, "the program", func() bool { _, err := os.Stat(filepath.Join(spec.Dir, "begun")); return err == nil })
			if name == "hopping" { // its leader has gone: only the group is left
				_, group := c.wait()
				if left := c.EndGroup(t.Context(), 0); !group || len(left) > 0 {
					t.Errorf("group %v, left: %v", group, left)
				}
			}
			if left := c.End(t.Context(), 0); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			if !c.waited {
				c.wait()
			}
			waitFor(t, "all to be reaped", func() bool { return len(carriers(spec.Marker)) == 0 && len(zombies(t)) == 0 })
			for range 20 { // a look could miss a runner
				if syscall.Kill(-c.ref.Pid, 0) == nil || len(carriers(spec.Marker)) > 0 {
					t.Fatal("it runs on")
				}
			}
		})
	}
}

func carriers(marker string) []int {
	var out []int
	for pid := range readTable().procs {
		if hasMarker(pid, marker) {
			out = append(out, pid)
		}
	}
	return out
}

// leaver starts a child that makes a session of its own; until it has, it belongs to
// the group, so a script waits for that.
const (
	leaver     = "setsid bash -c 'echo $$ >pid; exec sleep 301' & "
	waitLeaver = "while ! test -s pid; do sleep 0.01; done; "
)

// when the shell ends by itself its group is ended; children with a session of
// their own stay and are named.
func TestX6_Leftovers(t *testing.T) {
	s := newStarter(t)
	other := start(t, s, script(t, "setsid sleep 300 & echo $! >pid; wait")) // has nothing to do with it
	for _, c := range []struct{ name, script string }{
		{"alone", leaver + waitLeaver},
		{"beside the group", leaver + waitLeaver + "sleep 302 & echo $! >member; sleep 303 &"},
		{"behind the group", "(" + leaver + "wait) & echo $! >member; " + waitLeaver},
		{"with children", "setsid bash -c 'echo $$ >pid; sleep 301 & sleep 301; wait' & " + waitLeaver},
		{"beside one that ignores TERM", leaver + waitLeaver + "bash -c 'trap \"\" TERM; echo $$ >member; while :; do sleep 0.05; done' & while ! test -s member; do sleep 0.01; done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := script(t, c.script)
			p := start(t, s, spec)
			_, group := p.wait()
			child := waitPid(t, spec.Dir, "pid")
			waitFor(t, "the leftover to be named", func() bool {
				left := p.Leftovers()
				if len(left) > 1 {
					t.Fatalf("leftovers %v", left)
				}
				return len(left) == 1 && left[0].Pid == child.pid && strings.Contains(left[0].Name, "301")
			})
			if group {
				if left := p.EndGroup(t.Context(), 200*time.Millisecond); len(left) != 0 {
					t.Errorf("left of the group: %v", left)
				}
			}
			if _, err := os.Stat(filepath.Join(spec.Dir, "member")); err == nil {
				waitGone(t, recordedPid(t, spec.Dir, "member"))
			}
			if !alive(child) {
				t.Fatal("the child with a session of its own was ended")
			}
			if left := p.End(t.Context(), deadline); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			if alive(child) {
				t.Error("End leaves it")
			}
			if left := p.Leftovers(); len(left) != 0 {
				t.Errorf("leftovers: %v", left)
			}
		})
	}
	if child := waitPid(t, other.dir(), "pid"); !alive(child) {
		t.Error("another command's child was ended")
	}
}

// recordedPid is waitPid for a process that may have gone already.
func recordedPid(t *testing.T, dir, name string) stat {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	st, _ := readStat(pid)
	return st
}

func (c *command) dir() string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(c.ref.Pid) + "/cwd")
	if err != nil {
		c.t.Fatal(err)
	}
	return dir
}

// What SIGKILL cannot end is named, and the call comes back. A task in the freezer of
// cgroup v1 behaves like one in an uninterruptible system call.
func TestX6_UnkillableIsNamed(t *testing.T) {
	freeze := freezer(t)
	s := newStarter(t)
	spec := script(t, "echo ready; exec sleep 300")
	c := start(t, s, spec)
	c.waitOutput("ready")
	thaw := freeze(c.ref.Pid)
	begun := time.Now()
	left := c.End(t.Context(), 100*time.Millisecond)
	if len(left) != 1 || left[0].Pid != c.ref.Pid || left[0].Name != "sleep 300" {
		t.Errorf("left: %v", left)
	}
	if took := time.Since(begun); took > deadline/2 {
		t.Errorf("took %v", took)
	}
	thaw()
	c.wait()
}

// freezer returns a function that freezes a process and gives back how to thaw it.
func freezer(t *testing.T) func(pid int) (thaw func()) {
	const root = "/sys/fs/cgroup/freezer"
	dir, err := os.MkdirTemp(root, "proc-test")
	if err != nil {
		t.Skipf("needs a writable cgroup v1 freezer at %s: %v", root, err)
	}
	write := func(file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0); err != nil {
			t.Error(err)
		}
	}
	thaw := func() { write("freezer.state", "THAWED") }
	t.Cleanup(func() {
		thaw()
		waitFor(t, "the empty cgroup", func() bool { return os.Remove(dir) == nil })
	})
	return func(pid int) func() {
		write("cgroup.procs", strconv.Itoa(pid))
		write("freezer.state", "FROZEN")
		waitFor(t, "the freeze", func() bool {
			state, _ := os.ReadFile(filepath.Join(dir, "freezer.state"))
			return string(state) == "FROZEN\n"
		})
		return thaw
	}
}

// A look that began before the question does not answer it.
func TestLooksAreFresh(t *testing.T) {
	s := newStarter(t)
	stop := make(chan struct{})
	busy := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { busy <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
					s.looks.table()
				}
			}
		}()
	}
	for range 5 {
		c := start(t, s, script(t, "exec sleep 300"))
		if _, ok := s.looks.table().procs[c.ref.Pid]; !ok {
			t.Error("a started process is not seen")
		}
		c.stop()
		if _, ok := s.looks.table().procs[c.ref.Pid]; ok {
			t.Error("an ended process is seen")
		}
	}
	close(stop)
	for range 4 {
		<-busy
	}
	if s.looks.last.procs != nil {
		t.Error("the last look is kept")
	}
}
