package cli

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/supervisor"
	"openclaw/internal/tool"
)

// supervisorIdleEnv is how long a supervisor that we start stays without a session and a
// client, as a Go duration; the default is 10 minutes.
const supervisorIdleEnv = "OPENCLAW_SUPERVISOR_IDLE"

// sessionsOf says where the sessions of this program live. Ephemeral ones end with it.
// Windows has no supervisor: there all are.
func (e *Env) sessionsOf(ephemeral, gateway bool) func(string, func(session.End)) (tool.Sessions, error) {
	if ephemeral || e.Program == "" || runtime.GOOS == "windows" {
		return tool.InProcess(true)
	}
	return func(dir string, onEnd func(session.End)) (tool.Sessions, error) {
		opt := e.supervisorClient(dir)
		opt.OnEnd, opt.Gateway, opt.Log = onEnd, gateway, e.logger()
		return supervisor.OpenClient(opt), nil
	}
}

func (e *Env) supervisorClient(dir string) supervisor.ClientOptions {
	opt := supervisor.ClientOptions{Dir: dir, Program: e.Program, Version: e.Version}
	if idle := strings.TrimSpace(e.Getenv(supervisorIdleEnv)); idle != "" {
		opt.Args = []string{"--idle", idle}
	}
	return opt
}

// lookAtSessions gives a client of the supervisors that run, which starts none.
func (e *Env) lookAtSessions(use func(*supervisor.Client) error) error {
	stateDir, err := config.StateDir(e.Getenv)
	if err != nil {
		return err
	}
	opt := e.supervisorClient(filepath.Join(stateDir, "exec", "sessions"))
	opt.Peek = true
	c := supervisor.OpenClient(opt)
	return errors.Join(use(c), c.Close())
}

// backgroundSessions counts the sessions that run with the supervisors of the state
// directory.
func (e *Env) backgroundSessions(ctx context.Context) (running int, err error) {
	err = e.lookAtSessions(func(c *supervisor.Client) error {
		counts, err := c.Counts(ctx)
		running = counts.Running
		return err
	})
	return running, err
}

// endSessions ends all sessions of the state directory's supervisors, and the
// supervisors with them. It returns how many it has ended.
func (e *Env) endSessions(ctx context.Context) (ended int, err error) {
	err = e.lookAtSessions(func(c *supervisor.Client) error {
		rows, err := c.List(ctx, session.AnyAgent, 0)
		if err != nil {
			return err
		}
		var mu sync.Mutex
		var kills sync.WaitGroup
		var errs []error
		slots := make(chan struct{}, 32)
		for _, row := range rows {
			if row.Status != protocol.StatusRunning {
				continue
			}
			slots <- struct{}{}
			kills.Go(func() {
				defer func() { <-slots }()
				_, was, err := c.Kill(ctx, session.AnyAgent, row.ID)
				mu.Lock()
				defer mu.Unlock()
				if was {
					ended++
				}
				if err != nil && !errors.Is(err, session.ErrNotFound) {
					errs = append(errs, err)
				}
			})
		}
		kills.Wait()
		return errors.Join(append(errs, c.Retire(ctx))...)
	})
	return ended, err
}

// retireIdle lets supervisors go that have nothing to do.
func (e *Env) retireIdle(ctx context.Context) error {
	return e.lookAtSessions(func(c *supervisor.Client) error { return c.Retire(ctx) })
}
