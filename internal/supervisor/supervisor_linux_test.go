package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// However many clients come at once, one supervisor is started, and each run's end is
// told of once, to the one that waited for it.
func TestStartOnDemand(t *testing.T) {
	dir := newFolder(t)
	var all sync.WaitGroup
	for i := range 20 {
		var told ends
		c := open(t, dir, &told, nil)
		all.Go(func() {
			p := script(fmt.Sprintf("echo %d; exit 3", i))
			snap, err := c.Run(t.Context(), session.RunRequest{Plan: p, Yield: -1, MaxChars: 1000}, nil)
			if err != nil || snap.Output != fmt.Sprintf("%d\n", i) || snap.ExitCode == nil || *snap.ExitCode != 3 || !snap.Final {
				t.Errorf("%+v, %v", snap, err)
			}
			waitFor(t, "the end to be told of", func() bool { return len(told.of(p.ID)) == 1 })
			if e := told.of(p.ID)[0]; e.Again || string(e.Record) != `{"who":"me"}` || e.State.Key == "" {
				t.Errorf("end %+v", e)
			}
		})
	}
	all.Wait()
	if n := len(supervisors(dir)); n != 1 {
		t.Errorf("%d supervisors", n)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "*" + socketSuffix: 0o600} {
		names, _ := filepath.Glob(filepath.Join(dir, name))
		for _, path := range names {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
}

// Bytes that are no text reach the command as they are.
func TestBytesArriveUnaltered(t *testing.T) {
	c := open(t, newFolder(t), nil, nil)
	p := script("x")
	p.Steps[0].Argv = []string{"sh", "-c", `printf '%s' "$0$ODD" | od -An -tx1`, "a\xff\xfeb"}
	p.Env = append(p.Env, "ODD=\xc3\x28")
	if snap := run(t, c, p); strings.TrimSpace(snap.Output) != "61 ff fe 62 c3 28" {
		t.Errorf("%q", snap.Output)
	}
}

// All that can be done with a session works from another process, and errors can be told
// apart there.
func TestAllOps(t *testing.T) {
	c := open(t, newFolder(t), nil, nil)
	ctx := t.Context()
	p := script("stty -echo; echo ready; while read x; do echo got $x; done", background, func(p *session.Plan) { p.PTY = true })
	st := run(t, c, p)
	var out string
	for !strings.Contains(out, "ready") {
		snap, err := c.Poll(ctx, agent, p.ID, time.Second, 1000)
		if err != nil {
			t.Fatal(err)
		}
		out += snap.Output
	}
	if n, err := c.Write(ctx, agent, p.ID, session.Input{Literal: "one", Keys: []string{"Enter"}}); err != nil || n != 4 {
		t.Errorf("%d, %v", n, err)
	}
	waitFor(t, "the answer", func() bool {
		page, err := c.Log(ctx, agent, p.ID, 0, 0, 1000)
		return err == nil && strings.Contains(page.Output, "got one") && page.Total >= 2
	})
	if err := c.Resize(ctx, agent, p.ID, 90, 20); err != nil {
		t.Error(err)
	}
	if sc, err := c.Screen(ctx, agent, p.ID); err != nil || sc.Screen.Cols != 90 || !strings.Contains(strings.Join(sc.Screen.Lines, "\n"), "got one") {
		t.Errorf("%+v, %v", sc, err)
	}
	if paint, err := c.Paint(ctx, agent, p.ID); err != nil || paint.Cols != 90 || !strings.Contains(string(paint.Data), "got one") || paint.Offset == 0 {
		t.Errorf("%+v, %v", paint, err)
	}
	if tail, err := c.Tail(ctx, agent, p.ID, 100); err != nil || !strings.Contains(tail, "got one") {
		t.Errorf("%q, %v", tail, err)
	}
	chunk, err := c.Read(ctx, session.ReadRequest{Agent: agent, ID: p.ID, Offset: 3, Max: 4})
	if err != nil || chunk.Offset != 3 || len(chunk.Data) != 4 {
		t.Errorf("%+v, %v", chunk, err)
	}
	if err := c.Signal(ctx, agent, p.ID, "WINCH"); err != nil {
		t.Error(err)
	}
	rows, err := c.List(ctx, agent, 100)
	if err != nil || len(rows) != 1 || rows[0].ID != p.ID || !strings.Contains(rows[0].Tail, "got one") {
		t.Errorf("%+v, %v", rows, err)
	}
	if n, err := c.Counts(ctx); err != nil || n.Running != 1 || n.LogBytes == 0 {
		t.Errorf("%+v, %v", n, err)
	}
	if got, err := c.Capture(ctx, []string{"/bin/echo", "x"}, nil, "/", 100); err != nil || string(got) != "x\n" {
		t.Errorf("%q, %v", got, err)
	}
	_, err = c.Write(ctx, agent, p.ID, session.Input{Keys: []string{"NoSuchKey"}})
	wantErr(t, err, session.ErrInput)
	_, err = c.Get(ctx, "other", p.ID)
	wantErr(t, err, session.ErrNotFound) // S-1
	wantErr(t, c.Clear(ctx, agent, p.ID), session.ErrRunning)
	_, err = c.Run(ctx, session.RunRequest{Plan: p}, nil)
	wantErr(t, err, session.ErrDuplicate)
	_, err = c.Run(ctx, session.RunRequest{Plan: script("true", func(p *session.Plan) { p.MaxRunning = 1 })}, nil)
	var limit *session.LimitError
	if !errors.As(err, &limit) || limit.Max != 1 {
		t.Errorf("limit: %v", err)
	}
	_, err = c.Capture(ctx, []string{"/bin/sh", "-c", "echo too much"}, []string{"PATH=/bin"}, "/", 3)
	wantErr(t, err, proc.ErrTooMuchOutput)
	if st, was, err := c.Kill(ctx, agent, p.ID); err != nil || !was || st.Status != protocol.StatusKilled {
		t.Errorf("%+v, %v", st, err)
	}
	wantErr(t, c.Resize(ctx, agent, p.ID, 10, 10), session.ErrFinished)
	if err := c.Remove(ctx, agent, p.ID); err != nil || alive(st.Pid) {
		t.Error(err)
	}
	deaf := script("sleep 1000", background)
	run(t, c, deaf)
	n, err := c.Write(ctx, agent, deaf.ID, session.Input{Data: make([]byte, 1<<20)})
	if wantErr(t, err, proc.ErrInputFull); n < 4096 || n >= 1<<20 {
		t.Errorf("%d bytes went in", n)
	}
	l, err := c.accepting(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.do(ctx, 200, nil, nil)
	wantErr(t, err, ErrUnsupported)
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// a caller that goes ends its command with all it started, in and after the time of
// a short one.
func TestX7_Cancel(t *testing.T) {
	c := open(t, newFolder(t), nil, nil)
	for _, after := range []time.Duration{time.Millisecond, 200 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		var pid int
		snap, err := c.Run(ctx, session.RunRequest{Plan: script("sleep 1000 & sleep 1000"), Yield: -1}, func(st session.State) {
			pid = st.Pid
			time.AfterFunc(after, cancel)
		})
		if err != nil || snap.Status != protocol.StatusCancelled || alive(pid) {
			t.Errorf("%v: %s, %v", after, snap.Status, err)
		}
		cancel()
	}
	if snap := run(t, c, script("echo still works")); snap.Output != "still works\n" {
		t.Errorf("%+v", snap)
	}
}

// S-8: what a killed client waited for is ended; what it left in the background goes on,
// and its end goes to the next client, once.
func TestS8_ClientDies(t *testing.T) {
	dir := newFolder(t)
	cmd, back, fore, pid := startDoomed(t, dir)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	waitFor(t, "the end of the foreground command", func() bool { return !alive(pid) })
	var told ends
	c := open(t, dir, &told, nil)
	if _, err := c.Write(t.Context(), agent, back, session.Input{Data: []byte("that\n")}); err != nil {
		t.Fatal(err)
	}
	if st := ended(t, c, back); st.ExitCode == nil || *st.ExitCode != 6 {
		t.Errorf("%+v", st)
	}
	for id, status := range map[string]protocol.Status{fore: protocol.StatusCancelled, back: protocol.StatusCompleted} {
		waitFor(t, "the end of "+id+" to be told of", func() bool { return len(told.of(id)) == 1 })
		if e := told.of(id)[0]; e.State.Status != status || string(e.Record) != `{"who":"me"}` {
			t.Errorf("%+v", e)
		}
	}
	page, err := c.Log(t.Context(), agent, back, 0, 0, 1000)
	if err != nil || page.Output != "got that\n" {
		t.Errorf("%q, %v", page.Output, err)
	}
	// Nobody has said that they are safe: they come again, marked, and then no more.
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var again ends
	next := open(t, dir, &again, func(o *ClientOptions) { o.Gateway = true })
	for _, id := range []string{fore, back} {
		waitFor(t, "the end of "+id+" to come again", func() bool { return len(again.of(id)) == 1 })
		e := again.of(id)[0]
		if !e.Again {
			t.Errorf("%s is not marked", id)
		}
		next.Told(e.State.Key)
	}
	time.Sleep(3 * toldDelay)
	next.Close()
	var last ends
	quiet := open(t, dir, &last, nil)
	run(t, quiet, script("true"))
	time.Sleep(100 * time.Millisecond)
	if len(last.of(fore))+len(last.of(back)) > 0 {
		t.Error("told of ends that were safe")
	}
}

// an end that is to be announced waits for a gateway, though another client has
// recorded it.
func TestX18_AnnouncedByGateways(t *testing.T) {
	dir := newFolder(t)
	var cli ends
	c := open(t, dir, &cli, nil)
	p := script("echo news; exit 1", background)
	run(t, c, p)
	waitFor(t, "the end", func() bool { return len(cli.of(p.ID)) == 1 })
	c.Told(cli.of(p.ID)[0].State.Key)
	c.Close()
	var other ends
	o := open(t, dir, &other, nil)
	run(t, o, script("true"))
	var gateway ends
	open(t, dir, &gateway, func(o *ClientOptions) { o.Gateway = true })
	waitFor(t, "the gateway to be told", func() bool { return len(gateway.of(p.ID)) == 1 })
	if e := gateway.of(p.ID)[0]; !e.Announce || e.Tail != "news\n" || !e.Again {
		t.Errorf("%+v", e)
	}
	if n := len(other.of(p.ID)); n != 0 {
		t.Errorf("recorded, but told to another client %d times", n)
	}
}

// The supervisor dies: its commands end, read lost with their output, and the client goes
// on with a new one. What is to be kept goes on.
func TestSupervisorDies(t *testing.T) {
	dir := newFolder(t)
	var told ends
	c := open(t, dir, &told, func(o *ClientOptions) { o.Gateway = true })
	p := script("echo so far; sleep 1000 & setsid sleep 1000", background)
	st := run(t, c, p)
	kept := script("trap '' HUP PIPE; while :; do sleep 0.1; done", background, func(p *session.Plan) { p.Outlive = true })
	keptState := run(t, c, kept)
	waitFor(t, "its output", func() bool { tail, _ := c.Tail(t.Context(), agent, p.ID, 10); return tail == "so far\n" })
	old := supervisors(dir)
	waiting := make(chan session.Snapshot, 1)
	fore := script("echo waited for; sleep 1000")
	go func() {
		snap, err := c.Run(context.Background(), session.RunRequest{Plan: fore, Yield: -1, MaxChars: 1000}, nil)
		if err != nil {
			t.Error(err)
		}
		waiting <- snap
	}()
	waitFor(t, "the foreground command", func() bool { tail, _ := c.Tail(t.Context(), agent, fore.ID, 20); return tail == "waited for\n" })
	_ = syscall.Kill(old[0], syscall.SIGKILL)
	if snap := <-waiting; snap.Status != protocol.StatusLost || snap.Output != "waited for\n" {
		t.Errorf("%+v", snap)
	}
	if st := ended(t, c, p.ID); st.Status != protocol.StatusLost || len(st.Warnings) == 0 {
		t.Errorf("%+v", st)
	}
	if alive(st.Pid) {
		t.Error("a command outlived the supervisor")
	}
	waitFor(t, "the end to be told of", func() bool { return len(told.of(p.ID)) == 1 && told.of(p.ID)[0].Announce })
	if !alive(keptState.Pid) {
		t.Error("onSupervisorDeath keep: the command was ended")
	}
	if _, was, err := c.Kill(t.Context(), agent, kept.ID); err != nil || !was || alive(keptState.Pid) {
		t.Errorf("kill of what was kept: %t, %v", was, err)
	}
	if now := supervisors(dir); len(now) != 1 || now[0] == old[0] {
		t.Errorf("supervisors %v, before %v", now, old)
	}
}

// A daemon of another version: the old supervisor serves what it has and ends with it, new
// sessions go to a new one, which then has the finished ones, too. Other clients retire
// nobody.
func TestUpgrade(t *testing.T) {
	dir := newFolder(t)
	before := open(t, dir, nil, func(o *ClientOptions) { o.Version = os.Getenv("LANG") })
	p := script("read x; echo got $x; exit 5", background)
	run(t, before, p)
	old := supervisors(dir)

	t.Setenv("LANG", "v2") // of the supervisors that are started from here on
	cli := open(t, dir, nil, nil)
	run(t, cli, script("true"))
	if now := supervisors(dir); len(now) != 1 {
		t.Fatalf("a client that is no daemon has made supervisors %v", now)
	}
	var told ends
	daemon := open(t, dir, &told, func(o *ClientOptions) { o.Gateway = true })
	fresh := script("sleep 1000", background)
	run(t, daemon, fresh)
	if now := supervisors(dir); len(now) != 2 {
		t.Fatalf("supervisors %v", now)
	}
	rows, err := daemon.List(t.Context(), agent, 0)
	if err != nil || len(rows) != 2 {
		t.Errorf("%d sessions, %v", len(rows), err)
	}
	run(t, before, script("echo the old client is served, too"))
	if _, err := daemon.Write(t.Context(), agent, p.ID, session.Input{Data: []byte("it\n")}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the old supervisor to end", func() bool { return !alive(old[0]) })
	waitFor(t, "its sessions to be taken over", func() bool {
		page, err := daemon.Log(t.Context(), agent, p.ID, 0, 0, 1000)
		return err == nil && page.Output == "got it\n" && page.ExitCode != nil && *page.ExitCode == 5
	})
	waitFor(t, "the end to be told of", func() bool { return len(told.of(p.ID)) >= 1 })
	if _, _, err := daemon.Kill(t.Context(), agent, fresh.ID); err != nil {
		t.Error(err)
	}
	run(t, before, script("true"))
	if now := supervisors(dir); len(now) != 1 {
		t.Errorf("supervisors %v", now)
	}
}

// It ends itself without a session and a client, not before, and one that comes right then
// is served.
func TestIdle(t *testing.T) {
	dir := newFolder(t)
	short := func(o *ClientOptions) { o.Args = []string{"--idle", "50ms"} }
	c := open(t, dir, nil, short)
	p := script("sleep 0.6", background)
	run(t, c, p)
	c.Close()
	time.Sleep(200 * time.Millisecond)
	if len(supervisors(dir)) != 1 {
		t.Error("it has left a running session")
	}
	waitFor(t, "its end", func() bool { return len(supervisors(dir)) == 0 })
	for i := range 30 {
		c := open(t, dir, nil, short)
		if snap := run(t, c, script("echo $((1+1))")); snap.Output != "2\n" {
			t.Fatalf("%+v", snap)
		}
		c.Close()
		time.Sleep(time.Duration(40+i) * time.Millisecond)
	}
}

// C-6: nothing of our environment that is secret, and no marker, is in a supervisor's.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENCLAW_GATEWAY_TOKEN", "secret")
	t.Setenv(proc.MarkerEnv, "x.y")
	dir := newFolder(t)
	run(t, open(t, dir, nil, nil), script("true"))
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", supervisors(dir)[0]))
	if err != nil || strings.Contains(string(data), "OPENCLAW") {
		t.Errorf("%q, %v", data, err)
	}
}

// A state directory may have a name that is too long for a socket.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(newFolder(t), strings.Repeat("long/", 40))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, nil, nil)
	if snap := run(t, c, script("echo there")); snap.Output != "there\n" {
		t.Errorf("%+v", snap)
	}
	for _, pid := range supervisors(dir) {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	waitFor(t, "its end", func() bool { return len(supervisors(dir)) == 0 })
}

// Somebody's socket that says nothing, or nonsense, keeps nobody from their sessions.
func TestForeignSockets(t *testing.T) {
	dir := newFolder(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	garbage, err := net.Listen("unix", filepath.Join(dir, "aaa"+socketSuffix))
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := garbage.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(strings.Repeat("nonsense ", 100)))
			c.Close()
		}
	})
	if err := os.Mkdir(filepath.Join(dir, "folder"+socketSuffix), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"+socketSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "abc.journal"), []byte("{\x00nonsense\n{\"op\":\"start\",\"id\":\"../x\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, nil, nil)
	if snap := run(t, c, script("echo there")); snap.Output != "there\n" {
		t.Errorf("%+v", snap)
	}
	garbage.Close()
	serving.Wait()
}

// A client that has stopped reading holds up nobody else.
func TestStoppedClient(t *testing.T) {
	dir := newFolder(t)
	cmd, _, _, _ := startDoomed(t, dir)
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	var told ends
	c := open(t, dir, &told, nil)
	for range 50 {
		run(t, c, script("true"))
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
}
