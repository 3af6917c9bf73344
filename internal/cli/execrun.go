package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"openclaw/internal/protocol"
)

// runExec runs the command and ends with its exit code (C-30, C-31).
func runExec(ctx context.Context, env *Env, o execOptions) error {
	link, err := env.connect(via{agent: o.agent, local: o.local, lasting: o.background || o.yield != nil, origin: "cli"})
	if err != nil {
		var bad *usageError
		if errors.As(err, &bad) {
			return err
		}
		return &exitError{code: exitOurs, err: err}
	}
	return execAndClose(ctx, env, o, link)
}

// execAndClose runs the command and closes the link. The command's own end stands
// whatever becomes of its record, as on a full disk.
func execAndClose(ctx context.Context, env *Env, o execOptions, link *link) error {
	err := execThrough(ctx, env, o, link)
	if cerr := link.close(); cerr != nil {
		env.say("warning", "the command's record may be incomplete: %v", cerr)
	}
	return err
}

func execThrough(ctx context.Context, env *Env, o execOptions, link *link) error {
	_, typed := terminal(env.Stdin)
	if o.tty && o.stdin && !typed && !o.dryRun {
		// The end of a pipe cannot be passed to a terminal for sure: a program that has
		// not set it up yet loses it and waits for ever.
		return usage("-it needs a terminal as standard input; use -i alone to pass input, or -t alone for output as on a terminal")
	}
	x := &execution{env: env, opt: o, link: link, interactive: o.tty && o.stdin && typed}
	req, err := o.request(env, x.interactive)
	if err != nil {
		return &exitError{code: exitOurs, err: err}
	}
	if o.dryRun {
		res, err := link.Call(ctx, req, nil)
		if err != nil {
			return execFailure(err)
		}
		return env.json(res.Details)
	}
	return x.run(ctx, req)
}

// execution is one command on its way: its output comes through watch, on the
// goroutine of the call; what goes in (standard input, signals, the window's size) goes
// through process calls beside it, once the session id is known.
type execution struct {
	env         *Env
	opt         execOptions
	link        *link
	interactive bool // a person types into the command's terminal

	ctx    context.Context // ends with the call
	cancel context.CancelCauseFunc
	side   sync.WaitGroup // process calls and what makes them
	raw    rawTerminal

	mu      sync.Mutex // guards session
	session string     // "" until it has started

	wrote    bool  // some output has come; of watch's goroutine
	dropped  int64 // bytes that came too fast for our reader
	writeErr error // the first of standard output
}

// run calls the tool and waits for everything beside it.
func (x *execution) run(ctx context.Context, req protocol.ToolRequest) error {
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	defer x.cancel(nil)
	defer x.raw.restore()
	stop := x.watchSignals()
	if x.link.desk != nil && !x.opt.json {
		if command := commandOf(req); command != "" {
			req.Wait = protocol.WaitForever
			x.prompt(command)
		}
	}

	res, err := x.link.Call(x.ctx, req, x.watch)

	stop()
	cause := context.Cause(x.ctx)
	x.cancel(nil) // ends the goroutines beside the call
	x.side.Wait()
	x.raw.restore()
	return x.finish(res, err, cause)
}

// watch gets the start of the command and its output.
func (x *execution) watch(p protocol.Progress) {
	if p.SessionID != "" {
		x.started(p.SessionID)
	}
	x.dropped += p.Dropped
	if len(p.Data) == 0 || x.opt.background { // standard output is for the session's id then
		return
	}
	x.wrote = true
	if x.opt.json || x.writeErr != nil {
		return
	}
	out := x.env.Stdout
	if p.Stream == "stderr" {
		out = x.env.Stderr
	}
	if _, err := out.Write(p.Data); err != nil {
		x.writeErr = err
		x.cancel(err) // nobody reads any more: end it, as a pipe would
	}
}

// started begins what goes into the command.
func (x *execution) started(session string) {
	x.mu.Lock()
	x.session = session
	x.mu.Unlock()
	if x.opt.tty {
		if x.interactive {
			x.raw.enter(x.env)
		}
		x.resize()
	}
	if x.opt.stdin {
		x.passInput(session)
	}
}

func (x *execution) sessionID() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.session
}

