package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/protocol"
)

// processOptions is what a person asked of one openclaw process command. Args are the
// process tool's; a command sets those of its action (process.md).
type processOptions struct {
	agent string
	json  bool
	args  map[string]any
	show  func(env *Env, res *protocol.ProcessResult) error // nil = one line with the state
}

// processRun carries out a process command.
type processRun func(context.Context, *Env, processOptions) error

func newProcess(env *Env) *cobra.Command { return newProcessWith(env, runProcess) }

func newProcessWith(env *Env, run processRun) *cobra.Command {
	return newGroup("process", "look at and work with commands that run in the background",
		`  openclaw process list
  openclaw process poll gentle-otter --timeout 10s
  openclaw process send-keys gentle-otter C-c
  openclaw process kill gentle-otter`,
		newProcessList(env, run), newProcessPoll(env, run), newProcessLog(env, run),
		newProcessWrite(env, run), newProcessKeys(env, run), newProcessSubmit(env, run), newProcessPaste(env, run),
		newProcessScreen(env, run), newProcessAttach(env, runAttach), newProcessResize(env, run),
		newProcessKill(env, run), newProcessClear(env, run), newProcessRemove(env, run))
}

// runProcess asks the daemon.
func runProcess(ctx context.Context, env *Env, o processOptions) error {
	return interruptible(ctx, func(ctx context.Context) error {
		link, err := env.connect(via{agent: o.agent, lasting: true, origin: "cli"})
		if err != nil {
			return err
		}
		defer func() { _ = link.close() }() // it only ends idle connections
		res, err := processCall(ctx, link, o.args)
		if err != nil {
			return err
		}
		if o.json {
			return env.json(res)
		}
		for _, w := range res.Warnings {
			env.say("warning", "%s", w)
		}
		if o.show != nil {
			return o.show(env, res)
		}
		return showState(env, res)
	})
}

// processCommand makes one action's command with the flags that all have.
func processCommand(env *Env, run processRun, cmd *cobra.Command, fill func(args []string, o *processOptions) error) *cobra.Command {
	var o processOptions
	cmd.Flags().StringVar(&o.agent, "agent", "", "agent whose sessions are meant (default main)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.args = map[string]any{"action": cmd.Name()}
		if len(args) > 0 {
			o.args["sessionId"] = args[0]
		}
		if fill != nil {
			if err := fill(args, &o); err != nil {
				return err
			}
		}
		return run(cmd.Context(), env, o)
	}
	return cmd
}

func newProcessList(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "list", Short: "list running and finished sessions",
		Example: "  openclaw process list\n  openclaw process list --json | jq -r '.sessions[].sessionId'",
		Args:    takes(0, 0, ""),
	}, func(_ []string, o *processOptions) error {
		o.show = func(env *Env, res *protocol.ProcessResult) error {
			if res.Sessions == nil || len(*res.Sessions) == 0 {
				env.say("note", "no sessions")
				return nil
			}
			return env.table(sessionHead(), sessionRows(*res.Sessions))
		}
		return nil
	})
}

func sessionHead() []string { return []string{"SESSION", "STATUS", "PID", "TIME", "COMMAND"} }

// sessionRows are the sessions as a table shows them.
func sessionRows(list []protocol.SessionInfo) [][]string {
	var rows [][]string
	for _, s := range list {
		pid := ""
		if s.Status == protocol.StatusRunning {
			pid = strconv.Itoa(s.Pid)
		}
		rows = append(rows, []string{
			s.SessionID, runState(s.Status, s.ExitCode, s.Signal, s.TimedOut, s.WaitingForInput), pid,
			span(time.Duration(s.RuntimeMs) * time.Millisecond), s.Command,
		})
	}
	return rows
}

// state is a session's status in a few words: "exit 0", "SIGKILL", "needs input".
func runState(status protocol.Status, exit *int, signal string, timedOut, waiting bool) string {
	switch {
	case status == protocol.StatusRunning && waiting:
		return "needs input"
	case timedOut:
		return "timed out"
	case status == protocol.StatusCompleted && signal != "":
		return signal
	case status == protocol.StatusCompleted && exit != nil:
		return fmt.Sprintf("exit %d", *exit)
	}
	return string(status)
}

// stateLine is one line about one session.
func stateLine(res *protocol.ProcessResult) string {
	return fmt.Sprintf("%s: %s, %s", res.SessionID,
		runState(res.Status, res.ExitCode, res.Signal, res.TimedOut, res.WaitingForInput),
		span(time.Duration(res.DurationMs)*time.Millisecond))
}

