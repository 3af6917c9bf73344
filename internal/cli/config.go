package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"openclaw/internal/config"
)

func newConfig(env *Env) *cobra.Command {
	return newGroup("config", "the configuration file", "  openclaw config file\n  openclaw config validate",
		newConfigFile(env), newConfigValidate(env))
}

func newConfigFile(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "file",
		Short:   "print which file the configuration is read from",
		Example: "  openclaw config file\n  $EDITOR \"$(openclaw config file)\"",
		Args:    takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(env.Getenv)
			if err != nil {
				return err
			}
			if asJSON {
				return env.json(map[string]string{"file": path})
			}
			return env.printf("%s\n", path)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// fault is one thing wrong in the configuration, as --json prints it.
type fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
	Nearest string `json:"nearest,omitempty"`
}

func newConfigValidate(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "validate",
		Short:   "check the configuration file; exit code 1 when it is wrong",
		Example: "  openclaw config validate\n  openclaw config validate --json",
		Args:    takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(env.Getenv)
			if err != nil {
				return err
			}
			return validate(env, path, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// validate prints what is wrong in the file, or that nothing is.
func validate(env *Env, path string, asJSON bool) error {
	cfg, err := config.Load(path, env.Getenv)
	var faults config.Errors
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if asJSON {
		return validateJSON(env, path, cfg, faults)
	}
	if err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	for _, w := range cfg.Warnings {
		env.say("warning", "%s", w)
	}
	if !cfg.Exists {
		return env.printf("%s: there is no such file; the defaults are used\n", path)
	}
	return env.printf("%s: valid\n", path)
}

func validateJSON(env *Env, path string, cfg *config.Config, faults config.Errors) error {
	out := struct {
		File     string   `json:"file"`
		Exists   bool     `json:"exists"`
		Valid    bool     `json:"valid"`
		Errors   []fault  `json:"errors"`
		Warnings []string `json:"warnings"`
	}{File: path, Exists: cfg == nil || cfg.Exists, Valid: len(faults) == 0, Errors: []fault{}, Warnings: []string{}}
	for _, f := range faults {
		out.Errors = append(out.Errors, fault{f.Line, f.Column, f.KeyPath, f.Message, f.Nearest})
	}
	if cfg != nil {
		out.Warnings = append(out.Warnings, cfg.Warnings...)
	}
	if err := env.json(out); err != nil {
		return err
	}
	if !out.Valid {
		return &exitError{code: exitFailed}
	}
	return nil
}
