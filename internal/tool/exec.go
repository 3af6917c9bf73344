package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/shell"
)

// tailChars is how much output a result of a command that still runs carries.
const tailChars = 2000

// exec is the straight line of one command: check, route, judge, prepare, run.
func (s *Service) exec(ctx context.Context, c Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	p, err := readExec(req.Args)
	if err != nil {
		return nil, err
	}
	cfg := s.cfg.Load()
	run := &run{caller: c, params: p, settings: cfg.Exec(c.Agent)}
	if p.Security != "" {
		run.warn("security was ignored: a call cannot set it (the operator does, in tools.exec.security)")
	}
	if d := refuse(p.Command); d != nil {
		return s.denied(run, *d, req.DryRun), nil
	}
	if d, err := s.route(cfg, run); err != nil || d != nil {
		if err != nil {
			return nil, err
		}
		return s.denied(run, *d, req.DryRun), nil
	}
	run.decision, err = s.decide(ctx, cfg, run, req.DryRun)
	var env map[string]string
	if err == nil {
		env, err = host.CheckEnv(p.Env, run.decision.Judged())
	}
	if err != nil && req.DryRun && ctx.Err() == nil {
		return dryRun(s.refusal(run, err)), nil
	}
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		return dryRun(run.decision), nil
	}
	if run.decision.Outcome == policy.OutcomeAsk {
		return s.ask(ctx, cfg, run, env, req, watch)
	}
	if run.decision.Outcome != policy.OutcomeAllow {
		return s.denied(run, denial(run.decision), false), nil
	}
	return s.launch(ctx, cfg, run, env, watch)
}

// launch prepares and starts a command that may run.
func (s *Service) launch(ctx context.Context, cfg *config.Config, r *run, env map[string]string, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if r.decision.Judged() {
		r.walked = r.decision.Plan
	}
	if r.decision.Effective.Security.Value != policy.Full && r.walked == nil { // never by a shell (P-60)
		return nil, &protocol.Error{Type: protocol.ErrInternal, Message: "allowed, but there is no judged plan to run"}
	}
	s.noteUsage(r)
	res, err := s.launchAs(ctx, cfg, r, env, watch)
	if errors.Is(err, proc.ErrChanged) {
		return s.denied(r, protocol.Denied{Rule: "P-60", Reason: changed(err), Hint: "run it again; it is judged anew"}, false), nil
	}
	return res, err
}

// noteUsage notes which entries let a command run.
func (s *Service) noteUsage(r *run) {
	if r.walked == nil {
		return
	}
	now := time.Now().UnixMilli()
	for i := range r.decision.Segments {
		if seg := &r.decision.Segments[i]; seg.Entry != nil && seg.SatisfiedBy != nil {
			s.usage.Note(*seg.Entry, now, r.params.Command, seg.ResolvedPath)
		}
	}
}

// launchAs prepares and starts a command in the way that was chosen: its judged plan, or
// the text by a shell.
func (s *Service) launchAs(ctx context.Context, cfg *config.Config, r *run, env map[string]string, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	judged := r.decision.Judged()
	want := s.hostRequest(cfg, r)
	want.Env, want.Path, want.Judged, want.Snapshot = env, r.place.path, judged, !judged && !s.ownPath
	want.NoShell = r.walked != nil
	if r.approval != nil { // where it was shown to run, whatever the default is by now
		want.Workdir = r.place.dir
	}
	launch, err := s.host.Prepare(ctx, want)
	if err != nil {
		return nil, err
	}
	if judged { // none in full/off
		if slip := host.Preflight(r.params.Command, launch.Dir); slip != nil {
			return nil, invalid("%s", slip.Error())
		}
	}
	return s.start(ctx, r, launch, watch)
}

func denial(d policy.Decision) protocol.Denied {
	return protocol.Denied{Reason: d.Reason, Rule: d.Rule, Hint: d.Hint}
}