func showState(env *Env, res *protocol.ProcessResult) error {
	return env.printf("%s\n", stateLine(res))
}

// showOutput prints output to standard output and the state beside it.
func showOutput(env *Env, res *protocol.ProcessResult) error {
	if res.Output != nil {
		if err := env.printf("%s", *res.Output); err != nil {
			return err
		}
		if _, shown := terminal(env.Stdout); shown && *res.Output != "" && (*res.Output)[len(*res.Output)-1] != '\n' {
			if err := env.printf("\n"); err != nil {
				return err
			}
		}
	}
	if t := res.Truncated; t != nil {
		env.say("note", "%d bytes were left out; the whole is in %s", t.OmittedBytes, t.LogPath)
	}
	env.say("note", "%s", stateLine(res))
	return nil
}

func newProcessPoll(env *Env, run processRun) *cobra.Command {
	var timeout string
	cmd := processCommand(env, run, &cobra.Command{
		Use: "poll SESSION", Short: "print what came out since the last poll, and the state",
		Long: `Print what came out since the last poll, and the state. What one poll printed, the next
does not print again, also when an agent polls: see process log for all of it.`,
		Example: "  openclaw process poll gentle-otter\n  openclaw process poll gentle-otter --timeout 30s",
		Args:    takes(1, 1, "a session id"),
	}, func(_ []string, o *processOptions) error {
		wait, err := duration("timeout", timeout, time.Millisecond)
		if err != nil {
			return err
		}
		if wait != nil {
			o.args["timeout"] = wait.Milliseconds()
		}
		o.show = showOutput
		return nil
	})
	cmd.Flags().StringVar(&timeout, "timeout", "", "wait this `time` for output or the end, at most 30s; a plain number is ms")
	return cmd
}

func newProcessLog(env *Env, run processRun) *cobra.Command {
	var offset, limit int64
	var cmd *cobra.Command
	cmd = processCommand(env, run, &cobra.Command{
		Use: "log SESSION", Short: "print all output, by lines; without flags the last 200",
		Example: "  openclaw process log gentle-otter\n  openclaw process log gentle-otter --offset 0 --limit 100",
		Args:    takes(1, 1, "a session id"),
	}, func(_ []string, o *processOptions) error {
		if cmd.Flags().Changed("offset") {
			o.args["offset"] = offset
		}
		if cmd.Flags().Changed("limit") {
			o.args["limit"] = limit
		}
		o.show = func(env *Env, res *protocol.ProcessResult) error {
			if err := showOutput(env, res); err != nil {
				return err
			}
			if res.Offset != nil && res.TotalLines != nil && *res.Offset > 0 {
				env.say("note", "from line %d of %d", *res.Offset, *res.TotalLines)
			}
			return nil
		}
		return nil
	})
	cmd.Flags().Int64Var(&offset, "offset", 0, "first `line`, counted from 0; alone: to the end")
	cmd.Flags().Int64Var(&limit, "limit", 0, "how many `lines`")
	return cmd
}

func newProcessScreen(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "screen SESSION", Short: "print the screen of a session that runs in a terminal",
		Example: "  openclaw process screen gentle-otter",
		Args:    takes(1, 1, "a session id"),
	}, func(_ []string, o *processOptions) error {
		o.show = func(env *Env, res *protocol.ProcessResult) error {
			if res.Screen == nil {
				return showState(env, res)
			}
			for _, line := range res.Screen.Lines {
				if err := env.printf("%s\n", visible(line)); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	})
}

func newProcessKill(env *Env, run processRun) *cobra.Command {
	var signal string
	cmd := processCommand(env, run, &cobra.Command{
		Use: "kill SESSION", Short: "end a session and everything it started",
		Example: "  openclaw process kill gentle-otter\n  openclaw process kill gentle-otter --signal HUP",
		Args:    takes(1, 1, "a session id"),
	}, func(_ []string, o *processOptions) error {
		if signal != "" {
			o.args["signal"] = signal
		}
		return nil
	})
	cmd.Flags().StringVar(&signal, "signal", "", "only send this `signal` to its process group: INT, HUP, ...")
	return cmd
}

func newProcessClear(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "clear SESSION", Short: "forget a finished session",
		Example: "  openclaw process clear gentle-otter",
		Args:    takes(1, 1, "a session id"),
	}, nil)
}

func newProcessRemove(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "remove SESSION", Short: "end a running session, or forget a finished one",
		Example: "  openclaw process remove gentle-otter",
		Args:    takes(1, 1, "a session id"),
	}, nil)
}
