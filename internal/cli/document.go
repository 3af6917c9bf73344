package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/policy"
	"openclaw/internal/redact"
)

// document is the approvals document as approvals get --json prints it (protocol 4.10).
type document struct {
	Path             string          `json:"path"`
	Exists           bool            `json:"exists"`
	Hash             string          `json:"hash"`
	File             json.RawMessage `json:"file"`
	ResolvedDefaults any             `json:"resolvedDefaults,omitempty"`
}

// ownDocument is the document of this machine's state directory.
func (e *Env) ownDocument() (*approval.File, error) {
	if e.elsewhere.url != "" {
		return nil, usage("--url is not for this command: it edits the document of this machine; approvals get and set work there")
	}
	dir, err := config.StateDir(e.Getenv)
	if err != nil {
		return nil, err
	}
	return approval.NewFile(dir), nil
}

// readDocument reads it here, or asks the running gateway.
func (e *Env) readDocument(ctx context.Context, gateway bool) (document, error) {
	var d document
	if gateway || e.elsewhere.url != "" {
		c, closeClient, err := e.operator(ctx)
		if err != nil {
			return d, err
		}
		defer closeClient() //nolint:errcheck // only idle connections
		return d, c.RPC(ctx, "exec.approvals.get", nil, &d)
	}
	f, err := e.ownDocument()
	if err != nil {
		return d, err
	}
	file, hash, exists, err := f.View()
	if err != nil {
		return d, hint("mend the file, put a copy in its place, or write a new one with openclaw approvals set --force", "%v", err)
	}
	raw, err := json.Marshal(file)
	return document{Path: f.Path(), Exists: exists, Hash: hash, File: raw}, err
}

func newDocumentGet(env *Env) *cobra.Command {
	var asJSON, gateway bool
	cmd := &cobra.Command{
		Use: "get", Short: "show the approvals document: policy and allowlists of this machine",
		Example: "  openclaw approvals get\n  openclaw approvals get --json > approvals.json",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := env.readDocument(cmd.Context(), gateway)
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(d)
			}
			if !d.Exists {
				return env.printf("no approvals document (%s): the configuration alone decides\n", d.Path)
			}
			return env.printf("# %s\n%s", d.Path, indented(d.File))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with path and hash")
	cmd.Flags().BoolVar(&gateway, "gateway", false, "ask the running gateway")
	return cmd
}

// indented is JSON for people.
func indented(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw) + "\n"
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw) + "\n"
	}
	return string(text) + "\n"
}

func newDocumentSet(env *Env) *cobra.Command {
	var file, hash string
	var stdin, force, gateway bool
	cmd := &cobra.Command{
		Use: "set --file PATH | --stdin", Short: "replace the approvals document",
		Long: `Replace the approvals document by a JSON5 text, which is checked first. Where one stands,
--hash has to name it (approvals get --json prints it), so that nobody's change is lost;
--force replaces it whatever it is, and keeps a damaged one beside.`,
		Example: `  hash=$(openclaw approvals get --json | jq -r .hash)
  openclaw approvals set --file approvals.json --hash "$hash"
  openclaw approvals set --stdin --force < approvals.json`,
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := env.refuseInside("changing the approvals document"); err != nil {
				return err
			}
			src, err := setSource(env, file, stdin)
			if err != nil {
				return err
			}
			if err := env.writeDocument(cmd.Context(), src, hash, force, gateway); err != nil {
				return err
			}
			return env.printf("the approvals document was replaced\n")
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "the new document's file")
	f.BoolVar(&stdin, "stdin", false, "read the new document from standard input")
	f.StringVar(&hash, "hash", "", "hash of the document that is replaced")
	f.BoolVar(&force, "force", false, "replace whatever stands there")
	f.BoolVar(&gateway, "gateway", false, "through the running gateway")
	return cmd
}

func setSource(env *Env, file string, stdin bool) ([]byte, error) {
	switch {
	case stdin == (file != ""):
		return nil, usage("give either --file PATH or --stdin")
	case stdin:
		return io.ReadAll(io.LimitReader(env.Stdin, 16<<20))
	}
	return os.ReadFile(file)
}

func (e *Env) writeDocument(ctx context.Context, src []byte, hash string, force, gateway bool) error {
	if gateway || e.elsewhere.url != "" {
		c, closeClient, err := e.operator(ctx)
		if err != nil {
			return err
		}
		defer closeClient() //nolint:errcheck // only idle connections
		return c.RPC(ctx, "exec.approvals.set", map[string]any{"text": string(src), "baseHash": hash, "force": force}, nil)
	}
	f, err := e.ownDocument()
	if err != nil {
		return err
	}
	_, err = f.Replace(ctx, hash, src, force)
	return err
}

func newAllowlist(env *Env) *cobra.Command {
	return newGroup("allowlist", "programs that need no answer",
		"  openclaw approvals allowlist list\n  openclaw approvals allowlist add git --agent '*'\n  openclaw approvals allowlist remove git --agent '*'",
		newAllowlistList(env), newAllowlistAdd(env), newAllowlistRemove(env))
}

