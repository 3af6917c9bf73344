package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
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
	settings := cfg.Exec(c.Agent)
	run := &run{caller: c, params: p, settings: settings}
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
	run.decision = policy.Decide(s.policyInput(run))
	env, err := host.CheckEnv(p.Env, run.decision.Judged())
	if err != nil {
		return nil, err
	}
	run.decision = policy.Unanswered(run.decision)
	if req.DryRun {
		return dryRun(run.decision), nil
	}
	if run.decision.Outcome != policy.OutcomeAllow {
		return s.denied(run, protocol.Denied{Reason: run.decision.Reason, Rule: run.decision.Rule, Hint: run.decision.Hint}, false), nil
	}
	launch, err := s.host.Prepare(ctx, host.Request{
		Command: p.Command, Workdir: p.Workdir, DefaultDir: c.WorkDir, Workspace: cfg.Workspace(c.Agent),
		Env: env, PathPrepend: settings.PathPrepend,
		Judged: run.decision.Judged(), Snapshot: !run.decision.Judged() && !s.ownPath,
	})
	if err != nil {
		return nil, err
	}
	if run.decision.Judged() { // none in full/off
		if slip := host.Preflight(p.Command, launch.Dir); slip != nil {
			return nil, invalid("%s", slip.Error())
		}
	}
	return s.start(ctx, run, launch, watch)
}

// run is one exec call on its way.
type run struct {
	caller   Caller
	params   execParams
	settings config.Exec
	decision policy.Decision
	warnings []string
}

func (r *run) warn(text string) { r.warnings = append(r.warnings, text) }

func (s *Service) policyInput(r *run) policy.Input {
	return policy.Input{Command: r.params.Command, Layers: policy.Layers{
		Security: policy.Security(r.settings.Security), SecuritySource: r.settings.SecurityKey,
		Ask: policy.Ask(r.settings.Ask), AskSource: r.settings.AskKey,
		CallAsk: r.params.Ask, StrictInlineEval: r.settings.StrictInlineEval, HostDocument: s.hostDocument(),
	}}
}

// start hands the plan to the session table and turns what comes back into a result.
func (s *Service) start(ctx context.Context, r *run, launch *host.Launch, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	plan, yield := s.plan(r, launch)
	req := session.RunRequest{Plan: plan, Yield: yield, MaxChars: r.settings.MaxOutputChars, TailTo: tailChars}
	var snap session.Snapshot
	var err error
	for range 8 { // an id that is taken is drawn again
		req.Plan.ID = session.NewID()
		follow := newFollower(s.table, req.Plan, watch)
		snap, err = s.table.Run(ctx, req, follow.started())
		follow.end(ctx, err == nil && snap.Finished())
		if !errors.Is(err, session.ErrDuplicate) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return execResult(r, launch, snap), nil
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
	return session.Plan{
		Agent: r.caller.Agent, SessionKey: r.caller.SessionKey, Host: "gateway", Command: p.Command,
		Steps: []session.Step{{Path: launch.Argv[0], Argv: launch.Argv}}, Dir: launch.Dir, Env: launch.Env,
		PTY: p.PTY, Cols: p.Cols, Rows: p.Rows, Stdin: p.Stdin || background, Streams: p.Streams, Background: background, Timeout: timeout,
		Retain:      time.Duration(set.CleanupMs) * time.Millisecond,
		IdleInput:   time.Duration(set.InputWaitIdleMs) * time.Millisecond,
		LogMaxBytes: set.LogMaxBytes, MaxRunning: set.MaxSessions, EndLeftovers: set.Leftovers == "end",
		Notify: set.NotifyOnExit, NotifySilent: set.NotifyOnExitEmptySuccess, Record: originOf(r),
		Outlive: set.OnSupervisorDeath == "keep",
	}, yield
}
