package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/safefile"
	"openclaw/internal/service"
)

// installOptions is what was asked of openclaw gateway install.
type installOptions struct{ force, print, json bool }

func newGatewayInstall(env *Env, run func(context.Context, *Env, installOptions) error) *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "have your service manager keep the daemon running",
		Long: `Write a service definition for this user (a systemd user unit, or a launchd agent on
macOS), start the daemon, and have it start at each login and after a crash. Neither
root nor a system-wide file is needed, and no secret is written. A file that is there
and says something else is kept, unless --force.`,
		Example: "  openclaw gateway install\n  openclaw gateway install --print    # look first; nothing is changed",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that says something else")
	cmd.Flags().BoolVar(&o.print, "print", false, "print the definition and change nothing")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// installReport is what openclaw gateway install did, as --json prints it.
type installReport struct {
	File    string        `json:"file"`
	Written bool          `json:"written"` // false = it was there already
	Service service.State `json:"service"`
	Gateway startReport   `json:"gateway"`

	runsOld bool // the daemon runs on, by the definition of before
}

func runGatewayInstall(ctx context.Context, env *Env, o installOptions) error {
	if err := env.refuseInside("installing the gateway"); err != nil {
		return err
	}
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	spec, err := env.serviceSpec(dir)
	if err != nil {
		return err
	}
	m, err := env.manager()
	if err != nil {
		return err
	}
	if o.print {
		return env.printDefinition(m, spec, o.json)
	}
	return interruptible(ctx, func(ctx context.Context) error {
		rep, err := env.install(ctx, m, spec, o.force)
		if err != nil {
			return env.noManager(err)
		}
		if o.json {
			return env.json(rep)
		}
		return rep.print(env)
	})
}

func (e *Env) printDefinition(m *service.Manager, spec service.Spec, asJSON bool) error {
	text, err := m.Text(spec)
	if err != nil {
		return e.noManager(err)
	}
	if asJSON {
		return e.json(struct {
			File string `json:"file"`
			Text string `json:"text"`
		}{m.Path(), text})
	}
	e.say("note", "this would be %s", m.Path())
	return e.printf("%s", text)
}

// serviceSpec is what the service is to run. Only where it would not find its files by
// itself are their places written down, and never a secret.
func (e *Env) serviceSpec(stateDir string) (service.Spec, error) {
	spec := service.Spec{
		Program: e.startPath(), Args: []string{"gateway", "run", "--banner=false"},
		Env: map[string]string{}, StateDir: stateDir, Log: filepath.Join(stateDir, "gateway.log"),
	}
	if spec.Program == "" {
		return service.Spec{}, errors.New("it is not known where this program is; start it by its path")
	}
	path, err := config.Path(e.Getenv)
	if err != nil {
		return service.Spec{}, err
	}
	if stateDir != e.without("OPENCLAW_STATE_DIR", config.StateDir) {
		spec.Env["OPENCLAW_STATE_DIR"] = stateDir
	}
	if path != e.without("OPENCLAW_CONFIG_PATH", config.Path) {
		spec.Env["OPENCLAW_CONFIG_PATH"] = path
	}
	return spec, nil
}

// without asks for a place as if a variable were not set; "" = there is none then.
func (e *Env) without(name string, place func(func(string) string) (string, error)) string {
	path, err := place(func(n string) string {
		if n == name {
			return ""
		}
		return e.Getenv(n)
	})
	if err != nil {
		return ""
	}
	return path
}

// install refuses what would leave a service that cannot start.
func (e *Env) install(ctx context.Context, m *service.Manager, spec service.Spec, force bool) (installReport, error) {
	before, err := m.State(ctx)
	if err != nil {
		return installReport{}, err
	}
	ep, found, err := client.Find(spec.StateDir)
	if err != nil {
		return installReport{}, err
	}
	if found && ep.PID != before.PID {
		return installReport{}, hint("openclaw gateway stop, then openclaw gateway install",
			"a gateway (pid %d, %s) runs on %s already and is not the service's", ep.PID, ep.URL, spec.StateDir)
	}
	if err := e.wouldStart(); err != nil {
		return installReport{}, err
	}
	if err := safefile.Dir(spec.StateDir); err != nil { // launchd opens the log in it before we run
		return installReport{}, err
	}
	rep := installReport{File: m.Path()}
	rep.Written, err = m.Install(ctx, spec, force)
	if errors.Is(err, service.ErrForeign) || errors.Is(err, service.ErrDiffers) {
		return installReport{}, hint("openclaw gateway install --print shows the new text, --force replaces the file", "%w", err)
	}
	if err != nil {
		return installReport{}, err
	}
	rep.runsOld = rep.Written && before.Running()
	own := ownService{Manager: m}
	rep.Gateway, err = e.awaitStart(ctx, startWait{
		stateDir: spec.StateDir, log: own.log(), service: true, ended: func() bool { return !own.runsNow(ctx) },
	})
	if err != nil {
		return installReport{}, err
	}
	rep.Service, err = m.State(ctx)
	return rep, err
}

func (rep installReport) print(env *Env) error {
	text := "%s is there already\n"
	if rep.Written {
		text = "installed %s\n"
	}
	if err := env.printf(text, visible(rep.File)); err != nil {
		return err
	}
	g := rep.Gateway
	if err := env.printf("the gateway runs: pid %d, %s, version %s\n", g.PID, visible(g.URL), visible(g.Version)); err != nil {
		return err
	}
	if rep.runsOld {
		env.say("note", "it still runs by the definition of before: openclaw gateway restart")
	}
	if env.Getenv(gatewayTokenEnv) != "" {
		env.say("note", "%s is not written into the service, which uses the token in its state directory", gatewayTokenEnv)
	}
	env.lingerNote(rep.Service)
	return nil
}

// lingerNote says when the service ends sooner than a person may think.
func (e *Env) lingerNote(s service.State) {
	if s.Linger != nil && !*s.Linger {
		e.say("note", "the service ends when you log out; to keep it: %s", lingerCommand())
	}
}
