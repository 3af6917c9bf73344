package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"openclaw/internal/protocol"
)

// neverYield keeps a foreground command in the foreground: the longest wait that the
// tool takes (one day).
const neverYield = 24 * time.Hour

// hosts are what --host takes; the tool has the same list.
var hosts = []string{"auto", "sandbox", "gateway", "node"}

// execOptions is what a person asked of openclaw exec.
type execOptions struct {
	command    []string
	cwd        string
	vars       []string
	timeout    *time.Duration // nil = the setting's
	yield      *time.Duration // nil = never
	background bool
	tty, stdin bool
	json       bool
	streams    *bool // nil = apart unless --json or a terminal
	agent      string
	host       string
	dryRun     bool
	local      bool
}

func newExec(env *Env, run func(context.Context, *Env, execOptions) error) *cobra.Command {
	var o execOptions
	var timeout, yield string
	var streams bool
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "run a command under the policy, as an agent would",
		Long: `Run a command through the running gateway, else in this process under the same policy.

One argument is shell text as it stands: openclaw exec -- 'ls | wc -l'.
Several are a program and its arguments; each reaches it as it is, like kubectl exec
and unlike ssh: openclaw exec -- ls '*' lists the file that is called *.

Output comes as the command writes it, byte for byte, on the stream it was written to.
Without -i the command's standard input is at its end. Signals are passed on; a second
SIGINT, SIGHUP or SIGQUIT within two seconds, or a second SIGTERM, ends the command and
all it started. Under nohup a SIGHUP does nothing.
With -it the terminal is the command's until it ends, and there is no time-out unless
--timeout is given.

Exit codes: the command's own; 124 timed out; 125 could not be run, for a reason of
openclaw's; 126 refused by policy; 75 waits for an approval; 128+n ended by signal n;
2 wrong usage.`,
		Example: `  openclaw exec -- uname -a
  openclaw exec -- 'for f in *.go; do wc -l "$f"; done'
  openclaw exec -it -- bash
  tar c src | openclaw exec -i --cwd /backup -- 'tar x'
  id=$(openclaw exec --background -- make test)
  openclaw exec --json --timeout 30 -- ./check | jq .exitCode`,
		Args: takes(1, -1, "a command, after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = args
			if cmd.Flags().Changed("streams") {
				o.streams = &streams
			}
			var err error
			if o.timeout, err = duration("timeout", timeout, time.Second); err != nil {
				return err
			}
			if o.yield, err = duration("yield", yield, time.Millisecond); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return run(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the command is the command's
	f.StringVar(&o.cwd, "cwd", "", "directory to run in (default: this one)")
	f.StringArrayVar(&o.vars, "env", nil, "environment variable `NAME=VALUE`; may be repeated")
	f.StringVar(&timeout, "timeout", "", "end the command after this `time`: 90, 90s, 5m; 0 = never (default: tools.exec.timeoutSec)")
	f.BoolVar(&o.background, "background", false, "start it, print its session id and return")
	f.StringVar(&yield, "yield", "", "leave it running in the background after this `time`: 5s; a plain number is ms")
	f.BoolVarP(&o.tty, "pty", "t", false, "run it in a terminal of its own")
	f.BoolVarP(&o.stdin, "stdin", "i", false, "pass standard input on")
	f.BoolVar(&o.json, "json", false, "print the result as JSON when it has ended")
	f.BoolVar(&streams, "streams", true, "keep stdout and stderr apart; =false: one stream in the order written (with --json the default)")
	f.StringVar(&o.agent, "agent", "", "agent to run as (default main)")
	f.StringVar(&o.host, "host", "", "where to run: auto, sandbox, gateway or node")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what the policy says, as JSON, and run nothing")
	f.BoolVar(&o.local, "local", false, "run in this process, also when a gateway runs")
	return cmd
}

// duration reads a flag's time: a number in unit, or a number with its unit.
func duration(flag, text string, unit time.Duration) (*time.Duration, error) {
	if text == "" {
		return nil, nil
	}
	d, err := time.ParseDuration(text)
	if n, nerr := strconv.ParseFloat(text, 64); nerr == nil && n >= 0 && n < 1e9 {
		d, err = time.Duration(n*float64(unit)), nil
	}
	if err != nil || d < 0 {
		return nil, usage("--%s %q is not a time; use for example 90, 90s or 5m", flag, text)
	}
	return &d, nil
}

// notText is why bytes are refused: they would arrive as other ones (P-25).
const notText = "is not valid UTF-8, so it cannot be passed on as it is"

// check refuses what cannot be meant.
func (o *execOptions) check() error {
	for _, kv := range o.vars {
		switch name, _, ok := strings.Cut(kv, "="); {
		case !ok || name == "":
			return usage("--env %q is not NAME=VALUE", kv)
		case !utf8.ValidString(kv):
			return usage("--env %q %s", kv, notText)
		}
	}
	switch {
	case strings.TrimSpace(commandText(o.command)) == "":
		return usage("the command is empty")
	case !utf8.ValidString(commandText(o.command)):
		return usage("the command %s", notText)
	case o.host != "" && !slices.Contains(hosts, o.host):
		return usage("--host %q: use %s", o.host, strings.Join(hosts, ", "))
	case o.background && o.yield != nil:
		return usage("--background returns at once and --yield later; give one")
	case o.background && o.stdin:
		return &usageError{
			err:  fmt.Errorf("--background cannot pass standard input on"),
			hint: "its standard input stays open: openclaw process write ID",
		}
	case o.json && o.tty && o.stdin:
		return usage("--json prints a result at the end and -it shows a terminal; give one")
	case o.tty && o.streams != nil && *o.streams:
		return usage("a terminal has one stream: --streams does not go with --pty")
	}
	return nil
}

// execArgs are the tool's arguments; names and units are those of exec.md.
type execArgs struct {
	Command    string            `json:"command"`
	Workdir    string            `json:"workdir,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	YieldMs    *float64          `json:"yieldMs,omitempty"`
	Background bool              `json:"background,omitempty"`
	Timeout    *float64          `json:"timeout,omitempty"`
	PTY        bool              `json:"pty,omitempty"`
	Host       string            `json:"host,omitempty"`
	Stdin      bool              `json:"stdin,omitempty"`
	Streams    bool              `json:"streams,omitempty"`
	Cols       int               `json:"cols,omitempty"`
	Rows       int               `json:"rows,omitempty"`
}

// request makes the tool call. Interactive says that a person types.
func (o *execOptions) request(env *Env, interactive bool) (protocol.ToolRequest, error) {
	dir, err := env.abs(o.cwd)
	if err != nil {
		return protocol.ToolRequest{}, err
	}
	args := execArgs{
		Command: commandText(o.command), Workdir: dir, Background: o.background,
		PTY: o.tty, Host: o.host, Stdin: o.stdin && !o.tty, Streams: !o.tty && !o.json,
	}
	if o.tty {
		args.Cols, args.Rows, _ = windowSize(env)
	}
	if o.streams != nil {
		args.Streams = *o.streams
	}
	if len(o.vars) > 0 || o.tty {
		args.Env = map[string]string{}
	}
	if term := env.Getenv("TERM"); o.tty && interactive && term != "" {
		args.Env["TERM"] = term // the program draws on this terminal, not on the daemon's
	}
	for _, kv := range o.vars {
		name, value, _ := strings.Cut(kv, "=")
		args.Env[name] = value
	}
	if !o.background {
		wait := neverYield
		if o.yield != nil {
			wait = *o.yield
		}
		ms := float64(wait) / float64(time.Millisecond)
		args.YieldMs = &ms
	}
	switch {
	case o.timeout != nil:
		s := o.timeout.Seconds()
		args.Timeout = &s
	case interactive:
		args.Timeout = new(float64) // a person's shell does not end after half an hour
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return protocol.ToolRequest{}, fmt.Errorf("arguments of exec: %w", err)
	}
	return protocol.ToolRequest{Tool: protocol.ToolExec, Args: raw, DryRun: o.dryRun}, nil
}
