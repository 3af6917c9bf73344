package client

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

	"openclaw/internal/safefile"
)

// Names in the state directory, written by the daemon.
const (
	endpointFile = "gateway.json"
	lockFile     = "gateway.lock"
	endpointMax  = 64 << 10 // bytes
)

// Endpoint is where a running daemon listens, as it wrote it down itself.
type Endpoint struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"` // "http://127.0.0.1:18789"
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`

	// Fingerprint is the SHA-256 of the daemon's TLS certificate in hex; "" = no TLS.
	Fingerprint string `json:"tlsFingerprint,omitempty"`
}

// Client makes a client of the daemon, as New; over TLS it talks to nobody but the holder
// of the certificate that the daemon wrote down.
func (e Endpoint) Client(token string) *Client {
	c := New(e.URL, token)
	if e.Fingerprint != "" {
		c.transport().TLSClientConfig = pinned(e.Fingerprint)
	}
	return c
}

// pinned takes one certificate and no other, whatever it says of itself.
func pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection is stricter
		VerifyConnection: func(state tls.ConnectionState) error {
			sum := sha256.Sum256(state.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(fingerprint)) != 1 {
				return errors.New("the certificate is not the gateway's own (its fingerprint differs)")
			}
			return nil
		},
	}
}

// Find looks for the daemon that runs on a state directory; false means that none does.
// The file alone proves nothing: a daemon that was killed leaves it behind, and its port
// may belong to a stranger by now. So the daemon's lock has to be held, which ends with
// its process. An error means that a daemon runs but cannot be reached through what it
// wrote, or that the file is not safe to trust.
func Find(stateDir string) (Endpoint, bool, error) {
	held, err := safefile.Locked(filepath.Join(stateDir, lockFile))
	if err != nil {
		return Endpoint{}, false, fmt.Errorf("find gateway: %w", err)
	}
	if !held {
		return Endpoint{}, false, nil
	}
	path := filepath.Join(stateDir, endpointFile)
	data, err := safefile.Read(path, endpointMax)
	if errors.Is(err, fs.ErrNotExist) {
		return Endpoint{}, false, nil // it is about to start, or about to end
	}
	if err != nil {
		return Endpoint{}, false, fmt.Errorf("find gateway: %w", err)
	}
	ep, err := parseEndpoint(data)
	if err != nil {
		return Endpoint{}, false, fmt.Errorf("find gateway: read %s: %w", path, err)
	}
	return ep, true, nil
}

// parseEndpoint reads the file; fields that it does not know are a newer daemon's.
func parseEndpoint(data []byte) (Endpoint, error) {
	var ep Endpoint
	if err := json.Unmarshal(data, &ep); err != nil {
		return Endpoint{}, err
	}
	u, err := url.Parse(ep.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return Endpoint{}, fmt.Errorf("url %.80q is not an http address", ep.URL)
	}
	return ep, nil
}
