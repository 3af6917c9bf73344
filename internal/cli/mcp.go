package cli

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"openclaw/internal/mcp"
)

// mcpOptions is what was asked of openclaw mcp.
type mcpOptions struct {
	agent     string
	local     bool
	ephemeral bool
}

func newMCP(env *Env, run func(context.Context, *Env, mcpOptions) error) *cobra.Command {
	var o mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "serve the tools to an MCP client over standard input and output",
		Long: `Serve the tools exec and process to an MCP client (Model Context Protocol) over standard
input and output, until the client goes. Calls go to the running gateway with an agent's
token, never the operator's; without a gateway this process judges them under the same
policy. Commands run in the directory this was started in. Those in the background go on
when the client goes: openclaw process list finds them.

The gateway's token file is agent main's. For another agent put its own token, made with
openclaw agents token create, into OPENCLAW_AGENT_TOKEN.`,
		Example: `  openclaw mcp
  {"mcpServers": {"openclaw": {"command": "openclaw", "args": ["mcp"]}}}   # for a client`,
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	cmd.Flags().StringVar(&o.agent, "agent", "", "agent to act for (default main)")
	cmd.Flags().BoolVar(&o.local, "local", false, "answer in this process, also when a gateway runs")
	cmd.Flags().BoolVar(&o.ephemeral, "ephemeral", false, "without a gateway: commands in the background end with this program")
	return cmd
}

// runMCP serves until the client closes its end.
func runMCP(ctx context.Context, env *Env, o mcpOptions) error {
	return interruptible(ctx, func(ctx context.Context) error {
		link, err := env.connect(via{agent: o.agent, local: o.local, lasting: true, ephemeral: o.ephemeral, agentOnly: true, origin: "stdio"})
		if err != nil {
			return err
		}
		if _, typed := terminal(env.Stdin); typed {
			env.say("note", "this speaks MCP with a program on standard input; Ctrl-D ends it, openclaw mcp --help explains")
		}
		log := slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		err = mcp.ServeStdio(ctx, link, mcp.Options{Version: env.Version, Log: log, Asker: link.asker}, closer(env.Stdin), env.Stdout)
		if cerr := link.close(); err == nil {
			err = cerr
		}
		return err
	})
}

// closer gives a reader a Close if it has none.
func closer(r io.Reader) io.ReadCloser {
	if c, ok := r.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(r)
}
