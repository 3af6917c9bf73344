package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"openclaw/internal/safefile"
)

// Names in the state directory.
const (
	gatewayTokenFile = "gateway-token"
	agentTokenFile   = "agent-token"
	documentFile     = "agent-tokens.json"
	lockFile         = "agent-tokens.lock"
)

// lockWait bounds the wait for another process, which holds the lock for milliseconds.
const lockWait = 10 * time.Second

// Store is the credentials of one state directory. It is safe for concurrent use and
// for several processes; it needs no closing.
type Store struct {
	dir            string
	operatorSecret func() (string, error) // a func, so that printing a Store cannot print it

	mu       sync.Mutex // guards what operator, plain and further hold
	operator *watched   // nil = given is honoured instead
	given    []candidate
	plain    *watched
	further  *watched
}

// Open makes the state directory and its two secrets when they are missing and returns
// the credentials. It fails when a file that is there is not safe to trust or holds
// no secret (ErrDamaged, safefile.ErrUnsafe); nothing is replaced then.
func Open(stateDir string) (*Store, error) {
	if err := safefile.Dir(stateDir); err != nil {
		return nil, fmt.Errorf("open state directory: %w", err)
	}
	s := &Store{dir: stateDir}
	s.operatorSecret = func() (string, error) { return readSecret(s.path(gatewayTokenFile)) }
	err := s.locked(func() error {
		return errors.Join(ensureSecret(s.path(gatewayTokenFile)), ensureSecret(s.path(agentTokenFile)))
	})
	if err != nil {
		return nil, err
	}
	s.operator = &watched{path: s.path(gatewayTokenFile), load: loadSecret(operatorCredential())}
	s.watchAgents()
	return s, nil
}

// WithOperatorToken returns a Store that honours this operator secret, from the
// configuration or OPENCLAW_GATEWAY_TOKEN, and not the one in the file (C-6). White
// space around it is dropped; an empty one changes nothing.
func (s *Store) WithOperatorToken(secret string) *Store {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return s
	}
	given := &Store{
		dir:            s.dir,
		operatorSecret: func() (string, error) { return secret, nil },
		given:          []candidate{{sum: sumOf(secret), cred: operatorCredential()}},
	}
	given.watchAgents()
	return given
}

// OperatorSecret returns the operator's secret that is honoured, for a client on this
// machine. It must not reach an agent.
func (s *Store) OperatorSecret() (string, error) { return s.operatorSecret() }

// AgentSecret returns the secret of the plain agent token, for a client on this machine.
func (s *Store) AgentSecret() (string, error) { return readSecret(s.path(agentTokenFile)) }

// Authenticate says what a secret proves; false means nothing. A change that another
// process made is seen at once. The time it takes does not depend on how much of the
// secret is right. A secret that is both an agent's and the operator's is the agent's.
func (s *Store) Authenticate(secret string) (Credential, bool) {
	got := sumOf(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	var cred Credential
	found := false
	for _, list := range s.candidates() {
		for _, c := range list { // every one, also after a hit
			if got.equal(c.sum) {
				cred, found = c.cred, true
			}
		}
	}
	if secret == "" || !found {
		return Credential{}, false
	}
	return cred, true
}

// Problem says what keeps a file's secrets from being honoured right now; nil if
// nothing does.
func (s *Store) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.candidates()
	err := errors.Join(s.plain.err, s.further.err)
	if s.operator != nil {
		err = errors.Join(s.operator.err, err)
	}
	return err
}

// Create makes a token for an agent and returns its secret, which is shown once and
// not kept. With main it is bound to the agent's main session. The label is for
// people, at most 200 bytes without control characters.
func (s *Store) Create(agent string, main bool, label string) (Token, string, error) {
	id, err := AgentID(agent)
	if err != nil {
		return Token{}, "", err
	}
	if len(label) > maxLabel || strings.ContainsFunc(label, unicode.IsControl) {
		return Token{}, "", fmt.Errorf("label: use at most %d bytes without control characters", maxLabel)
	}
	tok := Token{Agent: id, Label: label, CreatedAtMs: time.Now().UnixMilli()}
	if main {
		tok.Session = SessionMain
	}
	secret := newSecret()
	hash := sumOf(secret)
	err = s.edit(func(doc *document) error {
		for tok.ID = newID(); doc.index(tok.ID) >= 0; {
			tok.ID = newID()
		}
		doc.Tokens = append(doc.Tokens, entry{Token: tok, SHA256: fmt.Sprintf("%x", hash[:])})
		return nil
	})
	if err != nil {
		return Token{}, "", fmt.Errorf("create agent token: %w", err)
	}
	return tok, secret, nil
}

