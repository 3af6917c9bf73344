package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/gateway"
)

func newGatewayRestart(env *Env, run func(ctx context.Context, env *Env, asJSON bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "end the daemon and start it anew, after an upgrade for example",
		Long: `End the daemon in order and start it anew with the program file that is there now.
Background sessions go on; calls that run are ended. A daemon that was started by hand
keeps its process, flags and environment; an installed service is restarted by the
service manager. A program or configuration that would not start is refused, and the
daemon goes on as it is.`,
		Example: "  openclaw gateway restart\n  openclaw gateway restart --json | jq -r .version",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// startReport is a daemon that has come up, as --json prints it.
type startReport struct {
	PID         int    `json:"pid"`
	URL         string `json:"url"`
	Version     string `json:"version"`
	StartedAtMs int64  `json:"startedAtMs"` // Unix time in ms
	Service     bool   `json:"service"`     // the service manager keeps it running
}

func runGatewayRestart(ctx context.Context, env *Env, asJSON bool) error {
	if err := env.refuseInside("restarting the gateway"); err != nil {
		return err
	}
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		rep, err := env.restart(ctx, dir)
		if err != nil {
			return err
		}
		if asJSON {
			return env.json(rep)
		}
		return env.printf("restarted the gateway: pid %d, %s, version %s\n", rep.PID, visible(rep.URL), visible(rep.Version))
	})
}

func (e *Env) restart(ctx context.Context, stateDir string) (startReport, error) {
	svc, err := e.service(ctx, stateDir)
	if err != nil {
		return startReport{}, err
	}
	h, err := e.settledDaemon(ctx, stateDir)
	if err != nil {
		return startReport{}, err
	}
	if h != nil {
		defer h.release()
	}
	switch {
	case svc.state.Running() && (h == nil || h.PID == svc.state.PID):
		return e.restartService(ctx, svc, h, stateDir)
	case h != nil:
		return e.restartDaemon(ctx, h, stateDir)
	}
	return startReport{}, hint("start one: openclaw gateway run, or as a service: openclaw gateway install", "no gateway runs on %s", stateDir)
}

// restartService has the service manager do it. It would not ask the daemon, so what the
// daemon would refuse is looked at here.
func (e *Env) restartService(ctx context.Context, svc ownService, h *hold, stateDir string) (startReport, error) {
	if err := e.wouldStart(); err != nil {
		return startReport{}, err
	}
	var before time.Time
	if h != nil {
		before = h.StartedAt
	}
	if err := svc.Restart(ctx); err != nil {
		return startReport{}, err
	}
	return e.awaitStart(ctx, startWait{
		stateDir: stateDir, after: before, log: svc.log(), service: true,
		ended: func() bool { return !svc.runsNow(ctx) },
	})
}

// wouldStart says whether a daemon would take the configuration.
func (e *Env) wouldStart() error {
	cfg, err := loadFor(e, gatewayOptions{port: -1})
	if err != nil {
		return err
	}
	stateDir, err := config.StateDir(e.Getenv)
	if err != nil {
		return err
	}
	return gateway.Check(cfg, stateDir)
}

// restartDaemon asks the daemon itself.
func (e *Env) restartDaemon(ctx context.Context, h *hold, stateDir string) (startReport, error) {
	if _, _, err := takeRefusal(stateDir, h.PID); err != nil { // an old one
		return startReport{}, err
	}
	if err := askRestart(h.process); err != nil {
		return startReport{}, fmt.Errorf("restart the gateway (pid %d): %w", h.PID, err)
	}
	return e.awaitStart(ctx, startWait{
		stateDir: stateDir, after: h.StartedAt, pid: h.PID, log: "its log",
		ended: func() bool { return gone(h.process) },
	})
}

// startWait says which daemon is waited for.
type startWait struct {
	stateDir string
	after    time.Time   // it started later than this
	pid      int         // its process; 0 = any
	log      string      // where it says why it did not start
	ended    func() bool // no daemon is there, and none will come by itself
	service  bool
}

// awaitStart waits until the daemon answers, or until it is clear that it will not.
func (e *Env) awaitStart(ctx context.Context, w startWait) (startReport, error) {
	var ep client.Endpoint
	asked := time.Now()
	err := e.until(ctx, "the gateway to answer", func() (bool, error) {
		var found bool
		var err error
		if ep, found, err = client.Find(w.stateDir); err != nil {
			return false, err
		}
		switch {
		case found && ep.StartedAt.After(w.after):
			if w.pid != 0 && ep.PID != w.pid {
				return false, fmt.Errorf("another gateway (pid %d, %s) took %s while pid %d restarted", ep.PID, ep.URL, w.stateDir, w.pid)
			}
			return healthy(ctx, ep), nil
		case found && w.pid != 0:
			r, refused, err := takeRefusal(w.stateDir, w.pid)
			if refused {
				return false, hint("the gateway goes on as it was", "the gateway (pid %d) refused to restart: %s", w.pid, r.Reason)
			}
			return false, err
		case !found && time.Since(asked) >= endedPoll:
			asked = time.Now()
			if held, err := client.Held(w.stateDir); err != nil || held {
				return false, err
			}
			if w.ended() {
				return false, hint(w.log+" says why; openclaw gateway run starts it in the foreground", "the gateway ended and did not come back")
			}
		}
		return false, nil
	})
	if errors.Is(err, errTooLong) {
		err = hint(w.log+" says why", "no new gateway answers on %s after %s", w.stateDir, span(controlTimeout))
	}
	return startReport{PID: ep.PID, URL: ep.URL, Version: ep.Version, StartedAtMs: ep.StartedAt.UnixMilli(), Service: w.service}, err
}

// endedPoll is how often a missing daemon's process or service is looked at.
const endedPoll = 300 * time.Millisecond

// healthy says whether the daemon answers.
func healthy(ctx context.Context, ep client.Endpoint) bool {
	c := ep.Client("")
	defer c.Close()
	return c.Healthy(ctx) == nil
}
