package supervisor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"openclaw/internal/session"
)

// deadline bounds every wait of these tests.
const deadline = 30 * time.Second

const agent = "tester"

// clientEnv makes the test binary a client that starts commands and waits to be killed.
const clientEnv = "SUPERVISOR_TEST_CLIENT"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Role {
		os.Exit(Main(os.Args[2:], os.Getenv("LANG"), os.Stderr)) // its version: see openAs
	}
	if dir := os.Getenv(clientEnv); dir != "" {
		os.Exit(doomed(dir))
	}
	goleak.VerifyTestMain(m)
}

// ends collects what a client is told.
type ends struct {
	mu  sync.Mutex
	all []session.End
}

func (e *ends) add(end session.End) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, end)
}

func (e *ends) of(id string) (list []session.End) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, end := range e.all {
		if end.State.ID == id {
			list = append(list, end)
		}
	}
	return list
}

// newFolder is a session folder whose supervisors are ended with the test.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	t.Cleanup(func() {
		for _, pid := range supervisors(dir) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		waitFor(t, "the supervisors to end", func() bool { return len(supervisors(dir)) == 0 })
	})
	return dir
}

// supervisors lists the supervisors of a folder.
func supervisors(dir string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		if !strings.Contains(string(data), Role+"\x00--dir\x00"+dir+"\x00") {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, rest, ok := strings.Cut(string(stat), ") "); ok && rest[0] != 'Z' {
			pids = append(pids, pid)
		}
	}
	return pids
}

// open makes a client that is closed with the test. Change may be nil.
func open(t *testing.T, dir string, told *ends, change func(*ClientOptions)) *Client {
	t.Helper()
	opt := ClientOptions{Dir: dir, Program: os.Args[0], Version: os.Getenv("LANG")}
	if told != nil {
		opt.OnEnd = told.add
	}
	if change != nil {
		change(&opt)
	}
	c := OpenClient(opt)
	t.Cleanup(func() { c.Close() })
	return c
}

// script is a plan that runs text in sh.
func script(text string, change ...func(*session.Plan)) session.Plan {
	p := session.Plan{
		ID: session.NewID() + "-" + strconv.FormatInt(time.Now().UnixNano(), 36), Agent: agent, Host: "gateway", Command: text,
		Steps: []session.Step{{Path: "/bin/sh", Argv: []string{"sh", "-c", text}}}, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin"}, Retain: time.Hour, IdleInput: time.Hour, LogMaxBytes: 64 << 20,
		Record: []byte(`{"who":"me"}`),
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func background(p *session.Plan) { p.Background, p.Stdin, p.Notify = true, true, true }

func run(t *testing.T, c *Client, p session.Plan) session.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	snap, err := c.Run(ctx, session.RunRequest{Plan: p, Yield: -1, MaxChars: 200_000, TailTo: 100}, nil)
	if err != nil {
		t.Fatalf("%s: %v", p.Command, err)
	}
	return snap
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func ended(t *testing.T, c *Client, id string) session.State {
	t.Helper()
	var st session.State
	waitFor(t, "the end of "+id, func() bool {
		var err error
		st, err = c.Get(context.Background(), agent, id)
		return err == nil && st.Finished()
	})
	return st
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && rest[0] != 'Z'
}

// doomed starts a command in the background and waits for one in the foreground, until it
// is killed. It prints their ids.
func doomed(dir string) int {
	c := OpenClient(ClientOptions{Dir: dir, Program: os.Args[0], Version: os.Getenv("LANG"), OnEnd: func(session.End) {}})
	back := script("read x; echo got $x; exit 6", background)
	if _, err := c.Run(context.Background(), session.RunRequest{Plan: back}, nil); err != nil {
		fmt.Println(err)
		return 1
	}
	fore := script("trap '' TERM; sleep 1000 & wait; wait")
	_, err := c.Run(context.Background(), session.RunRequest{Plan: fore, Yield: -1}, func(st session.State) {
		fmt.Println(back.ID, fore.ID, st.Pid)
	})
	fmt.Println(err)
	return 1
}

// startDoomed starts such a client and returns it with what it has started.
func startDoomed(t *testing.T, dir string) (cmd *exec.Cmd, back, fore string, pid int) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := fmt.Fscan(out, &back, &fore, &pid); err != nil {
		t.Fatal(err)
	}
	return cmd, back, fore, pid
}