// List returns all agent tokens, the plain one (DefaultID) first.
func (s *Store) List() ([]Token, error) {
	doc, err := readDocument(s.path(documentFile))
	if err != nil {
		return nil, fmt.Errorf("list agent tokens: %w", err)
	}
	list := []Token{{ID: DefaultID, Agent: MainAgent}}
	for _, e := range doc.Tokens {
		list = append(list, e.Token)
	}
	return list, nil
}

// Revoke ends a token: its secret opens nothing from now on, in any process. The plain
// token (DefaultID) gets a new secret. An id that is not there is *UnknownTokenError.
func (s *Store) Revoke(id string) error {
	var err error
	if id == DefaultID {
		err = s.locked(func() error { return makeSecret(s.path(agentTokenFile)) })
	} else {
		err = s.edit(func(doc *document) error {
			i := doc.index(id)
			if i < 0 {
				return &UnknownTokenError{ID: id}
			}
			doc.Tokens = slices.Delete(doc.Tokens, i, i+1)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("revoke agent token: %w", err)
	}
	return nil
}

// String names the directory, never a secret.
func (s *Store) String() string { return "identity store of " + s.dir }

// GoString is String, for %#v.
func (s *Store) GoString() string { return s.String() }

// LogValue is String, for slog.
func (s *Store) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// watchAgents sets up the two files of agent secrets.
func (s *Store) watchAgents() {
	cred := Credential{Kind: KindAgent, ID: DefaultID, Agent: MainAgent}
	s.plain = &watched{path: s.path(agentTokenFile), load: loadSecret(cred)}
	s.further = &watched{path: s.path(documentFile), load: loadDocument}
}

// candidates returns all that could match, the operator's first so that a later one
// wins. The caller holds mu.
func (s *Store) candidates() [][]candidate {
	operator := s.given
	if s.operator != nil {
		s.operator.refresh()
		operator = s.operator.candidates
	}
	s.plain.refresh()
	s.further.refresh()
	return [][]candidate{operator, s.plain.candidates, s.further.candidates}
}

// edit changes the document under the lock.
func (s *Store) edit(change func(*document) error) error {
	return s.locked(func() error {
		doc, err := readDocument(s.path(documentFile))
		if err != nil {
			return err
		}
		if err := change(&doc); err != nil {
			return err
		}
		return doc.write(s.path(documentFile))
	})
}

// locked runs do while no other process changes the secrets.
func (s *Store) locked(do func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	held, err := safefile.Lock(ctx, s.path(lockFile))
	if err != nil {
		return err
	}
	return errors.Join(do(), held.Close())
}

func operatorCredential() Credential { return Credential{Kind: KindOperator, ID: "operator"} }

// loadSecret reads a file that holds one secret.
func loadSecret(cred Credential) func(string) ([]candidate, error) {
	return func(path string) ([]candidate, error) {
		secret, err := readSecret(path)
		if err != nil {
			return nil, err
		}
		return []candidate{{sum: sumOf(secret), cred: cred}}, nil
	}
}

// loadDocument reads the further tokens.
func loadDocument(path string) ([]candidate, error) {
	doc, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	var list []candidate
	for _, e := range doc.Tokens {
		hash, err := e.sum()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w: %w", path, ErrDamaged, err)
		}
		list = append(list, candidate{
			sum:  hash,
			cred: Credential{Kind: KindAgent, ID: e.ID, Agent: e.Agent, MainSession: e.Session == SessionMain},
		})
	}
	return list, nil
}
