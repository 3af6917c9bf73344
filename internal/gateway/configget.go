package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"

	"openclaw/internal/config"
	"openclaw/internal/json5"
)

// redacted stands in for a secret in what config.get shows (protocol 4.12).
const redacted = "__OPENCLAW_REDACTED__"

// secretKey are the names of settings whose values are never shown (C-5).
var secretKey = regexp.MustCompile(`(?i)(token|password|passphrase|secret|apikey|api_key|privatekey|credential)s?$`)

// configView is the answer of config.get, as far as clients read it.
type configView struct {
	Path     string   `json:"path"`
	Exists   bool     `json:"exists"`
	Valid    bool     `json:"valid"`
	Config   any      `json:"config"`
	Hash     string   `json:"hash"`
	Issues   []string `json:"issues"`
	Warnings []string `json:"warnings"`
}

// methodConfigGet shows the configuration file, secrets masked.
func (s *server) methodConfigGet(context.Context, *backend, none) (any, error) {
	path := s.cfg.Load().File
	view := configView{Path: path, Config: map[string]any{}, Issues: []string{}, Warnings: append([]string{}, s.cfg.Load().Warnings...)}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	view.Exists, view.Valid = err == nil, true
	sum := sha256.Sum256(data)
	view.Hash = hex.EncodeToString(sum[:])
	if !view.Exists {
		return view, nil
	}
	if _, err := config.Load(path, s.opt.Getenv); err != nil {
		view.Valid, view.Issues = false, append(view.Issues, err.Error())
	}
	if root, err := json5.Parse(data); err == nil {
		view.Config = masked(root)
	}
	return view, nil
}

// masked is a value without its secrets.
func masked(n *json5.Node) any {
	switch n.Kind {
	case json5.Object:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			if secretKey.MatchString(m.Key) && m.Value.Kind != json5.Null {
				out[m.Key] = redacted
				continue
			}
			out[m.Key] = masked(m.Value)
		}
		return out
	case json5.Array:
		out := make([]any, 0, len(n.Elements))
		for _, e := range n.Elements {
			out = append(out, masked(e))
		}
		return out
	case json5.Number:
		if raw := n.Source(); json.Valid(raw) {
			return json.Number(raw)
		}
		f, _ := n.Float()
		return f
	}
	return n.Value()
}