// finish says what became of the command and makes the exit code.
func (x *execution) finish(res *protocol.ToolResult, err, cause error) error {
	var sig *signalled
	switch {
	case x.writeErr != nil && errors.Is(x.writeErr, syscall.EPIPE):
		return &exitError{code: signalCode("SIGPIPE")}
	case x.writeErr != nil:
		return &exitError{code: exitOurs, err: fmt.Errorf("write the command's output: %w", x.writeErr)}
	case errors.Is(cause, errNoAnswer):
		return &exitError{code: exitRefused, err: errors.New("not run: no answer was given")}
	case errors.As(cause, &sig):
		return &exitError{code: signalCode(sig.name())}
	case err != nil:
		return execFailure(err)
	}
	details, ok := res.Details.(*protocol.ExecResult)
	if !ok {
		return &exitError{code: exitOurs, err: fmt.Errorf("exec: result of kind %T", res.Details)}
	}
	if x.opt.json {
		if err := x.env.json(details); err != nil {
			return &exitError{code: exitOurs, err: err}
		}
		return &exitError{code: execCode(details)}
	}
	if details.Status == protocol.StatusApprovalPending {
		return x.explain(details)
	}
	if x.opt.background && details.SessionID != "" && details.Denied == nil {
		return x.background(details) // also if it was over before the answer
	}
	if err := x.rest(details); err != nil {
		return &exitError{code: exitOurs, err: fmt.Errorf("write the command's output: %w", err)}
	}
	return x.explain(details)
}

// commandOf is the command of an exec request.
func commandOf(req protocol.ToolRequest) string {
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(req.Args, &args) != nil {
		return ""
	}
	return args.Command
}

// rest prints output that did not come as progress: of a daemon that does not stream.
func (x *execution) rest(d *protocol.ExecResult) error {
	if x.wrote {
		return nil
	}
	for _, part := range []struct {
		to   io.Writer
		text *string
	}{{x.env.Stdout, d.Stdout}, {x.env.Stderr, d.Stderr}} {
		if part.text != nil {
			if _, err := io.WriteString(part.to, *part.text); err != nil {
				return err
			}
		}
	}
	if d.Stdout != nil || d.Output == nil {
		return nil
	}
	_, err := io.WriteString(x.env.Stdout, *d.Output)
	return err
}

// explain prints what the exit code alone does not say.
func (x *execution) explain(d *protocol.ExecResult) error {
	for _, w := range d.Warnings {
		x.env.say("warning", "%s", w)
	}
	if x.dropped > 0 {
		x.env.say("warning", "%d bytes of output are missing here: they came faster than they were read", x.dropped)
	}
	code := execCode(d)
	switch {
	case d.Denied != nil:
		return &exitError{code: code, err: hint(d.Denied.Hint, "refused: %s (%s)", d.Denied.Reason, d.Denied.Rule)}
	case d.Status == protocol.StatusApprovalPending && d.Approval != nil:
		wait := time.Until(time.UnixMilli(d.Approval.ExpiresAtMs))
		return &exitError{code: code, err: fmt.Errorf("not run yet: approval %s is waiting for an operator, for another %s", d.Approval.ID, span(wait))}
	case d.Status == protocol.StatusRunning:
		return x.background(d)
	case d.TimedOut:
		return &exitError{code: code, err: fmt.Errorf("timed out after %s; everything it had started was ended", span(time.Duration(d.DurationMs)*time.Millisecond))}
	case d.Status == protocol.StatusKilled, d.Status == protocol.StatusCancelled, d.Status == protocol.StatusLost:
		return &exitError{code: code, err: fmt.Errorf("the command was %s", d.Status)}
	case d.Signal == "SIGINT", d.Signal == "SIGPIPE": // the person did it, or the reader left
		return &exitError{code: code}
	case d.Signal != "":
		return &exitError{code: code, err: fmt.Errorf("ended by %s", d.Signal)}
	case d.ExitCode == nil:
		return &exitError{code: code, err: errors.New("the command could not be started")}
	case code != exitOK:
		return &exitError{code: code}
	}
	return nil
}

// background names the session of a command that goes on.
func (x *execution) background(d *protocol.ExecResult) error {
	if d.Status == protocol.StatusRunning {
		x.env.say("note", "runs in the background as %s (pid %d); see openclaw process poll %s", d.SessionID, d.Pid, d.SessionID)
	} else {
		x.env.say("note", "%s has ended already (%s); see openclaw process log %s", d.SessionID,
			runState(d.Status, d.ExitCode, d.Signal, d.TimedOut, false), d.SessionID)
	}
	if !x.opt.background {
		return nil
	}
	return x.env.printf("%s\n", d.SessionID)
}
