package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/inbox"
	"openclaw/internal/mcp"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

const (
	// gatewayTokenEnv holds the operator's token, in place of the file (C-6).
	gatewayTokenEnv = "OPENCLAW_GATEWAY_TOKEN"
	// agentTokenEnv holds the token of a further agent, for a program that acts for it;
	// the state directory keeps only the hashes of those.
	agentTokenEnv = "OPENCLAW_AGENT_TOKEN"
)

// caller runs tool calls: a daemon's client, or a service in this process.
type caller interface {
	Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error)
	Tools(ctx context.Context) ([]protocol.ToolInfo, error)
}

// link is a way to run tool calls. Its owner calls close.
type link struct {
	caller
	remote  bool           // a daemon answers, which outlives this program
	control *client.Client // for control methods; nil without the operator's token
	desk    inbox.Desk     // where a person here can answer; nil without one
	asker   mcp.Asker      // asks the person through an MCP client; nil = is not done
	close   func() error
}

// via says how to connect.
type via struct {
	agent     string // "" = main, or the token's own
	local     bool   // never ask a daemon
	daemon    bool   // never answer in process
	lasting   bool   // in process: commands may outlive this program
	ephemeral bool   // in process: they never do, whatever they ask
	agentOnly bool   // the agent's token, whoever watches (mcp)
	control   bool   // the operator's token, also when nobody watches (status)
	origin    string // surface, for the record of a call in process
}

// connect finds the running daemon, or opens the call path in this process.
func (e *Env) connect(v via) (*link, error) {
	if v.agent != "" {
		id, err := identity.AgentID(v.agent)
		if err != nil {
			return nil, &usageError{err: err}
		}
		v.agent = id
	}
	stateDir, err := config.StateDir(e.Getenv)
	if err != nil {
		return nil, err
	}
	if !v.local {
		ep, found, err := client.Find(stateDir)
		if err != nil {
			return nil, err
		}
		if found {
			return e.connectDaemon(stateDir, ep, v)
		}
	}
	if v.daemon {
		return nil, hint("start one: openclaw gateway run", "no gateway runs on %s", stateDir)
	}
	return e.openLocal(stateDir, v)
}

// connectDaemon makes a client with the narrowest token that will do (C-6): the
// operator's only when a person watches and no agent can have started us.
func (e *Env) connectDaemon(stateDir string, ep client.Endpoint, v via) (*link, error) {
	store, err := identity.Open(stateDir)
	if err != nil {
		return nil, err
	}
	var token, agent string
	operator := false
	switch given := strings.TrimSpace(e.Getenv(agentTokenEnv)); {
	case given != "":
		token, agent = given, v.agent
	case !v.agentOnly && (v.control || e.attended()) && !insideSession(e.Environ):
		agent, operator = v.agent, true
		token, err = e.operatorSecret(store)
	case v.agent != "" && v.agent != identity.MainAgent:
		return nil, hint("make one with openclaw agents token create "+v.agent+" and put it into "+agentTokenEnv,
			"the token here is agent %s's; agent %s needs its own", identity.MainAgent, v.agent)
	default:
		token, err = store.AgentSecret()
	}
	if err != nil {
		return nil, err
	}
	c := ep.Client(token)
	l := &link{
		caller: &remote{client: c, agent: agent, dir: e.Dir}, remote: true,
		close: func() error { c.Close(); return nil },
	}
	if operator {
		l.control = c
		if e.attended() {
			l.desk = remoteDesk{c}
		}
	}
	return l, nil
}

// operatorSecret is the operator's secret that the daemon honours. A broken
// configuration does not stop the running daemon, so it does not stop us.
func (e *Env) operatorSecret(store *identity.Store) (string, error) {
	given := e.Getenv(gatewayTokenEnv)
	path, err := config.Path(e.Getenv)
	if err != nil {
		return "", err
	}
	cfg, err := config.Load(path, e.Getenv)
	switch {
	case err != nil:
		e.say("warning", "the configuration cannot be read; the gateway goes on with the one it has: openclaw config validate")
	case cfg.Gateway.Auth.Mode == "password" && cfg.Gateway.Auth.Password.IsSet():
		given = cfg.Gateway.Auth.Password.Reveal()
	case cfg.Gateway.Auth.Token.IsSet():
		given = cfg.Gateway.Auth.Token.Reveal()
	}
	return store.WithOperatorToken(given).OperatorSecret()
}

// openLocal opens the call path in this process, under the same policy.
func (e *Env) openLocal(stateDir string, v via) (*link, error) {
	path, err := config.Path(e.Getenv)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(path, e.Getenv)
	if err != nil {
		return nil, configError(err)
	}
	sessions := tool.InProcess(false) // a person's own foreground command needs nobody else
	if v.lasting {
		sessions = e.sessionsOf(v.ephemeral, false)
	}
	svc, err := tool.Open(tool.Options{
		Config: cfg, StateDir: stateDir, Getenv: e.Getenv, Environ: e.inherited(),
		Log: e.logger(), Program: e.Program,
		// A person's own command keeps the person's PATH (C-31). A server for an MCP client
		// stands in for the daemon: it asks the login shell, since such clients often have
		// little of a PATH.
		OwnPath: v.origin == "cli", Sessions: sessions,
	})
	if err != nil {
		return nil, err
	}
	agent := v.agent
	if agent == "" {
		agent = config.MainAgent
	}
	who := tool.Caller{
		Agent: agent, SessionKey: "agent:" + agent + ":" + v.origin, Credential: "local",
		Origin: v.origin, WorkDir: e.Dir,
		Operator: !v.agentOnly && e.attended() && !insideSession(e.Environ),
	}
	local := &inProcess{svc: svc, who: who}
	l := &link{caller: local, close: svc.Close}
	// A command of an agent's could be its own client, and answer.
	if cfg.Approvals.Elicitation == "stdio" && v.origin == "stdio" && !insideSession(e.Environ) {
		l.asker = local
	}
	if who.Operator {
		if reg, err := svc.Approvals(context.Background()); err == nil {
			l.desk = localDesk{reg}
		}
	}
	return l, nil
}

// logger writes what a program without a log of its own has to say.
func (e *Env) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// inProcess is the call path of this process for one caller.
type inProcess struct {
	svc *tool.Service
	who tool.Caller
}

func (p *inProcess) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	return p.svc.Call(ctx, p.who, req, watch)
}

// Ask and Answer are Call where the caller puts the question to its person (A-60b).
func (p *inProcess) Ask(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *protocol.Question, error) {
	return p.svc.Ask(ctx, p.who, req, watch)
}

func (p *inProcess) Answer(ctx context.Context, req protocol.ToolRequest, state string, person func(context.Context) (bool, error), watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	return p.svc.Answer(ctx, p.who, req, state, person, watch)
}

func (p *inProcess) Tools(context.Context) ([]protocol.ToolInfo, error) {
	return p.svc.Tools(p.who), nil
}

// processCall runs one action of the process tool.
func processCall(ctx context.Context, c caller, args any) (*protocol.ProcessResult, error) {
	req, err := request(protocol.ToolProcess, args)
	if err != nil {
		return nil, err
	}
	res, err := c.Call(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	details, ok := res.Details.(*protocol.ProcessResult)
	if !ok {
		return nil, fmt.Errorf("process: result of kind %T", res.Details)
	}
	return details, nil
}

// isKind says whether an error is one of the wire's of this type.
func isKind(err error, kind protocol.ErrorType) bool {
	var wire *protocol.Error
	return errors.As(err, &wire) && wire.Type == kind
}
