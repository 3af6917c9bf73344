package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/supervisor"
	"openclaw/internal/tool"
)

// statusReport is what openclaw status says (C-33), as --json prints it.
type statusReport struct {
	Version  string        `json:"version"` // of this program
	StateDir string        `json:"stateDir"`
	Gateway  gatewayStatus `json:"gateway"`
	Config   configStatus  `json:"config"`
	Bind     string        `json:"bind,omitempty"` // what the configuration says: address and port
	Auth     string        `json:"auth,omitempty"`
	Agents   []agentStatus `json:"agents"`
	// Sessions are the running ones, as far as our token sees them.
	Sessions []protocol.SessionInfo `json:"sessions"`
	Problems []string               `json:"problems,omitempty"` // what kept parts of this from being filled in
}

type gatewayStatus struct {
	Running     bool   `json:"running"`
	URL         string `json:"url,omitempty"`
	PID         int    `json:"pid,omitempty"`
	Version     string `json:"version,omitempty"`
	StartedAtMs int64  `json:"startedAtMs,omitempty"` // Unix time in ms

	// Approvals are the requests that wait for a person; only with the operator's token.
	Approvals int `json:"approvals"`

	// Status is what the daemon says of itself, unchanged; only with the operator's token.
	Status json.RawMessage `json:"status,omitempty"`
}

type configStatus struct {
	File   string `json:"file"`
	Exists bool   `json:"exists"`
	Error  string `json:"error,omitempty"`
}

// agentStatus is one agent's policy. Security and Ask are "" when nothing sets them;
// they are then full and off on the gateway (P-5).
type agentStatus struct {
	ID        string `json:"id"`
	Mode      string `json:"mode,omitempty"`
	Security  string `json:"security,omitempty"`
	Ask       string `json:"ask,omitempty"`
	Host      string `json:"host"`
	Sandbox   string `json:"sandbox"`
	Workspace string `json:"workspace"`
}

// statusOptions is what was asked of openclaw status.
type statusOptions struct {
	json bool
	now  func() time.Time
}

