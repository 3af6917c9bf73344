package gateway

import (
	"strings"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

const sessionKeyMax = 256 // bytes

// credential is the stable id under which calls are recorded and idempotency keys kept.
func (p principal) credential() string {
	switch {
	case p.operator:
		return "operator"
	case p.anonymous:
		return "none"
	}
	return "token:" + p.id
}

// caller is the call path's caller for a request that may name an agent and a session.
// What it may name is settled here and nowhere else (C-6, exec.md "Result").
func (p principal) caller(agentID, sessionKey, origin string) (tool.Caller, *protocol.Error) {
	agent, err := p.actAs(agentID, sessionKey)
	if err != nil {
		return tool.Caller{}, err
	}
	key, err := p.session(agent, sessionKey)
	if err != nil {
		return tool.Caller{}, err
	}
	return tool.Caller{Agent: agent, SessionKey: key, Credential: p.credential(), Operator: p.operator, Origin: origin}, nil
}

// actAs is the agent that the caller acts as.
func (p principal) actAs(agentID, sessionKey string) (string, *protocol.Error) {
	agent := p.agent
	if p.operator {
		agent = identity.MainAgent
		if named, _, ok := splitKey(sessionKey); ok && agentID == "" {
			agentID = named
		}
	}
	if agentID == "" {
		return agent, nil
	}
	id, err := identity.AgentID(agentID)
	if err != nil {
		return "", &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error()}
	}
	if !p.operator && id != agent {
		return "", &protocol.Error{Type: protocol.ErrForbidden, Message: "this token is agent " + agent + "'s and cannot act as agent " + id}
	}
	return id, nil
}

// session is the full key of the session that the caller names. An agent's token has a
// session of its own and may name further ones below it, no others; the operator may
// name any session of the agent.
func (p principal) session(agent, name string) (string, *protocol.Error) {
	prefix := "agent:" + agent + ":"
	own := prefix + identity.SessionMain
	below := prefix
	if !p.operator {
		below = prefix + p.id + ":"
		if !p.main {
			own = prefix + p.id
		}
	}
	if len(name) > sessionKeyMax || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", &protocol.Error{Type: protocol.ErrInvalid, Message: "sessionKey: use at most 256 bytes without control characters"}
	}
	switch _, _, full := splitKey(name); {
	case name == "", name == identity.SessionMain, name == own:
		return own, nil
	case full && len(name) > len(below) && strings.HasPrefix(name, below):
		return name, nil
	case full && p.operator:
		return "", &protocol.Error{Type: protocol.ErrInvalid, Message: "sessionKey is of another agent than agentId " + agent}
	case strings.HasPrefix(name, "agent:"):
		return "", &protocol.Error{Type: protocol.ErrForbidden, Message: "this token may only name sessions of its own", Hint: "leave sessionKey out, or give a name without agent:"}
	}
	return below + name, nil
}

// splitKey takes a full session key "agent:ID:REST" apart.
func splitKey(key string) (agent, rest string, ok bool) {
	tail, ok := strings.CutPrefix(key, "agent:")
	if !ok {
		return "", "", false
	}
	agent, rest, ok = strings.Cut(tail, ":")
	return agent, rest, ok && agent != "" && rest != ""
}
