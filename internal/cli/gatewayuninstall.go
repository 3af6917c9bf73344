package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"openclaw/internal/service"
)

func newGatewayUninstall(env *Env, run func(ctx context.Context, env *Env, asJSON bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "stop the service and remove its definition",
		Long: `Stop the service and remove the definition that openclaw gateway install wrote.
Background sessions go on, and everything in the state directory stays.`,
		Example: "  openclaw gateway uninstall",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runGatewayUninstall(ctx context.Context, env *Env, asJSON bool) error {
	if err := env.refuseInside("uninstalling the gateway"); err != nil {
		return err
	}
	m, err := env.manager()
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		removed, err := m.Uninstall(ctx)
		switch {
		case errors.Is(err, service.ErrForeign):
			return hint("remove it yourself if it is of no use", "%w", err)
		case err != nil:
			return env.noManager(err)
		}
		running, err := env.backgroundSessions(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return env.json(map[string]any{"file": m.Path(), "removed": removed, "sessionsRunning": running})
		}
		if !removed {
			return env.printf("no service is installed\n")
		}
		return errors.Join(env.printf("removed %s\n", visible(m.Path())), env.sessionsGoOn(running))
	})
}
