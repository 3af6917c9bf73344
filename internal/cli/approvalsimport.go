package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"openclaw/internal/state"
)

// Where another install of OpenClaw keeps its approvals, below the state directory.
const (
	foreignDatabase = "state/openclaw.sqlite"
	foreignTable    = "exec_approvals_config"
)

func newDocumentImport(env *Env) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "import [--file PATH]", Short: "take over the approvals of another OpenClaw install",
		Long: `Write the approvals of another install as this machine's document. Without --file they are
read from that install's database in the state directory, which stays as it is. A document
that stands here is not replaced: use approvals set for that.`,
		Example: "  openclaw approvals import\n  openclaw approvals import --file exported.json",
		Args:    takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := env.refuseInside("changing the approvals document"); err != nil {
				return err
			}
			src, from, err := env.foreignApprovals(cmd.Context(), file)
			if err != nil {
				return err
			}
			f, err := env.ownDocument()
			if err != nil {
				return err
			}
			if _, err := f.Replace(cmd.Context(), "", src, false); err != nil {
				return err
			}
			return env.printf("took over %s as %s\n", from, f.Path())
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "an exported document instead of the database")
	return cmd
}

// foreignApprovals finds the one document of another install.
func (e *Env) foreignApprovals(ctx context.Context, file string) (src []byte, from string, err error) {
	if file != "" {
		src, err = os.ReadFile(file)
		return src, file, err
	}
	f, err := e.ownDocument()
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(filepath.Dir(f.Path()), filepath.FromSlash(foreignDatabase))
	if _, err := os.Stat(path); err != nil {
		return nil, "", hint("give the exported document with --file", "no database of another install (%s)", path)
	}
	all, err := state.ForeignJSON(ctx, path, foreignTable)
	if err != nil {
		return nil, "", err
	}
	var found [][]byte
	for _, raw := range all {
		var doc struct {
			Version *int            `json:"version"`
			Agents  json.RawMessage `json:"agents"`
		}
		if json.Unmarshal(raw, &doc) == nil && (doc.Version != nil || doc.Agents != nil) {
			found = append(found, raw)
		}
	}
	if len(found) != 1 {
		return nil, "", hint("export them there (openclaw approvals get --json, its field file) and use --file",
			"the database %s holds %d approvals documents that could be meant", path, len(found))
	}
	return found[0], path, nil
}
