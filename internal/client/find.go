package client

import (
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
