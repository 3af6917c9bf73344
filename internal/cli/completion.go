package cli

import "github.com/spf13/cobra"

func newCompletion(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a script that completes commands in your shell",
		Example: `  openclaw completion bash > ~/.local/share/bash-completion/completions/openclaw
  openclaw completion zsh > "${fpath[1]}/_openclaw"
  openclaw completion fish > ~/.config/fish/completions/openclaw.fish
  openclaw completion powershell | Out-String | Invoke-Expression`,
		Args:                  takes(1, 1, "one shell: bash, zsh, fish or powershell"),
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(env.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(env.Stdout)
			case "fish":
				return root.GenFishCompletion(env.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(env.Stdout)
			}
			return usage("no completion for %q: use bash, zsh, fish or powershell", args[0])
		},
	}
}
