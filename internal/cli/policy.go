package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/identity"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
)

func newPolicy(env *Env) *cobra.Command {
	return newGroup("policy", "what commands may run, and why", "  openclaw policy explain -- 'git log | head -5'", newExplain(env))
}

// explainFlags are the parameters of one explanation.
type explainFlags struct {
	agent, dir string
	env        []string
	json       bool
}

func newExplain(env *Env) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [flags] -- COMMAND",
		Short: "say whether a command may run, and why, without running it",
		Long: `Judge a command under the configuration and the approvals document of this machine and
print the decision, each part of the command with its rule and reason, and the change
that would allow it. Nothing is run. PATH is the one of this program.

COMMAND is shell text; several words are joined by blanks. The exit code is 0 whatever
the decision is.`,
		Example: `  openclaw policy explain -- 'cd src && git status | head -5'
  openclaw policy explain --agent research --json -- 'make test'`,
		Args: takes(1, -1, "a command"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runExplain(env, f, strings.Join(args, " "))
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.agent, "agent", config.MainAgent, "the agent that would run it")
	flags.StringVar(&f.dir, "cwd", "", "the directory it would run in (default the current one)")
	flags.StringArrayVar(&f.env, "env", nil, "a variable NAME=VALUE that the call would set; may be repeated")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func runExplain(env *Env, f explainFlags, command string) error {
	agent, err := identity.AgentID(f.agent)
	if err != nil {
		return &usageError{err: err}
	}
	overrides := map[string]string{}
	for _, pair := range f.env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return usage("--env %q is not NAME=VALUE", pair)
		}
		overrides[name] = value
	}
	dir := f.dir
	if !filepath.IsAbs(dir) {
		if dir = filepath.Join(env.Dir, dir); env.Dir == "" {
			return hint("give --cwd an absolute path", "the current directory is not known")
		}
	}
	d, err := explain(env, agent, dir, overrides, command)
	if err != nil {
		return err
	}
	if f.json {
		return env.json(d)
	}
	return env.printf("%s", explanation{env: env, command: command, d: d}.String())
}

// explain judges the command as this program's own exec would.
func explain(env *Env, agent, dir string, overrides map[string]string, command string) (policy.Decision, error) {
	path, err := config.Path(env.Getenv)
	if err != nil {
		return policy.Decision{}, err
	}
	cfg, err := config.Load(path, env.Getenv)
	if err != nil {
		return policy.Decision{}, configError(err)
	}
	set := cfg.Exec(agent)
	in := policy.Input{
		Command: command, Agent: agent, Dir: dir, Path: env.Getenv("PATH"), Env: overrides,
		Machine: host.NewMachine(nil).Once(), PowerShell: host.TextIsPowerShell, Explain: true,
		Layers: policy.Layers{
			Security: policy.Security(set.Security), SecuritySource: set.SecurityKey,
			Ask: policy.Ask(set.Ask), AskSource: set.AskKey, StrictInlineEval: set.StrictInlineEval,
		},
	}
	if real, err := filepath.EvalSymlinks(env.Program); err == nil {
		in.Self = real
	}
	refused := func(rule, reason, advice string) (policy.Decision, error) {
		return policy.Decision{
			Outcome: policy.OutcomeDeny, Rule: rule, Reason: reason, Hint: advice,
			Effective: policy.Combine(in.Layers), Segments: []policy.Segment{},
		}, nil
	}
	if ok, key := cfg.ToolAllowed(agent, protocol.ToolExec); !ok {
		return refused("P-1", "the exec tool is not available to agent "+agent+" ("+key+")", "openclaw.json: "+key+" decides this")
	}
	home := host.Home(env.Getenv)
	doc, err := approval.NewReader(cfg.StateDir, home).For(agent)
	if err != nil {
		return refused("A-2", err.Error(), "mend or remove "+filepath.Join(cfg.StateDir, approval.FileName))
	}
	in.Layers.Host = doc.Policy
	if _, err := host.CheckEnv(overrides, policy.Decision{Effective: policy.Combine(in.Layers)}.Judged()); err != nil {
		return refused("X-10", err.Error(), "leave it out")
	}
	in.Rules = policy.Rules{
		Allowlist: doc.List, AllowStreamRedirects: set.AllowStreamRedirects,
		SafeBins: policy.CompileSafeBins(set.SafeBins, set.SafeBinTrustedDirs, profiles(set.SafeBinProfiles)),
	}
	for _, w := range append(doc.List.Useless(), in.Rules.SafeBins.Warnings()...) {
		env.say("warning", "%s", w)
	}
	d := policy.Decide(in)
	if d.Segments == nil {
		d.Segments = []policy.Segment{}
	}
	return d, nil
}

func profiles(set map[string]config.SafeBinProfile) map[string]policy.Profile {
	out := make(map[string]policy.Profile, len(set))
	for name, p := range set {
		out[name] = policy.Profile(p)
	}
	return out
}
