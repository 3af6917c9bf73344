package gateway

import (
	"context"
	"fmt"
	"maps"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// methods is the table of control methods. All of them are the operator's.
func methods() map[string]method {
	table := map[string]method{
		"health":              with((*server).methodHealth),
		"status":              with((*server).methodStatus),
		"tools.catalog":       with((*server).methodCatalog),
		"agents.token.create": with((*server).methodTokenCreate),
		"agents.token.list":   with((*server).methodTokenList),
		"agents.token.revoke": with((*server).methodTokenRevoke),
		"logs.tail":           with((*server).methodLogs),
		"config.get":          with((*server).methodConfigGet),
		"config.reload":       with((*server).methodConfigReload),
	}
	maps.Copy(table, approvalMethods())
	maps.Copy(table, deviceMethods())
	maps.Copy(table, sessionMethods())
	maps.Copy(table, storeMethods())
	return table
}

// none is for methods without parameters.
type none struct{}

func (s *server) methodHealth(_ context.Context, b *backend, _ none) (any, error) {
	return s.readiness(b), nil
}

// status is the answer of method status (C-33).
type status struct {
	Version   string        `json:"version"`
	PID       int           `json:"pid"`
	URL       string        `json:"url"`
	Listen    string        `json:"listen"`
	Bind      string        `json:"bind"`
	Auth      string        `json:"auth"`
	StartedAt time.Time     `json:"startedAt"`
	UptimeMs  int64         `json:"uptimeMs"`
	Config    string        `json:"config"`   // the file's path
	Warnings  []string      `json:"warnings"` // of the configuration
	Sessions  sessionCounts `json:"sessions"`
	LogBytes  int64         `json:"logBytes"`  // of all session logs
	Approvals int           `json:"approvals"` // requests that wait for a person
	Clients   int           `json:"clients"`   // signed in on the WebSocket
	Agents    []agentStatus `json:"agents"`
}

type sessionCounts struct {
	Running  int `json:"running"`
	Finished int `json:"finished"`
}

type agentStatus struct {
	ID        string   `json:"id"`
	Workspace string   `json:"workspace"`
	Tools     []string `json:"tools"` // that it may use (C-20)
}

func (s *server) methodStatus(ctx context.Context, b *backend, _ none) (any, error) {
	cfg := s.cfg.Load()
	counts, err := b.table.Counts(ctx)
	if err != nil {
		return nil, err
	}
	st := status{
		Version: s.opt.Version, PID: s.info.PID, URL: s.info.URL, Listen: s.info.Addr,
		Bind: s.opt.Config.Gateway.Bind, Auth: s.opt.Config.Gateway.Auth.Mode, // what is in force since the start
		StartedAt: s.started.UTC().Truncate(time.Millisecond), UptimeMs: time.Since(s.started).Milliseconds(),
		Config: cfg.File, Warnings: append([]string{}, cfg.Warnings...),
		Sessions: sessionCounts{Running: counts.Running, Finished: counts.Finished},
		LogBytes: counts.LogBytes, Clients: s.hub.count(),
	}
	if reg, err := b.approvals(ctx); err == nil {
		st.Approvals = len(reg.Pending())
	} else { // status answers whatever is broken
		st.Warnings = append(st.Warnings, "approvals: "+err.Error())
	}
	for _, id := range cfg.AgentIDs() {
		a := agentStatus{ID: id, Workspace: cfg.Workspace(id), Tools: []string{}}
		for _, info := range b.tools.Tools(tool.Caller{Agent: id}) {
			a.Tools = append(a.Tools, info.Name)
		}
		st.Agents = append(st.Agents, a)
	}
	return st, nil
}

type agentParams struct {
	AgentID string `json:"agentId"`
}

// agent is the named agent in its one form, or the fallback when none is named.
func (p agentParams) agent(fallback string) (string, error) {
	if p.AgentID == "" {
		return fallback, nil
	}
	id, err := identity.AgentID(p.AgentID)
	if err != nil {
		return "", invalid("agentId: %v", err)
	}
	return id, nil
}

type toolList struct {
	Agent string              `json:"agentId"`
	Tools []protocol.ToolInfo `json:"tools"`
}

func (s *server) methodCatalog(_ context.Context, b *backend, p agentParams) (any, error) {
	agent, err := p.agent(config.MainAgent)
	if err != nil {
		return nil, err
	}
	list := toolList{Agent: agent, Tools: []protocol.ToolInfo{}}
	list.Tools = append(list.Tools, b.tools.Tools(tool.Caller{Agent: agent})...)
	return list, nil
}

func invalid(format string, args ...any) *protocol.Error {
	return &protocol.Error{Type: protocol.ErrInvalid, Message: fmt.Sprintf(format, args...)}
}