func newAllowlistList(env *Env) *cobra.Command {
	var asJSON bool
	var agent string
	cmd := &cobra.Command{
		Use: "list", Short: "list the entries", Args: takes(0, 0, ""),
		Example: "  openclaw approvals allowlist list --agent main",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := env.readDocument(cmd.Context(), false)
			if err != nil {
				return err
			}
			var file struct {
				Agents map[string]struct {
					Allowlist []allowlistEntry `json:"allowlist"`
				} `json:"agents"`
			}
			if err := json.Unmarshal(d.File, &file); err != nil {
				return err
			}
			list := []allowlistEntry{}
			for id, scope := range file.Agents {
				for _, e := range scope.Allowlist {
					if e.Agent = id; agent == "" || strings.EqualFold(agent, id) {
						list = append(list, e)
					}
				}
			}
			sortEntries(list)
			if asJSON {
				return env.json(map[string]any{"entries": list})
			}
			if len(list) == 0 {
				return env.printf("no entries\n")
			}
			var rows [][]string
			for _, e := range list {
				rows = append(rows, []string{e.ID, e.Agent, redact.Escape(e.Pattern), redact.Escape(e.arguments()), redact.Escape(e.LastUsedCommand)})
			}
			return env.table([]string{"ID", "AGENT", "PATTERN", "ARGUMENTS", "LAST USED FOR"}, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&agent, "agent", "", "only this agent's")
	return cmd
}

func newAllowlistAdd(env *Env) *cobra.Command {
	var agent, args string
	cmd := &cobra.Command{
		Use: "add PATTERN", Short: "let a program run without an answer",
		Long: `Add an entry: a path (with ~, *, ? and **) or a bare name, which means the program that PATH
finds by that name. With --args only for arguments that the regular expression
matches (ECMAScript; ^ and $ anchor it).`,
		Example: "  openclaw approvals allowlist add git --agent '*'\n  openclaw approvals allowlist add /usr/bin/make --args '^(test|lint)$'",
		Args:    takes(1, 1, "a pattern"),
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := env.refuseInside("changing an allowlist"); err != nil {
				return err
			}
			id, err := allowlistAgent(agent)
			if err != nil {
				return err
			}
			f, err := env.ownDocument()
			if err != nil {
				return err
			}
			entry, added, err := f.Add(cmd.Context(), id, policy.Entry{Pattern: pos[0], ArgPattern: args})
			if err != nil {
				return err
			}
			if !added {
				return env.printf("it is there already: %s\n", entry)
			}
			return env.printf("added %s for %s: %s\n", pos[0], id, entry)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", config.MainAgent, "the agent, * = all")
	cmd.Flags().StringVar(&args, "args", "", "regular expression for the arguments")
	return cmd
}

func newAllowlistRemove(env *Env) *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use: "remove ID|PATTERN", Short: "take entries away", Args: takes(1, 1, "an entry's id or pattern"),
		Example: "  openclaw approvals allowlist remove git --agent '*'",
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := env.refuseInside("changing an allowlist"); err != nil {
				return err
			}
			id, err := allowlistAgent(agent)
			if err != nil {
				return err
			}
			f, err := env.ownDocument()
			if err != nil {
				return err
			}
			gone, err := f.Remove(cmd.Context(), id, pos[0])
			if err != nil {
				return err
			}
			if len(gone) == 0 {
				return hint("openclaw approvals allowlist list", "agent %s has no entry %q", id, pos[0])
			}
			return env.printf("removed %d\n", len(gone))
		},
	}
	cmd.Flags().StringVar(&agent, "agent", config.MainAgent, "the agent, * = all")
	return cmd
}

func allowlistAgent(name string) (string, error) {
	if name == "*" {
		return name, nil
	}
	id, err := identity.AgentID(name)
	if err != nil {
		return "", &usageError{err: err}
	}
	return id, nil
}

// allowlistEntry is an entry as the list shows it.
type allowlistEntry struct {
	Agent            string `json:"agent"`
	ID               string `json:"id"`
	Pattern          string `json:"pattern"`
	ArgPattern       string `json:"argPattern,omitempty"`
	Source           string `json:"source,omitempty"`
	CommandText      string `json:"commandText,omitempty"`
	LastUsedAt       int64  `json:"lastUsedAt,omitempty"`
	LastUsedCommand  string `json:"lastUsedCommand,omitempty"`
	LastResolvedPath string `json:"lastResolvedPath,omitempty"`
}

// sortEntries orders a list by agent and pattern.
func sortEntries(list []allowlistEntry) {
	slices.SortFunc(list, func(a, b allowlistEntry) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.ID, b.ID))
	})
}

// arguments says which arguments the entry allows.
func (e allowlistEntry) arguments() string {
	switch {
	case e.ArgPattern == "":
		return "any"
	case strings.HasPrefix(e.ArgPattern, "sha256:") && e.CommandText != "":
		return fmt.Sprintf("exactly as in: %s", e.CommandText)
	case strings.HasPrefix(e.ArgPattern, "sha256:"):
		return "exact"
	}
	return e.ArgPattern
}
