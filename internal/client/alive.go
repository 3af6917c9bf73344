package client

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"openclaw/internal/protocol"
	"openclaw/internal/safefile"
)

// Held says whether a daemon holds the state directory right now: also one that starts
// or ends, and that Find does not find for that reason.
func Held(stateDir string) (bool, error) {
	held, err := safefile.Locked(filepath.Join(stateDir, lockFile))
	if err != nil {
		return false, fmt.Errorf("find gateway: %w", err)
	}
	return held, nil
}

// Healthy asks the daemon whether it lives (protocol 1.8); nil = it says so. No token is
// needed. Errors are *protocol.Error.
func (c *Client) Healthy(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/healthz", nil)
	if err != nil {
		return invalid("request: %v", err)
	}
	resp, err := c.do(req, "application/json")
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	var health struct{ OK bool }
	if err := c.decode(ctx, resp, &health); err != nil {
		return err
	}
	if !health.OK {
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: c.String() + " does not say that it is well"}
	}
	return nil
}
