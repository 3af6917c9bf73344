package gateway

import (
	"context"
	"errors"

	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

type tokenParams struct {
	AgentID string `json:"agentId"` // "" = main
	Session string `json:"session"` // "main" = bound to the agent's main session, or ""
	Label   string `json:"label"`   // for people
}

// methodTokenCreate makes an agent token. The answer is the only place that ever shows
// its secret.
func (s *server) methodTokenCreate(_ context.Context, b *backend, p tokenParams) (any, error) {
	if p.Session != "" && p.Session != identity.SessionMain {
		return nil, invalid("session: expected %q or nothing", identity.SessionMain)
	}
	if p.AgentID == "" {
		p.AgentID = config.MainAgent
	}
	if _, err := identity.AgentID(p.AgentID); err != nil {
		return nil, invalid("%v", err)
	}
	token, secret, err := b.tokens.Create(p.AgentID, p.Session == identity.SessionMain, p.Label)
	if err != nil {
		return nil, err
	}
	s.opt.Log.Info("agent token made", "token", token.ID, "agent", token.Agent, "session", token.Session)
	return struct {
		Token  identity.Token `json:"token"`
		Secret string         `json:"secret"`
	}{token, secret}, nil
}

func (s *server) methodTokenList(_ context.Context, b *backend, _ none) (any, error) {
	list, err := b.tokens.List()
	if err != nil {
		return nil, err
	}
	return struct {
		Tokens []identity.Token `json:"tokens"`
	}{list}, nil
}

type tokenID struct {
	ID string `json:"id"`
}

func (s *server) methodTokenRevoke(_ context.Context, b *backend, p tokenID) (any, error) {
	err := b.tokens.Revoke(p.ID)
	var unknown *identity.UnknownTokenError
	if errors.As(err, &unknown) {
		return nil, &protocol.Error{Type: protocol.ErrNotFound, Message: unknown.Error()}
	}
	if err != nil {
		return nil, err
	}
	s.opt.Log.Info("agent token revoked", "token", p.ID)
	return tokenID{p.ID}, nil
}
