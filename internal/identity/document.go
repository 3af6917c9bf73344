package identity

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"openclaw/internal/safefile"
)

const (
	documentVersion = 1
	documentMax     = 1 << 20 // bytes
	maxLabel        = 200     // bytes
)

// document is agent-tokens.json: the tokens beside the plain one.
type document struct {
	Version int     `json:"version"`
	Tokens  []entry `json:"tokens"`
}

// entry is one token with the hash of its secret.
type entry struct {
	Token
	SHA256 string `json:"sha256"` // of the secret, in hexadecimal
}

// readDocument returns the document; a missing file is an empty one.
func readDocument(path string) (document, error) {
	data, err := safefile.Read(path, documentMax)
	if errors.Is(err, fs.ErrNotExist) {
		return document{Version: documentVersion}, nil
	}
	if err != nil {
		return document{}, err
	}
	doc, err := parseDocument(data)
	if err != nil {
		return document{}, fmt.Errorf("read %s: %w: %w", path, ErrDamaged, err)
	}
	return doc, nil
}

// parseDocument is strict: a file that says anything unexpected opens nothing.
func parseDocument(data []byte) (document, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return document{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return document{}, errors.New("text behind the document")
	}
	if doc.Version != documentVersion {
		return document{}, fmt.Errorf("version %d, this program knows %d", doc.Version, documentVersion)
	}
	seen := map[string]bool{DefaultID: true}
	for _, e := range doc.Tokens {
		if e.ID == "" || seen[e.ID] {
			return document{}, fmt.Errorf("token id %.80q is empty, reserved or there twice", e.ID)
		}
		seen[e.ID] = true
		if err := e.valid(); err != nil {
			return document{}, fmt.Errorf("token %.80q: %w", e.ID, err)
		}
	}
	return doc, nil
}

// valid checks one entry.
func (e entry) valid() error {
	if id, err := AgentID(e.Agent); err != nil {
		return err
	} else if id != e.Agent {
		return fmt.Errorf("agent id %q is not lower case", e.Agent)
	}
	if e.Session != "" && e.Session != SessionMain {
		return fmt.Errorf("session %.80q, not %q or empty", e.Session, SessionMain)
	}
	_, err := e.sum()
	return err
}

// sum decodes the hash.
func (e entry) sum() (sum, error) {
	raw, err := hex.DecodeString(e.SHA256)
	if err != nil || len(raw) != len(sum{}) {
		return sum{}, errors.New("sha256 is not 64 hexadecimal digits")
	}
	return sum(raw), nil
}

// write replaces the file.
func (d document) write(path string) error {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return safefile.Write(path, append(data, '\n'))
}

// index returns the place of a token, -1 if there is none.
func (d document) index(id string) int {
	return slices.IndexFunc(d.Tokens, func(e entry) bool { return e.ID == id })
}
