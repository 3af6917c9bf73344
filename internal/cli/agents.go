package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/config"
	"openclaw/internal/identity"
)

func newAgents(env *Env) *cobra.Command {
	return newGroup("agents", "agents and what they sign in with", "  openclaw agents token list",
		newGroup("token", "tokens with which agents call the tools",
			`  openclaw agents token create builder --label 'CI machine'
  openclaw agents token list
  openclaw agents token revoke 1f0c9a2b`,
			newTokenCreate(env, runTokenCreate), newTokenList(env), newTokenRevoke(env)))
}

// tokenStore opens the credentials. The daemon notices a change of the files at once,
// so nothing has to be asked of it.
func tokenStore(env *Env) (*identity.Store, error) {
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return nil, err
	}
	return identity.Open(dir)
}

// tokenOptions is what was asked of openclaw agents token create.
type tokenOptions struct {
	agent       string
	mainSession bool
	label       string
	json        bool
}

func newTokenCreate(env *Env, run func(context.Context, *Env, tokenOptions) error) *cobra.Command {
	var o tokenOptions
	var session string
	cmd := &cobra.Command{
		Use:   "create AGENT",
		Short: "make a token for an agent and print it, once",
		Long: `Make a token with which a program calls the tools as AGENT, and print it. It is kept as
a hash only: this is the one time it can be read. It opens the tool routes and the
events of this agent, no approvals and no settings.`,
		Example: `  openclaw agents token create builder --label 'CI machine'
  OPENCLAW_AGENT_TOKEN=$(openclaw agents token create builder) openclaw mcp --agent builder`,
		Args: takes(1, 1, "one agent id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.agent = args[0]
			if session != "" && session != identity.SessionMain {
				return usage("--session %q: the only one there is is %s", session, identity.SessionMain)
			}
			o.mainSession = session == identity.SessionMain
			return run(cmd.Context(), env, o)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "bind it to the agent's `session` main; else its calls count as another session's")
	cmd.Flags().StringVar(&o.label, "label", "", "`text` to tell it apart in the list")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runTokenCreate(_ context.Context, env *Env, o tokenOptions) error {
	if err := env.refuseInside("making a token"); err != nil {
		return err
	}
	if _, err := identity.AgentID(o.agent); err != nil {
		return &usageError{err: err}
	}
	store, err := tokenStore(env)
	if err != nil {
		return err
	}
	tok, secret, err := store.Create(o.agent, o.mainSession, o.label)
	if err != nil {
		return err
	}
	if o.json {
		return env.json(struct {
			identity.Token
			Secret string `json:"token"`
		}{tok, secret})
	}
	env.say("note", "token %s for agent %s; it is shown this once", tok.ID, tok.Agent)
	return env.printf("%s\n", secret)
}

func newTokenList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "list the agents' tokens, without the secrets",
		Example: "  openclaw agents token list\n  openclaw agents token list --json",
		Args:    takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			store, err := tokenStore(env)
			if err != nil {
				return err
			}
			list, err := store.List()
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(map[string]any{"tokens": list})
			}
			return env.table([]string{"ID", "AGENT", "SESSION", "CREATED", "LABEL"}, tokenRows(list))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func tokenRows(list []identity.Token) [][]string {
	var rows [][]string
	for _, tok := range list {
		created, session := "", tok.Session
		if tok.CreatedAtMs > 0 {
			created = time.UnixMilli(tok.CreatedAtMs).Format("2006-01-02 15:04")
		}
		if session == "" {
			session = "-"
		}
		label := tok.Label
		if tok.ID == identity.DefaultID {
			label = "the file agent-token"
		}
		rows = append(rows, []string{tok.ID, tok.Agent, session, created, label})
	}
	return rows
}

func newTokenRevoke(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "end a token; default gets a new secret in its file",
		Example: `  openclaw agents token revoke 1f0c9a2b
  openclaw agents token revoke default`,
		Args: takes(1, 1, "one token id"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := env.refuseInside("revoking a token"); err != nil {
				return err
			}
			store, err := tokenStore(env)
			if err != nil {
				return err
			}
			err = store.Revoke(args[0])
			var unknown *identity.UnknownTokenError
			if errors.As(err, &unknown) {
				return hint("openclaw agents token list", "no agent token %q", unknown.ID)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(map[string]string{"revoked": args[0]})
			}
			return env.printf("%s: revoked\n", args[0])
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
