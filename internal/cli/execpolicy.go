package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/policy"
)

// preset is a policy by one word: what it writes to the approvals document, and the mode
// that the configuration has to have for it.
type preset struct {
	words approval.Words
	mode  string
	says  string
}

var presets = map[string]preset{
	"yolo":     {approval.Words{Security: "full", Ask: "off", AskFallback: "full"}, "full", "every command runs, nobody is asked"},
	"cautious": {approval.Words{Security: "allowlist", Ask: "on-miss", AskFallback: "deny"}, "ask", "what is on the lists runs, for the rest a person is asked"},
	"deny-all": {approval.Words{Security: "deny", Ask: "off", AskFallback: "deny"}, "deny", "no command runs"},
}

func newExecPolicy(env *Env) *cobra.Command {
	return newGroup("exec-policy", "how strict this machine is, in one word",
		"  openclaw exec-policy show\n  openclaw exec-policy preset cautious\n  openclaw exec-policy set --security allowlist --ask on-miss --agent builder",
		newExecPolicyShow(env), newExecPolicySet(env), newExecPolicyPreset(env))
}

// agentPolicy is one row of exec-policy show.
type agentPolicy struct {
	Agent     string            `json:"agent"`
	Requested map[string]string `json:"requested"` // by the configuration
	Effective policy.Effective  `json:"effective"`
}

// effectivePolicies puts configuration and document together for each agent.
func effectivePolicies(env *Env, cfg *config.Config) ([]agentPolicy, error) {
	reader := approval.NewReader(cfg.StateDir, "")
	var out []agentPolicy
	for _, id := range cfg.AgentIDs() {
		host, err := reader.For(id)
		if err != nil {
			return nil, hint("openclaw approvals get shows what is wrong", "%v", err)
		}
		set := cfg.Exec(id)
		row := agentPolicy{Agent: id, Requested: map[string]string{"security": set.Security, "ask": set.Ask}}
		row.Effective = policy.Combine(policy.Layers{
			Security: policy.Security(set.Security), SecuritySource: set.SecurityKey,
			Ask: policy.Ask(set.Ask), AskSource: set.AskKey, Host: host.Policy,
		})
		out = append(out, row)
	}
	return out, nil
}

func (e *Env) loadConfig() (*config.Config, error) {
	path, err := config.Path(e.Getenv)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(path, e.Getenv)
	if err != nil {
		return nil, configError(err)
	}
	return cfg, nil
}

func newExecPolicyShow(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "show the policy in force for each agent, and where each word comes from",
		Example: "  openclaw exec-policy show\n  openclaw exec-policy show --json", Args: takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := env.loadConfig()
			if err != nil {
				return err
			}
			rows, err := effectivePolicies(env, cfg)
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(map[string]any{"agents": rows})
			}
			var cells [][]string
			for _, r := range rows {
				e := r.Effective
				cells = append(cells, []string{
					r.Agent, fmt.Sprintf("%s (%s)", e.Security.Value, e.Security.Source), fmt.Sprintf("%s (%s)", e.Ask.Value, e.Ask.Source),
					fmt.Sprintf("%s (%s)", e.AskFallback.Value, e.AskFallback.Source),
				})
			}
			return env.table([]string{"AGENT", "SECURITY", "ASK", "IF NOBODY CAN ANSWER"}, cells)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newExecPolicySet(env *Env) *cobra.Command {
	var w approval.Words
	var agent, host string
	cmd := &cobra.Command{
		Use: "set", Short: "set words of this machine's policy in the approvals document",
		Long: `Set security, ask or askFallback in the approvals document, for all agents or for one. The
document can only make the configuration stricter; show says what is in force. The
word - takes a setting away.`,
		Example: "  openclaw exec-policy set --security allowlist --ask on-miss\n  openclaw exec-policy set --agent builder --security deny",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := thisMachine(host); err != nil {
				return err
			}
			if w == (approval.Words{}) {
				return usage("give --security, --ask or --ask-fallback")
			}
			return env.setPolicy(cmd.Context(), agent, w)
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.Security, "security", "", "deny, allowlist or full")
	f.StringVar(&w.Ask, "ask", "", "off, on-miss or always")
	f.StringVar(&w.AskFallback, "ask-fallback", "", "deny, allowlist or full: when nobody can answer")
	f.StringVar(&agent, "agent", "", "only this agent's (default: all)")
	f.StringVar(&host, "host", "", "where: only this machine can be set")
	return cmd
}

// thisMachine refuses another machine: each keeps its own document.
func thisMachine(host string) error {
	switch host {
	case "", "gateway", "local":
		return nil
	}
	return usage("--host %s is not set from here: run openclaw exec-policy on that machine", host)
}

func (e *Env) setPolicy(ctx context.Context, agent string, w approval.Words) error {
	if err := e.refuseInside("changing the policy"); err != nil {
		return err
	}
	if agent != "" {
		id, err := allowlistAgent(agent)
		if err != nil {
			return err
		}
		agent = id
	}
	f, err := e.ownDocument()
	if err != nil {
		return err
	}
	if err := f.SetWords(ctx, agent, w); err != nil {
		return hint("the words: security deny|allowlist|full, ask off|on-miss|always, ask-fallback deny|allowlist|full", "%v", err)
	}
	cfg, err := e.loadConfig()
	if err != nil {
		return err
	}
	rows, err := effectivePolicies(e, cfg)
	if err != nil {
		return err
	}
	for _, r := range rows {
		ef := r.Effective
		if err := e.printf("%s: security=%s ask=%s askFallback=%s\n", r.Agent, ef.Security.Value, ef.Ask.Value, ef.AskFallback.Value); err != nil {
			return err
		}
	}
	return nil
}

func newExecPolicyPreset(env *Env) *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use: "preset yolo|cautious|deny-all", Short: "set the whole policy by one word",
		Long: `Write a preset to the approvals document of this machine:
  yolo      every command runs, nobody is asked
  cautious  what is on the lists runs, for the rest a person is asked
  deny-all  no command runs
The document can only make the configuration stricter: where the configuration asks for
something else, the setting that would have to change is named.`,
		Example: "  openclaw exec-policy preset cautious",
		Args:    takes(1, 1, "a preset"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := thisMachine(host); err != nil {
				return err
			}
			p, ok := presets[args[0]]
			if !ok {
				return usage("%q is no preset; there are yolo, cautious and deny-all", args[0])
			}
			if err := env.setPolicy(cmd.Context(), "", p.words); err != nil {
				return err
			}
			cfg, err := env.loadConfig()
			if err != nil {
				return err
			}
			for _, id := range cfg.AgentIDs() {
				if set := cfg.Exec(id); set.SecurityKey != "" && (set.Security != p.words.Security || set.Ask != p.words.Ask) {
					env.say("note", "agent %s: openclaw.json sets security=%s ask=%s (%s); for %s it would be tools.exec.mode %s", id, set.Security, set.Ask, set.SecurityKey, args[0], p.mode)
				}
			}
			return env.printf("%s: %s\n", args[0], p.says)
		},
	}
	cmd.Flags().StringVar(&host, "host", "", "where: only this machine can be set")
	return cmd
}
