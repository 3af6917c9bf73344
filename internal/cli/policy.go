package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"openclaw/internal/policy"
	"openclaw/internal/protocol"
)

func newPolicy(env *Env) *cobra.Command {
	return newGroup("policy", "what commands may run, and why", "  openclaw policy explain -- 'git log | head -5'", newExplain(env))
}

// explainFlags are the parameters of one explanation.
type explainFlags struct {
	agent, dir, host string
	env              []string
	local, json      bool
}

func newExplain(env *Env) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [flags] -- COMMAND",
		Short: "say whether a command may run, and why, without running it",
		Long: `Judge a command under the configuration and the approvals document of this machine and
print the decision, each part of the command with its rule and reason, and the change
that would allow it. Nothing is run. A running gateway is asked; without one, and with
--local, this program judges with its own PATH.

COMMAND is shell text; several words are a program and its arguments, as for exec. The exit
code is 0 whatever the decision is.`,
		Example: `  openclaw policy explain -- 'cd src && git status | head -5'
  openclaw policy explain --agent research --json -- 'make test'`,
		Args: takes(1, -1, "a command"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExplain(cmd.Context(), env, f, commandText(args))
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.agent, "agent", "", "the agent that would run it (default main)")
	flags.StringVar(&f.host, "host", "", "where it would run: auto, sandbox, gateway or node")
	flags.BoolVar(&f.local, "local", false, "do not ask a running gateway")
	flags.StringVar(&f.dir, "cwd", "", "the directory it would run in (default the current one)")
	flags.StringArrayVar(&f.env, "env", nil, "a variable NAME=VALUE that the call would set; may be repeated")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func runExplain(ctx context.Context, env *Env, f explainFlags, command string) error {
	args := map[string]any{"command": command}
	overrides := map[string]string{}
	for _, pair := range f.env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return usage("--env %q is not NAME=VALUE", pair)
		}
		overrides[name] = value
	}
	if len(overrides) > 0 {
		args["env"] = overrides
	}
	if f.host != "" {
		args["host"] = f.host
	}
	switch {
	case filepath.IsAbs(f.dir):
		args["workdir"] = f.dir
	case env.Dir == "":
		return hint("give --cwd an absolute path", "the current directory is not known")
	default:
		args["workdir"] = filepath.Join(env.Dir, f.dir)
	}
	d, err := explain(ctx, env, f, args)
	if err != nil {
		return err
	}
	if !utf8.ValidString(command) { // other bytes were looked at, and exec runs nothing
		d.Outcome, d.Rule, d.Reason, d.Hint = policy.OutcomeDeny, "P-25", "the command "+notText, ""
	}
	if d.Segments == nil {
		d.Segments = []policy.Segment{}
	}
	if f.json {
		return env.json(d)
	}
	for _, w := range d.Warnings {
		env.say("warning", "%s", w)
	}
	return env.printf("%s", explanation{env: env, command: command, d: d}.String())
}

// explain asks the running daemon, or this program's own call path, what exec would say.
func explain(ctx context.Context, env *Env, f explainFlags, args map[string]any) (d policy.Decision, err error) {
	link, err := env.connect(via{agent: f.agent, local: f.local, origin: "cli"})
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, link.close()) }()
	req, err := request(protocol.ToolExec, args)
	if err != nil {
		return d, err
	}
	req.DryRun = true
	res, err := link.Call(ctx, req, nil)
	if err != nil {
		return d, err
	}
	raw, err := json.Marshal(res.Details)
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		return d, fmt.Errorf("the gateway's decision cannot be read (is it of another version?): %w", err)
	}
	return d, nil
}