// run is one exec call on its way.
type run struct {
	caller   Caller
	params   execParams
	settings config.Exec
	place    place
	decision policy.Decision
	walked   *shell.Plan // what runs instead of a shell; nil = a shell
	warnings []string

	approval *approval.Record // what a person allowed; nil = nobody was asked
	detached bool             // nobody waits for its end
	before   func() error     // called right before the start, which an error prevents; may be nil
	started  func()           // called once it has started; may be nil
}

func (r *run) warn(text string) { r.warnings = append(r.warnings, text) }

// start hands the plan to the session table and turns what comes back into a result.
func (s *Service) start(ctx context.Context, r *run, launch *host.Launch, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	plan, yield := s.plan(r, launch)
	req := session.RunRequest{Plan: plan, Yield: yield, MaxChars: r.settings.MaxOutputChars, TailTo: tailChars}
	var snap session.Snapshot
	var err error
	if r.before != nil {
		if err := r.before(); err != nil {
			return nil, err
		}
	}
	for range 8 { // an id that is taken is drawn again
		req.Plan.ID = session.NewID()
		if r.approval != nil { // it is known before the start, so that it is never lost
			req.Plan.ID = r.approval.Slug
		}
		follow := newFollower(s.table, req.Plan, watch)
		snap, err = s.table.Run(ctx, req, r.tell(follow.started()))
		follow.end(ctx, err == nil && snap.Finished())
		if !errors.Is(err, session.ErrDuplicate) || r.approval != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return execResult(r, launch, snap), nil
}

// tell adds the run's own notice to who is called at the start.
func (r *run) tell(follow func(session.State)) func(session.State) {
	if r.started == nil {
		return follow
	}
	return func(st session.State) {
		r.started()
		if follow != nil {
			follow(st)
		}
	}
}

// timeoutOf is the total life of the command; 0 = no limit.
func timeoutOf(p execParams, set config.Exec) time.Duration {
	if p.Timeout != nil {
		return *p.Timeout
	}
	return time.Duration(set.TimeoutSec) * time.Second
}

// plan says what to run, as plain data.
func (s *Service) plan(r *run, launch *host.Launch) (session.Plan, time.Duration) {
	p, set := r.params, r.settings
	background, yield := p.Background, time.Duration(set.YieldMs)*time.Millisecond
	if p.Yield != nil {
		yield = *p.Yield
	}
	if ok, key := s.cfg.Load().ToolAllowed(r.caller.Agent, protocol.ToolProcess); !ok {
		if background || p.Yield != nil && *p.Yield < timeoutOf(p, set) {
			r.warn(fmt.Sprintf("ran to its end: the process tool is not available (%s), so background and yieldMs do not apply", key))
		}
		background, yield = false, -1
	}
	timeout := timeoutOf(p, set)
	r.warnings = append(r.warnings, launch.Warnings...)
	plan := session.Plan{
		Agent: r.caller.Agent, SessionKey: r.caller.SessionKey, Host: "gateway", Command: p.Command,
		Dir: launch.Dir, Env: launch.Env,
		PTY: p.PTY, Cols: p.Cols, Rows: p.Rows, Stdin: p.Stdin || background, Streams: p.Streams, Background: background || r.detached, Timeout: timeout,
		Retain:      time.Duration(set.CleanupMs) * time.Millisecond,
		IdleInput:   time.Duration(set.InputWaitIdleMs) * time.Millisecond,
		LogMaxBytes: set.LogMaxBytes, MaxRunning: set.MaxSessions, EndLeftovers: set.Leftovers == "end",
		Notify: set.NotifyOnExit, NotifySilent: set.NotifyOnExitEmptySuccess, Record: originOf(r),
		Outlive: set.OnSupervisorDeath == "keep",
	}
	if r.walked != nil {
		plan.Judged = r.walked.Encode()
	} else {
		plan.Steps = []session.Step{{Path: launch.Argv[0], Argv: launch.Argv}}
	}
	return plan, yield
}