func newStatus(env *Env, run func(context.Context, *Env, statusOptions) error) *cobra.Command {
	o := statusOptions{now: time.Now}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "what runs, where it listens, and the policy of each agent",
		Example: "  openclaw status\n  openclaw status --json | jq .gateway.running",
		Args:    takes(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runStatus(ctx context.Context, env *Env, o statusOptions) error {
	return interruptible(ctx, func(ctx context.Context) error {
		rep, err := gather(ctx, env)
		if err != nil {
			return err
		}
		if o.json {
			return env.json(rep)
		}
		return rep.print(env, o.now())
	})
}

// gather fills in what can be known; what cannot is a problem in the report, so that
// status works when nothing else does.
func gather(ctx context.Context, env *Env) (*statusReport, error) {
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return nil, err
	}
	path, err := config.Path(env.Getenv)
	if err != nil {
		return nil, err
	}
	rep := &statusReport{
		Version: env.Version, StateDir: dir, Config: configStatus{File: path, Exists: true},
		Agents: []agentStatus{}, Sessions: []protocol.SessionInfo{},
	}
	cfg, err := config.Load(path, env.Getenv)
	if err != nil {
		rep.Config.Error = err.Error()
	} else {
		rep.fromConfig(cfg)
	}
	ep, found, err := client.Find(dir)
	if err != nil {
		rep.Problems = append(rep.Problems, err.Error())
	}
	if !found {
		if err := rep.fromSupervisors(ctx, env); err != nil {
			rep.Problems = append(rep.Problems, err.Error())
		}
		return rep, nil
	}
	rep.Gateway = gatewayStatus{Running: true, URL: ep.URL, PID: ep.PID, Version: ep.Version, StartedAtMs: ep.StartedAt.UnixMilli()}
	if err := rep.fromDaemon(ctx, env); err != nil {
		rep.Problems = append(rep.Problems, err.Error())
	}
	return rep, nil
}

func (rep *statusReport) fromConfig(cfg *config.Config) {
	rep.Config.Exists = cfg.Exists
	rep.Bind = net.JoinHostPort(cfg.Gateway.ListenHost(), strconv.Itoa(cfg.Gateway.Port))
	rep.Auth = cfg.Gateway.Auth.Mode
	for _, id := range cfg.AgentIDs() {
		set := cfg.Exec(id)
		rep.Agents = append(rep.Agents, agentStatus{
			ID: id, Mode: set.Mode, Security: set.Security, Ask: set.Ask, Host: set.Host,
			Sandbox: cfg.SandboxMode(id), Workspace: cfg.Workspace(id),
		})
	}
}

// fromSupervisors asks those who keep the sessions when no daemon does, and starts none.
func (rep *statusReport) fromSupervisors(ctx context.Context, env *Env) error {
	agent := session.AnyAgent
	if insideSession(env.Environ) {
		agent = config.MainAgent
	}
	return env.lookAtSessions(func(c *supervisor.Client) error {
		rows, err := c.List(ctx, agent, tool.ListTail)
		for _, row := range rows {
			if row.Status == protocol.StatusRunning {
				rep.Sessions = append(rep.Sessions, tool.SessionInfo(row))
			}
		}
		return err
	})
}

// fromDaemon asks the daemon what is in force and what runs: with the operator's token
// of every agent, with an agent's of its own.
func (rep *statusReport) fromDaemon(ctx context.Context, env *Env) error {
	link, err := env.connect(via{daemon: true, control: true, origin: "cli"})
	if err != nil {
		return err
	}
	defer func() { _ = link.close() }() // it only ends idle connections
	var list struct{ Sessions []protocol.SessionInfo }
	if link.control == nil {
		res, err := processCall(ctx, link, map[string]string{"action": "list"})
		if err != nil {
			return err
		}
		if res.Sessions != nil {
			list.Sessions = *res.Sessions
		}
	} else {
		if err := rep.fromControl(ctx, link.control); err != nil {
			return err
		}
		if err := link.control.RPC(ctx, "exec.session.list", nil, &list); err != nil {
			return err
		}
	}
	for _, s := range list.Sessions {
		if s.Status == protocol.StatusRunning {
			rep.Sessions = append(rep.Sessions, s)
		}
	}
	return nil
}

// fromControl takes what the running daemon says over what the file says by now.
func (rep *statusReport) fromControl(ctx context.Context, control *client.Client) error {
	if err := control.RPC(ctx, "status", nil, &rep.Gateway.Status); err != nil {
		return err
	}
	var own struct {
		Listen, Auth string
		Approvals    int
	}
	if err := json.Unmarshal(rep.Gateway.Status, &own); err != nil {
		return fmt.Errorf("status of the gateway: %w", err)
	}
	rep.Gateway.Approvals = own.Approvals
	if own.Listen != "" {
		rep.Bind, rep.Auth = own.Listen, own.Auth
	}
	return nil
}

// print writes the report for people: one line a fact.
func (rep *statusReport) print(env *Env, now time.Time) error {
	line := func(name, format string, args ...any) error {
		return env.printf("%s %s\n", env.bold(fmt.Sprintf("%-10s", name)), visible(fmt.Sprintf(format, args...)))
	}
	lines := []error{line("version", "%s", rep.Version)}
	if g := rep.Gateway; g.Running {
		text := fmt.Sprintf("%s, pid %d, up %s", g.URL, g.PID, span(now.Sub(time.UnixMilli(g.StartedAtMs))))
		if g.Version != rep.Version {
			text += ", version " + g.Version
		}
		lines = append(lines, line("gateway", "%s", text))
	} else {
		lines = append(lines, line("gateway", "not running; start it: openclaw gateway run"))
	}
	switch {
	case rep.Config.Error != "":
		lines = append(lines, line("config", "%s is wrong: openclaw config validate", rep.Config.File))
	case !rep.Config.Exists:
		lines = append(lines, line("config", "%s (not there: defaults)", rep.Config.File))
	default:
		lines = append(lines, line("config", "%s", rep.Config.File))
	}
	lines = append(lines, line("state", "%s", rep.StateDir))
	if rep.Bind != "" {
		lines = append(lines, line("bind", "%s", rep.Bind), line("auth", "%s", rep.Auth))
	}
	for _, a := range rep.Agents {
		lines = append(lines, line("agent", "%s: %s", a.ID, a.policy()))
	}
	lines = append(lines, line("running", "%d sessions", len(rep.Sessions)))
	if n := rep.Gateway.Approvals; n > 0 {
		lines = append(lines, line("approvals", "%d waiting; answer them: openclaw approvals watch", n))
	}
	for _, err := range lines {
		if err != nil {
			return err
		}
	}
	for _, p := range rep.Problems {
		env.say("warning", "%s", p)
	}
	return rep.printSessions(env)
}

func (rep *statusReport) printSessions(env *Env) error {
	if len(rep.Sessions) == 0 {
		return nil
	}
	if err := env.printf("\n"); err != nil {
		return err
	}
	return env.table(sessionHead(), sessionRows(rep.Sessions))
}

// policy is an agent's policy in one line, defaults named as such.
func (a agentStatus) policy() string {
	security, ask := a.Security, a.Ask
	note := ""
	if security == "" {
		security, note = "full", " (default)"
	}
	if ask == "" {
		ask = "off"
	}
	text := fmt.Sprintf("security %s, ask %s%s, host %s", security, ask, note, a.Host)
	if a.Mode != "" {
		text = fmt.Sprintf("mode %s (%s)", a.Mode, text)
	}
	if a.Sandbox != "off" {
		text += ", sandbox " + a.Sandbox
	}
	return text + ", in " + a.Workspace
}
