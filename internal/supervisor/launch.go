package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/safefile"
)

const (
	logFile    = "supervisor.log"
	logMax     = 1 << 20          // bytes of the log at which a new one is begun
	launchWait = 30 * time.Second // for a supervisor to serve: it first deals with what a dead one left
)

// kept are the variables of our environment that a supervisor has, too. What commands
// see comes with each plan, and secrets have no business in it.
var kept = []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "GODEBUG"}

// launch starts a supervisor and returns when it serves. It also returns without error
// when there is one already.
func (c *Client) launch(ctx context.Context) error {
	if err := safefile.Dir(c.opt.Dir); err != nil {
		return fmt.Errorf("session folder: %w", err)
	}
	log, err := openLog(filepath.Join(c.opt.Dir, logFile))
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	defer r.Close()
	c.launched = true
	argv := append([]string{c.opt.Program, Role, "--dir", c.opt.Dir, "--ready-fd", "3"}, c.opt.Args...)
	pid, err := proc.Detach("", argv, c.environ(), "/", log, w)
	w.Close()
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	serves, err := c.awaitReady(ctx, r, pid)
	if !serves {
		c.reapLater(pid)
	}
	return err
}

// awaitReady reads what the supervisor says of its start: that it serves, or that another
// one does.
func (c *Client) awaitReady(ctx context.Context, r *os.File, pid int) (serves bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, launchWait, errors.New("it does not say that it serves"))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) }) // a pipe takes deadlines
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(r, 4<<10)).ReadString('\n')
	switch {
	case line == sayReady || line == sayTaken:
		return line == sayReady, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("start the supervisor (pid %d): %w", pid, context.Cause(ctx))
	case line != "":
		return false, fmt.Errorf("start the supervisor: %s", strings.TrimSpace(line))
	}
	return false, fmt.Errorf("start the supervisor: it ended at once (%w); %s says why", err, filepath.Join(c.opt.Dir, logFile))
}

// environ is the environment of a supervisor.
func (c *Client) environ() []string {
	var env []string
	for _, name := range kept {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// openLog opens the log of supervisors for appending; a long one becomes path.1.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logMax {
		_ = os.Rename(path, path+".1") // else it grows on
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil { // a full disk does not keep commands from running
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return f, nil
}

// reapLater takes the exit of a supervisor that is on its way out, if it is our child: by
// our own start, or by that of the program that this one has replaced.
func (c *Client) reapLater(pid int) {
	for range 50 {
		if proc.Reap(pid) {
			return
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
			return
		}
	}
}
