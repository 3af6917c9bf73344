package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newLogs(env *Env) *cobra.Command {
	var asJSON, follow bool
	var limit int
	cmd := &cobra.Command{
		Use: "logs", Short: "print the latest lines of the gateway's log",
		Long: `Print the latest lines of the log of the gateway that runs. The gateway keeps the last 512 KiB
for this; all of it is where it was started to write it: the terminal, or the service's log.`,
		Example: "  openclaw logs --follow\n  openclaw logs --limit 1000 --json | jq -r .lines[]",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 5000 {
				return usage("--limit goes from 1 to 5000")
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error {
				return env.viaOperator(ctx, func(c control) error { return printLogs(ctx, env, c, limit, follow, asJSON) })
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "go on with what is added, until Ctrl-C")
	f.IntVar(&limit, "limit", 200, "how many lines, 1 to 5000")
	f.BoolVar(&asJSON, "json", false, "print JSON, with --follow one object for each piece")
	return gatewayFlags(env, cmd)
}

// logsWaitMs is how long one question waits for new lines.
const logsWaitMs = 30_000

func printLogs(ctx context.Context, env *Env, c control, limit int, follow, asJSON bool) error {
	params := map[string]any{"limit": limit}
	for first := true; ; first = false {
		var page struct {
			File      string   `json:"file"`
			Cursor    int64    `json:"cursor"`
			Size      int64    `json:"size"`
			Lines     []string `json:"lines"`
			Truncated bool     `json:"truncated,omitempty"`
			Reset     bool     `json:"reset,omitempty"`
		}
		if err := c.RPC(ctx, "logs.tail", params, &page); err != nil {
			return err
		}
		if !first && (page.Truncated || page.Reset) {
			env.say("note", "lines are missing here: more was logged than is kept")
		}
		if asJSON {
			if err := env.json(page); err != nil {
				return err
			}
		} else {
			for _, line := range page.Lines {
				if err := env.printf("%s\n", visible(line)); err != nil {
					return err
				}
			}
		}
		if !follow {
			return nil
		}
		params = map[string]any{"cursor": page.Cursor, "limit": 5000, "waitMs": logsWaitMs}
	}
}
