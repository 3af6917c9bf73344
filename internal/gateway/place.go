package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"openclaw/internal/safefile"
)

// Names in the state directory; clients look for them.
const (
	lockFile     = "gateway.lock"
	endpointFile = "gateway.json"
	endpointMax  = 64 << 10 // bytes
)

// endpoint is what a daemon writes down of itself for clients on this machine.
type endpoint struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`

	// Fingerprint pins the certificate for clients on this machine; "" = no TLS.
	Fingerprint string `json:"tlsFingerprint,omitempty"`
}

// place is the state directory, held so that two daemons never share it.
type place struct {
	held *safefile.Held
	path string // of the endpoint file
}

// claim takes the state directory or says who has it.
func claim(stateDir string) (*place, error) {
	if err := safefile.Dir(stateDir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	p := &place{path: filepath.Join(stateDir, endpointFile)}
	held, err := safefile.TryLock(filepath.Join(stateDir, lockFile))
	if errors.Is(err, safefile.ErrLocked) {
		return nil, fmt.Errorf("another gateway%s uses %s; stop it first, or set OPENCLAW_STATE_DIR and gateway.port for a second one: %w", p.other(), stateDir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	p.held = held
	// What a killed daemon left names a port that may be somebody else's by now.
	if err := os.Remove(p.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("state directory: %w", err), held.Close())
	}
	return p, nil
}

// other names the daemon that holds the directory, as far as it can be read.
func (p *place) other() string {
	data, err := safefile.Read(p.path, endpointMax)
	if err != nil {
		return ""
	}
	var e endpoint
	if json.Unmarshal(data, &e) != nil || e.PID == 0 {
		return ""
	}
	return fmt.Sprintf(" (pid %d, %s)", e.PID, e.URL)
}

// announce writes the endpoint file.
func (p *place) announce(info Info, version string, started time.Time) error {
	data, err := json.MarshalIndent(endpoint{PID: info.PID, URL: info.URL, Version: version, StartedAt: started.UTC().Truncate(time.Millisecond), Fingerprint: info.Fingerprint}, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return safefile.Write(p.path, append(data, '\n'))
}

// release takes the endpoint file away, while the lock is still held, and gives the
// directory back.
func (p *place) release(log *slog.Logger) {
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("remove endpoint file", "err", err)
	}
	if err := p.held.Close(); err != nil {
		log.Warn("release state directory", "err", err)
	}
}
