package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"openclaw/internal/supervisor"
	"openclaw/internal/walk"
)

// Main runs one command line and returns the exit code (C-30). It returns when
// everything it started has ended.
func Main(ctx context.Context, args []string, env *Env) int {
	if len(args) > 0 {
		switch args[0] { // roles in which the program starts itself
		case supervisor.Role:
			return supervisor.Main(args[1:], env.Version, env.Stderr)
		case walk.Role:
			return walk.Main()
		}
	}
	root := newRoot(env)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		env.report(err, cmd.CommandPath())
	}
	return codeOf(err)
}

// newRoot builds the tree. Nothing is read or opened before a command runs, so that
// version and completion answer at once.
func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "openclaw",
		Short: "let AI agents run shell commands, with people in charge",
		Long: `openclaw lets AI agents run shell commands and keeps people in charge.

The gateway is the daemon that agents and people talk to; commands that need none
work without it. Everything of yours is in ~/.openclaw, or in $OPENCLAW_STATE_DIR.`,
		Example: `  openclaw gateway run              # start the daemon
  openclaw exec -- 'uname -a'       # run a command under the policy
  openclaw exec -it -- bash         # an interactive one
  openclaw status                   # what is there`,
		SilenceErrors: true, // printed once, by Main
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          group,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err: err} })
	root.AddCommand(
		newExec(env, runExec),
		newProcess(env),
		newMCP(env, runMCP),
		newGateway(env),
		newStatus(env, runStatus),
		newAgents(env),
		newConfig(env),
		newPolicy(env),
		newApprovals(env),
		newExecPolicy(env),
		newDevices(env),
		newDoctor(env),
		newLogs(env),
		newCompletion(env),
		newVersion(env),
	)
	return root
}

// group answers for a command that only holds others: alone it explains itself, with a
// word nobody knows it says so.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := &usageError{err: fmt.Errorf("%s has no command %q", cmd.CommandPath(), args[0])}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err.hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
	}
	return err
}

// newHelp explains a command, as its --help does.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "explain a command", Example: "  openclaw help process poll",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("no help on %q: there is no such command", strings.Join(args, " "))
			}
			return found.Help()
		},
	}
}

// newGroup makes a command that only holds others.
func newGroup(use, short, example string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: cobra.ArbitraryArgs, RunE: group,
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(subs...)
	return cmd
}

// takes checks the number of positional arguments; what names them in the error.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("%s needs %s", cmd.CommandPath(), what)
		case most >= 0 && len(args) > most && most == 0:
			return usage("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return usage("%s takes %s, nothing more: %q", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// interruptible runs something with a context that the usual signals end, for commands
// that only ask. A second signal ends the program at once.
func interruptible(parent context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, heard(endSignals)...)
	defer signal.Stop(arrived)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case s := <-arrived:
			signal.Stop(arrived)
			cancel(&signalled{sig: s})
		case <-done:
		}
	}()
	err := run(ctx)
	close(done)
	<-stopped
	var sig *signalled
	if err != nil && errors.As(context.Cause(ctx), &sig) {
		return &exitError{code: signalCode(sig.name())}
	}
	return err
}

// heard leaves a hang-up out that this program was started to ignore, as nohup does: it
// stays ignored. The list is one of signals to take.
func heard(list []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(list), func(s os.Signal) bool {
		return slices.Contains(hangups, s) && signal.Ignored(s)
	})
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ sig os.Signal }

func (s *signalled) Error() string { return "ended by " + s.name() }
func (s *signalled) name() string  { return signalName(s.sig) }
