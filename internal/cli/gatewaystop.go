package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
)

// stopOptions is what was asked of openclaw gateway stop.
type stopOptions struct{ sessions, json bool }

func newGatewayStop(env *Env, run func(context.Context, *Env, stopOptions) error) *cobra.Command {
	var o stopOptions
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "end the daemon; background sessions go on",
		Long: `End the daemon in order: calls that run are ended, answers go out. Background sessions
go on without it, and a new daemon takes them up, unless --sessions ends them as well.
An installed service stays stopped until the next login. When no daemon runs, nothing
is to be done and the exit code is 0.`,
		Example: "  openclaw gateway stop\n  openclaw gateway stop --sessions",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	cmd.Flags().BoolVar(&o.sessions, "sessions", false, "end the background sessions, too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// stopReport is what openclaw gateway stop did, as --json prints it.
type stopReport struct {
	Stopped         bool `json:"stopped"` // a daemon ran and has ended
	PID             int  `json:"pid,omitempty"`
	Service         bool `json:"service"` // the service manager did it
	SessionsEnded   int  `json:"sessionsEnded"`
	SessionsRunning int  `json:"sessionsRunning"` // go on
}

func runGatewayStop(ctx context.Context, env *Env, o stopOptions) error {
	if err := env.refuseInside("stopping the gateway"); err != nil {
		return err
	}
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		var rep stopReport
		if err := rep.stopService(ctx, env, dir); err != nil {
			return err
		}
		if err := rep.stopDaemon(ctx, env, dir); err != nil {
			return err
		}
		if o.sessions {
			if rep.SessionsEnded, err = env.endSessions(ctx); err != nil {
				return err
			}
		}
		if rep.SessionsRunning, err = env.backgroundSessions(ctx); err != nil {
			return err
		}
		if o.json {
			return env.json(rep)
		}
		return rep.print(env, o)
	})
}

// stopService has the service manager end a daemon that it keeps running; it would take
// an end from elsewhere for a crash, or start the daemon again between two tries.
func (rep *stopReport) stopService(ctx context.Context, env *Env, stateDir string) error {
	svc, err := env.service(ctx, stateDir)
	if err != nil || !svc.state.Running() {
		return err
	}
	if err := svc.Stop(ctx); err != nil {
		return err
	}
	rep.Stopped, rep.Service, rep.PID = true, true, svc.state.PID
	return nil
}

// stopDaemon ends the daemon that holds the state directory, if one does.
func (rep *stopReport) stopDaemon(ctx context.Context, env *Env, stateDir string) error {
	h, err := env.settledDaemon(ctx, stateDir)
	if err != nil || h == nil {
		return err
	}
	defer h.release()
	if err := askEnd(h.process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the gateway (pid %d): %w", h.PID, err)
	}
	err = env.until(ctx, fmt.Sprintf("the gateway (pid %d) to end", h.PID), func() (bool, error) {
		held, err := client.Held(stateDir)
		if err != nil || !held {
			return true, err
		}
		now, found, err := client.Find(stateDir) // somebody may have started another one at once
		return found && (now.PID != h.PID || !now.StartedAt.Equal(h.StartedAt)), err
	})
	if errors.Is(err, errTooLong) {
		return hint("kill -9 "+strconv.Itoa(h.PID)+" ends it at once; what it was writing may be lost",
			"the gateway (pid %d, %s) was asked to end and still runs after %s", h.PID, h.URL, span(controlTimeout))
	}
	rep.Stopped, rep.PID = true, h.PID
	return err
}

func (rep *stopReport) print(env *Env, o stopOptions) error {
	text := "no gateway runs"
	switch {
	case rep.Stopped && rep.PID > 0:
		text = fmt.Sprintf("stopped the gateway (pid %d)", rep.PID)
	case rep.Stopped:
		text = "stopped the gateway"
	}
	if err := env.printf("%s\n", text); err != nil {
		return err
	}
	if o.sessions {
		return env.printf("ended %s\n", count(rep.SessionsEnded, "background session"))
	}
	return env.sessionsGoOn(rep.SessionsRunning)
}

// sessionsGoOn says what still runs without the daemon.
func (e *Env) sessionsGoOn(n int) error {
	if n == 0 {
		return nil
	}
	verb := "go on"
	if n == 1 {
		verb = "goes on"
	}
	return e.printf("%s %s; openclaw process list shows them, openclaw gateway stop --sessions ends them\n", count(n, "background session"), verb)
}

// count is a number with its noun: "1 session", "2 sessions".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
