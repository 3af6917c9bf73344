package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/session"
	"openclaw/internal/supervisor"
	tty "openclaw/internal/terminal"
)

// attachOptions is what was asked of openclaw process attach.
type attachOptions struct {
	id     string
	agent  string
	detach string // name of the key; "none" = no key
	key    []byte // what it sends
}

func newProcessAttach(env *Env, run func(context.Context, *Env, attachOptions) error) *cobra.Command {
	var o attachOptions
	cmd := &cobra.Command{
		Use:   "attach SESSION",
		Short: "take a running session's terminal into this one",
		Long: `Take the terminal of a running session (exec --background --pty) into this one: its
screen, its output as it comes, and every key goes to it, until it ends or the detach key
is pressed. It goes on after that. Several may look at once; the terminal then has the
smallest width and height of theirs.

The detach key is Ctrl-\ unless --detach-key says otherwise. Exit code: 0 when detached,
else the command's own as with openclaw exec.`,
		Example: `  openclaw process attach gentle-otter
  openclaw process attach gentle-otter --detach-key C-]
  id=$(openclaw exec --background --pty -- htop) && openclaw process attach $id`,
		Args: takes(1, 1, "a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			if err := o.readKey(); err != nil {
				return err
			}
			return run(cmd.Context(), env, o)
		},
	}
	cmd.Flags().StringVar(&o.agent, "agent", "", "agent whose session is meant (default: any of yours)")
	cmd.Flags().StringVar(&o.detach, "detach-key", `C-\`, "`key` that detaches: C-a to C-z, C-], C-^, C-_ or none")
	return cmd
}

// readKey turns the key's name into what a terminal sends for it.
func (o *attachOptions) readKey() error {
	if o.detach == "none" {
		return nil
	}
	key, err := tty.Keys([]string{o.detach}, tty.Modes{})
	if err != nil || len(key) != 1 || key[0] >= 0x20 || !strings.HasPrefix(o.detach, "C-") {
		return usage("--detach-key %q: use one like C-] or C-q, or none", o.detach)
	}
	o.key = key
	return nil
}

// runAttach shows the session until it ends or the person detaches.
func runAttach(ctx context.Context, env *Env, o attachOptions) error {
	_, typed := terminal(env.Stdin)
	_, shown := terminal(env.Stdout)
	if !typed || !shown {
		return &usageError{
			err:  errors.New("attach needs a terminal as standard input and output"),
			hint: "openclaw process poll " + o.id + " prints what came out, write and send-keys send to it",
		}
	}
	agent, err := env.sessionOwner(o.agent)
	if err != nil {
		return err
	}
	var end error
	err = env.lookAtSessions(func(c *supervisor.Client) error {
		st, err := c.Get(ctx, agent, o.id)
		switch {
		case err != nil:
			return err
		case st.Finished():
			return hint("openclaw process log "+o.id, "%s has ended", o.id)
		case !st.PTY:
			return hint("openclaw process poll "+o.id+" prints its output; start it with --pty for a terminal", "%s runs without a terminal", o.id)
		}
		v := &attachment{env: env, opt: o, sessions: c, agent: st.Agent}
		end = interruptible(ctx, v.show)
		return nil
	})
	if errors.Is(err, session.ErrNotFound) {
		return hint("openclaw process list; one of a daemon with --ephemeral cannot be attached to", "%w", err)
	}
	return errors.Join(end, err)
}

// sessionOwner is the agent whose sessions the caller may reach: a person's all, a
// program's inside a session those of agent main.
func (e *Env) sessionOwner(agent string) (string, error) {
	if agent != "" {
		id, err := identity.AgentID(agent)
		if err != nil {
			return "", &usageError{err: err}
		}
		agent = id
	}
	switch {
	case insideSession(e.Environ) && agent != "" && agent != config.MainAgent:
		return "", fmt.Errorf("sessions of agent %s are not reached from inside a process session", agent)
	case insideSession(e.Environ):
		return config.MainAgent, nil
	case agent == "":
		return session.AnyAgent, nil
	}
	return agent, nil
}
