package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version of this program",
		Example: "  openclaw version\n  openclaw version --json",
		Args:    takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return env.json(struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			return env.printf("openclaw %s %s/%s\n", env.Version, runtime.GOOS, runtime.GOARCH)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
