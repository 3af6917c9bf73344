package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/config"
	"openclaw/internal/gateway"
)

func newGateway(env *Env) *cobra.Command {
	return newGroup("gateway", "the daemon that agents and people talk to",
		`  openclaw gateway run        # in the foreground
  openclaw gateway install    # as a service of yours, at each login
  openclaw gateway status
  openclaw gateway restart    # after an upgrade`,
		newGatewayRun(env, runGateway),
		newGatewayInstall(env, runGatewayInstall),
		newGatewayUninstall(env, runGatewayUninstall),
		newGatewayStatus(env, runGatewayStatus),
		newGatewayRestart(env, runGatewayRestart),
		newGatewayStop(env, runGatewayStop))
}

// gatewayOptions is what was asked of openclaw gateway run.
type gatewayOptions struct {
	port      int // -1 = the configuration's
	bind      string
	config    string
	level     string // "" = info, on a terminal warn
	banner    bool
	ephemeral bool
	check     bool // only say whether this would start
}

func newGatewayRun(env *Env, run func(context.Context, *Env, gatewayOptions) error) *cobra.Command {
	var o gatewayOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "run the daemon in the foreground",
		Long: `Run the daemon in the foreground until Ctrl-C or SIGTERM. It makes its two secrets at
the first start, listens on this machine only unless told otherwise, and picks up edits
of the configuration. Flags count over the configuration. It begins anew, with the
program file that is there by then, on openclaw gateway restart.`,
		Example: `  openclaw gateway run
  openclaw gateway run --port 0 --log-level debug
  OPENCLAW_STATE_DIR=/tmp/try openclaw gateway run --port 18790`,
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("port") {
				o.port = -1
			}
			if err := o.validate(); err != nil {
				return err
			}
			return run(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.port, "port", 0, "port to listen on; 0 = any free one (default gateway.port, 18789)")
	f.StringVar(&o.bind, "bind", "", "loopback, lan or an IP address (default gateway.bind)")
	f.StringVar(&o.config, "config", "", "configuration `file` (default: see openclaw config file)")
	f.StringVar(&o.level, "log-level", "", "debug, info, warn or error (default info, on a terminal warn)")
	f.BoolVar(&o.banner, "banner", true, "print how to connect")
	f.BoolVar(&o.ephemeral, "ephemeral", false, "end commands in the background with the daemon")
	f.BoolVar(&o.check, checkFlag, false, "only say whether it would start with this configuration")
	return cmd
}

func (o gatewayOptions) validate() error {
	if o.port > 65535 || o.port < -1 {
		return usage("--port %d: a port is from 0 to 65535", o.port)
	}
	if _, err := netip.ParseAddr(o.bind); err != nil && o.bind != "" && o.bind != "loopback" && o.bind != "lan" {
		return usage("--bind %q: use loopback, lan or an IP address", o.bind)
	}
	var level slog.Level
	if o.level != "" && level.UnmarshalText([]byte(o.level)) != nil {
		return usage("--log-level %q: use debug, info, warn or error", o.level)
	}
	return nil
}

// logKept is how much of its log a daemon keeps for openclaw logs, in bytes.
const logKept = 512 << 10

// runGateway is the daemon. The first signal ends it in order, a second one at once; one
// to restart ends it in order and starts the program anew in this process.
func runGateway(ctx context.Context, env *Env, o gatewayOptions) error {
	stateDir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	cfg, err := loadFor(env, o)
	if err != nil {
		return err
	}
	if o.check {
		return gateway.Check(cfg, stateDir)
	}
	tail := gateway.NewLogTail(logKept)
	log := slog.New(slog.NewTextHandler(io.MultiWriter(env.Stderr, tail), &slog.HandlerOptions{Level: o.logLevel(env)}))
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "problem", w)
	}
	if len(cfg.Ignored) > 0 { // C-2
		log.Debug("keys that are not ours were ignored", "keys", strings.Join(cfg.Ignored, " "))
	}
	next := env.successor()
	again, err := restartable(ctx, next.allowRestart(stateDir, log), func(ctx context.Context) error {
		err := gateway.Run(ctx, gateway.Options{
			Program: env.Program,
			Config:  cfg, StateDir: stateDir, Getenv: env.Getenv, Environ: env.inherited(), Log: log, LogTail: tail, Version: env.Version,
			Sessions: env.sessionsOf(o.ephemeral, true),
			Ready: func(info gateway.Info) {
				if !o.banner {
					return
				}
				if err := banner(env, stateDir, info.URL, info.Fingerprint); err != nil {
					log.Warn("report the start", "err", err)
				}
			},
		})
		if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errRestarting) {
			return nil // it had not started yet
		}
		return err
	})
	switch {
	case again:
		return next.become()
	case errors.Is(err, context.Canceled):
		err = nil
	}
	if err == nil && !o.ephemeral {
		env.farewell(context.WithoutCancel(ctx), log)
	}
	return err
}

// farewellTime bounds what a daemon that has ended still does.
const farewellTime = 2 * time.Second

// farewell says what goes on without the daemon, and lets supervisors go that have
// nothing to do.
func (e *Env) farewell(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	running, err := e.backgroundSessions(ctx)
	switch {
	case err != nil:
		log.Warn("process sessions", "err", err)
	case running == 0:
		if err := e.retireIdle(ctx); err != nil {
			log.Warn("process sessions", "err", err)
		}
	default:
		log.Warn(fmt.Sprintf("%d commands in the background go on: openclaw process list; openclaw gateway stop --sessions ends them", running))
	}
}

// loadFor reads the configuration and puts the flags over it.
func loadFor(env *Env, o gatewayOptions) (*config.Config, error) {
	path, err := config.Path(env.Getenv)
	if o.config != "" {
		path, err = env.abs(o.config)
	}
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(path, env.Getenv)
	if err != nil {
		return nil, configError(err)
	}
	if o.config != "" && !cfg.Exists {
		return nil, usage("--config %s: there is no such file", path)
	}
	if o.port >= 0 {
		cfg.Gateway.Port = o.port
	}
	if o.bind != "" {
		cfg.Gateway.Bind = o.bind
	}
	return cfg, nil
}

func (o gatewayOptions) logLevel(env *Env) slog.Level {
	level := slog.LevelInfo
	if _, watched := terminal(env.Stderr); watched && o.banner {
		level = slog.LevelWarn // the banner says what info would
	}
	if o.level != "" {
		_ = level.UnmarshalText([]byte(o.level)) // validate has looked at it
	}
	return level
}
