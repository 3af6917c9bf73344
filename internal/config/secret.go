package config

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"openclaw/internal/safefile"
)

const (
	redacted      = "[redacted]"
	maxSecretFile = 64 << 10
)

// Secret is a token, password or key. Every way of printing it gives "[redacted]"
// (C-5); only Reveal gives the value. The zero value is "not set".
type Secret struct{ value string }

// NewSecret wraps a value that came from elsewhere.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal gives the value itself, "" when not set. It must not reach a log or an answer.
func (s Secret) Reveal() string { return s.value }

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != "" }

// Equal compares in constant time. A secret that is not set equals nothing.
func (s Secret) Equal(candidate string) bool {
	// Hashed so that the time does not tell the length either.
	a, b := sha256.Sum256([]byte(s.value)), sha256.Sum256([]byte(candidate))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && s.IsSet()
}

// String hides the value.
func (s Secret) String() string { return redacted }

// Format hides the value under every verb, %#v and %x too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText hides the value in JSON and as a map key.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the value.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue hides the value in structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// secret reads a token or key: a string, which may hold ${ENV_NAME}, or where to get it
// from: {source: "env", id: NAME} or {source: "file", path: PATH} (C-5). The source
// "exec" is refused: a command that hands out secrets would run before any policy is
// known.
func secret(dst *Secret) reader {
	return func(v value) {
		if v.kind() != kindObject {
			if got, ok := v.str("a string, ${ENV_NAME} or {source: ...}"); ok {
				if got == "" {
					v.fail("expected a secret that is not empty")
				}
				*dst = Secret{got}
			}
			return
		}
		var from struct{ source, provider, id, name, path string }
		v.section(strict, nil, []field{
			{key: "source", read: word(&from.source, "env", "file", "exec")},
			{key: "provider", read: text(&from.provider)},
			{key: "id", read: text(&from.id)},
			{key: "name", read: text(&from.name)},
			{key: "path", read: text(&from.path)},
		})
		switch from.source {
		case "env":
			v.secretEnv(dst, first(from.id, from.name))
		case "file":
			v.secretFile(dst, first(from.path, from.id))
		case "exec":
			v.fail(`a secret from a command is not supported here; use {source: "env"} or {source: "file"}`)
		default:
			if v.node.Get("source") == nil {
				v.fail(`expected source: "env" or "file" in a secret given as an object`)
			}
		}
	}
}

func (v value) secretEnv(dst *Secret, name string) {
	if name == "" {
		v.fail(`expected id: the name of the environment variable`)
		return
	}
	got := v.l.getenv(name)
	if got == "" {
		v.fail(fmt.Sprintf("environment variable %s is not set", name))
	}
	*dst = Secret{got}
}

func (v value) secretFile(dst *Secret, path string) {
	path = expand(path, v.l.home)
	if !filepath.IsAbs(path) {
		v.fail(`expected path: an absolute path, or one that begins with ~/`)
		return
	}
	data, err := safefile.Read(path, maxSecretFile)
	if err != nil {
		v.fail(err.Error())
		return
	}
	// Editors and echo end a file with a newline; no secret has one.
	got := strings.TrimRight(string(data), "\r\n")
	if got == "" {
		v.fail("secret file " + path + " is empty")
	}
	*dst = Secret{got}
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
