package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/inbox"
	"openclaw/internal/protocol"
	"openclaw/internal/redact"
)

func newApprovals(env *Env) *cobra.Command {
	cmd := newGroup("approvals", "what waits for a person, and what needs none",
		`  openclaw approvals watch
  openclaw approvals pending
  openclaw approvals resolve 1a2b3c4d allow-once
  openclaw approvals allowlist add '~/bin/deploy' --agent main`,
		newPending(env), newResolve(env), newHistory(env), newWatch(env),
		newDocumentGet(env), newDocumentSet(env), newDocumentImport(env), newAllowlist(env))
	cmd.Aliases = []string{"exec-approvals"}
	return gatewayFlags(env, cmd)
}

// operator connects to the daemon with the operator's token, or to the gateway that the
// command line names.
func (e *Env) operator(ctx context.Context) (control, func() error, error) {
	if e.elsewhere.url != "" {
		s, err := e.dialElsewhere(ctx)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	l, err := e.connect(via{daemon: true, control: true})
	if err != nil {
		return nil, nil, err
	}
	if l.control == nil {
		return nil, nil, hint("run it in a terminal of your own, outside of any agent's command",
			"approvals are the operator's; here only an agent's token may be used")
	}
	return l.control, l.close, nil
}

func newPending(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pending", Short: "list what waits for an answer",
		Example: "  openclaw approvals pending\n  openclaw approvals pending --json | jq '.approvals[].request.command'",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, closeClient, err := env.operator(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient() //nolint:errcheck // only idle connections
			all := []protocol.ExecApproval{}
			for _, method := range []string{"exec.approval.list", "plugin.approval.list"} {
				var some []protocol.ExecApproval
				if err := c.RPC(cmd.Context(), method, nil, &some); err != nil {
					return err
				}
				all = append(all, some...)
			}
			if asJSON {
				return env.json(map[string]any{"approvals": all})
			}
			if len(all) == 0 {
				return env.printf("nothing waits for an answer\n")
			}
			return env.table([]string{"ID", "AGENT", "HOST", "LEFT", "COMMAND"}, pendingRows(all, time.Now()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func pendingRows(all []protocol.ExecApproval, now time.Time) [][]string {
	var rows [][]string
	for i := range all {
		a := &all[i]
		what := a.Request.Command
		if a.Request.Title != "" {
			what = a.Request.Title
		}
		rows = append(rows, []string{a.Slug, orDash(a.Request.AgentID), orDash(a.Request.Host), span(time.UnixMilli(a.ExpiresAtMs).Sub(now)), redact.Escape(what)})
	}
	return rows
}

func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func newResolve(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "resolve ID allow-once|allow-always|deny", Short: "answer a request",
		Long: `Answer a request by its id or the beginning of it. The first answer counts: giving the
same again is fine (exit code 0), another one is not taken (exit code 1).`,
		Example: "  openclaw approvals resolve 1a2b3c4d allow-once\n  openclaw approvals resolve 1a2b3c4d deny --json",
		Args:    takes(2, 2, "an id and an answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[1] {
			case "allow-once", "allow-always", "deny":
			default:
				return usage("%q is no answer; give allow-once, allow-always or deny", args[1])
			}
			if err := env.refuseInside("answering an approval"); err != nil {
				return err
			}
			c, closeClient, err := env.operator(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient() //nolint:errcheck // only idle connections
			res, err := resolveRemote(cmd.Context(), c, args[0], args[1])
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(res)
			}
			if !res.Applied {
				return env.printf("already resolved (same decision)\n")
			}
			return env.printf("%s: %s\n", args[1], redact.Escape(res.Approval.Presentation.CommandText))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newHistory(env *Env) *cobra.Command {
	var asJSON bool
	var agent, status, cursor string
	var limit int
	cmd := &cobra.Command{
		Use: "history", Short: "list what was decided, by whom, and what came of it",
		Example: "  openclaw approvals history --limit 20\n  openclaw approvals history --status denied --json",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !slices.Contains([]string{"", "allowed", "denied", "expired", "cancelled"}, status):
				return usage("--status is allowed, denied, expired or cancelled, not %q", status)
			case limit < 1 || limit > 100:
				return usage("--limit goes from 1 to 100")
			}
			c, closeClient, err := env.operator(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient() //nolint:errcheck // only idle connections
			var page struct {
				Items      []protocol.ApprovalSnapshot `json:"items"`
				NextCursor string                      `json:"nextCursor,omitempty"`
			}
			params := map[string]any{"limit": limit}
			for name, value := range map[string]string{"agentId": agent, "status": status, "cursor": cursor} {
				if value != "" {
					params[name] = value
				}
			}
			if err := c.RPC(cmd.Context(), "approval.history", params, &page); err != nil {
				return err
			}
			if asJSON {
				return env.json(page)
			}
			if len(page.Items) == 0 && status+agent+cursor != "" {
				return env.printf("nothing there\n")
			}
			if len(page.Items) == 0 {
				return env.printf("nothing was decided yet\n")
			}
			if err := env.table([]string{"WHEN", "AGENT", "STATUS", "BY", "RUN", "COMMAND"}, historyRows(page.Items)); err != nil {
				return err
			}
			if page.NextCursor != "" {
				env.say("note", "there is more: openclaw approvals history --cursor %s", page.NextCursor)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&agent, "agent", "", "only this agent's")
	f.StringVar(&status, "status", "", "only allowed, denied, expired or cancelled ones")
	f.StringVar(&cursor, "cursor", "", "go on behind the page that named this")
	f.IntVar(&limit, "limit", 50, "how many, 1 to 100")
	return cmd
}

func historyRows(items []protocol.ApprovalSnapshot) [][]string {
	var rows [][]string
	for i := range items {
		it := &items[i]
		by := "-"
		if it.Resolver != nil {
			by = it.Resolver.Kind
			if it.Resolver.ID != "" && it.Resolver.ID != it.Resolver.Kind {
				by = it.Resolver.ID
			}
		}
		what := it.Presentation.CommandText
		if it.Presentation.Title != "" {
			what = it.Presentation.Title
		}
		status := it.Status
		if it.Decision == "allow-always" {
			status = "allowed always"
		}
		rows = append(rows, []string{time.UnixMilli(it.ResolvedAtMs).Format("01-02 15:04:05"), orDash(it.Presentation.AgentID), status, by, runText(it.Run), redact.Escape(what)})
	}
	return rows
}

// runText says what became of a command; run is a JSON object.
func runText(run any) string {
	m, ok := run.(map[string]any)
	if !ok {
		return "-"
	}
	state, _ := m["state"].(string)
	if code, ok := m["exitCode"].(float64); ok {
		return fmt.Sprintf("exit %d", int(code))
	}
	if sig, ok := m["signal"].(string); ok && sig != "" {
		return sig
	}
	if reason, ok := m["reason"].(string); ok && reason != "" {
		return state + ": " + firstLine(reason)
	}
	return state
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func newWatch(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "an inbox in the terminal: see what is asked and answer it",
		Long: `Show what waits for an answer as it comes, and answer with one key: a allows once, d
denies, A shows what "always" would store and asks again. While it runs, agents' requests
wait for you instead of falling back at once.`,
		Example: "  openclaw approvals watch",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := env.refuseInside("answering approvals"); err != nil {
				return err
			}
			if _, ok := terminal(env.Stdout); !ok || !env.attended() {
				return usage("approvals watch needs a terminal; in scripts use approvals pending --json and approvals resolve")
			}
			c, closeClient, err := env.operator(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient() //nolint:errcheck // only idle connections
			return watchApprovals(cmd.Context(), env, c)
		},
	}
}

// watchApprovals shows the inbox until the person leaves it.
func watchApprovals(ctx context.Context, env *Env, c control) error {
	var desk inbox.Desk = remoteDesk{c}
	if s, far := c.(*client.Socket); far {
		d := &farDesk{env: env, s: s}
		defer func() { _ = d.socket().Close() }() // it may be another by then
		desk = d
	}
	return inbox.Watch(ctx, desk, inbox.Options{
		In: env.Stdin, Out: env.Stdout, Env: env.Environ, Colour: env.colour(env.Stdout), Title: "approvals, " + c.String(),
	})
}
