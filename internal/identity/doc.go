// Package identity says whose credential a secret is (C-6): the operator's, or that of
// an agent's token. It makes the two secrets of the state directory at first start,
// keeps the further agent tokens as hashes, and notices when another process has
// changed any of them. It grants nothing: what a credential opens is the surfaces'
// rule. No value of this package prints a secret.
package identity

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Kind is whose a credential is.
type Kind string

// The kinds of C-6.
const (
	KindOperator Kind = "operator" // may do everything
	KindAgent    Kind = "agent"    // the tool routes and the events of one agent
)

const (
	// MainAgent is the agent of the plain agent token.
	MainAgent = "main"
	// DefaultID is the id of the plain agent token, the one in the file agent-token.
	DefaultID = "default"
	// SessionMain is Token.Session of a token bound to its agent's main session.
	SessionMain = "main"
)

// Credential is what a secret proved.
type Credential struct {
	Kind        Kind
	ID          string // stable: "operator", "default" or a token's id
	Agent       string // the agent it is bound to; "" for the operator
	MainSession bool   // bound to the agent's main session
}

// Token is one agent token as it is listed; the secret is not kept.
type Token struct {
	ID          string `json:"id"`
	Agent       string `json:"agent"`
	Session     string `json:"session"` // SessionMain or ""
	Label       string `json:"label"`
	CreatedAtMs int64  `json:"createdAtMs"` // Unix time in ms; 0 = not known
}

// ErrDamaged: a file of this package cannot be used as it is. No secret in it is
// honoured and it is never replaced.
var ErrDamaged = errors.New("damaged")

// UnknownTokenError says that no token has this id.
type UnknownTokenError struct{ ID string }

// Error names the id and where to find the right one.
func (e *UnknownTokenError) Error() string {
	return fmt.Sprintf("no agent token %q; see openclaw agents token list", e.ID)
}

var agentPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// AgentID returns an agent id in its one form, lower case, or an error when it cannot
// be one: 1 to 64 of a-z, 0-9, dot, _ and -, beginning with a letter or digit.
func AgentID(s string) (string, error) {
	id := strings.ToLower(s)
	if !agentPattern.MatchString(id) {
		return "", fmt.Errorf("agent id %.80q: use 1 to 64 of a-z, 0-9, dot, _ and -, beginning with a letter or digit", s)
	}
	return id, nil
}
