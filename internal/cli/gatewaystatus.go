package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/service"
)

// gatewayStatusOptions is what was asked of openclaw gateway status.
type gatewayStatusOptions struct {
	json bool
	now  func() time.Time
}

func newGatewayStatus(env *Env, run func(context.Context, *Env, gatewayStatusOptions) error) *cobra.Command {
	o := gatewayStatusOptions{now: time.Now}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "whether the daemon runs, and how its service stands",
		Long: `Say whether the daemon runs, how its service stands and how many background sessions
there are. The exit code is 0 when the daemon runs and 1 when it does not. openclaw
status tells more, about policy and sessions.`,
		Example: "  openclaw gateway status\n  openclaw gateway status --json | jq .service.enabled",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// daemonReport is what openclaw gateway status says, as --json prints it.
type daemonReport struct {
	Running     bool          `json:"running"`
	StateDir    string        `json:"stateDir"`
	PID         int           `json:"pid,omitempty"`
	URL         string        `json:"url,omitempty"`
	Version     string        `json:"version,omitempty"`
	StartedAtMs int64         `json:"startedAtMs,omitempty"` // Unix time in ms
	UptimeMs    int64         `json:"uptimeMs,omitempty"`
	Service     serviceReport `json:"service"`
	Sessions    int           `json:"sessions"` // in the background
	Problems    []string      `json:"problems,omitempty"`
}

// serviceReport is how the service of this state directory stands.
type serviceReport struct {
	Manager service.Kind `json:"manager"`
	File    string       `json:"file,omitempty"`
	service.State
}

// runGatewayStatus reports what can be known; what cannot is a problem in the report.
func runGatewayStatus(ctx context.Context, env *Env, o gatewayStatusOptions) error {
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		rep := daemonReport{StateDir: dir, Service: serviceReport{Manager: service.Here()}}
		note := func(err error) {
			if err != nil {
				rep.Problems = append(rep.Problems, err.Error())
			}
		}
		ep, found, err := client.Find(dir)
		note(err)
		if found {
			rep.Running, rep.PID, rep.URL, rep.Version = true, ep.PID, ep.URL, ep.Version
			rep.StartedAtMs, rep.UptimeMs = ep.StartedAt.UnixMilli(), max(o.now().Sub(ep.StartedAt).Milliseconds(), 0)
		}
		svc, err := env.service(ctx, dir)
		note(errors.Join(err, svc.problem))
		if svc.installed {
			rep.Service.File, rep.Service.State = svc.Path(), svc.state
			rep.Service.Installed = true
		}
		rep.Sessions, err = env.backgroundSessions(ctx)
		note(err)
		if o.json {
			err = env.json(rep)
		} else {
			err = rep.print(env)
		}
		if err == nil && !rep.Running {
			err = &exitError{code: exitFailed} // said already
		}
		return err
	})
}

func (rep daemonReport) print(env *Env) error {
	gateway := "not running on " + rep.StateDir
	if rep.Running {
		gateway = fmt.Sprintf("%s, pid %d, version %s, up %s", rep.URL, rep.PID, rep.Version, span(time.Duration(rep.UptimeMs)*time.Millisecond))
	}
	for _, line := range [][2]string{{"gateway", gateway}, {"service", rep.Service.text()}, {"sessions", fmt.Sprintf("%d in the background", rep.Sessions)}} {
		if err := env.printf("%s %s\n", env.bold(fmt.Sprintf("%-10s", line[0])), visible(line[1])); err != nil {
			return err
		}
	}
	for _, p := range rep.Problems {
		env.say("warning", "%s", p)
	}
	env.lingerNote(rep.Service.State)
	if !rep.Running {
		env.say("hint", "openclaw gateway run, or as a service: openclaw gateway install")
	}
	return nil
}

func (s serviceReport) text() string {
	switch {
	case !s.Installed:
		return "not installed"
	case s.Active == "":
		return "installed, state not known"
	case s.Enabled:
		return "installed, starts at login, " + s.Active
	}
	return "installed, does not start at login, " + s.Active
}
