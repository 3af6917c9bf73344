package client

import (
	"context"
	"encoding/json"
	"net/http"

	"openclaw/internal/protocol"
)

// Approvals passes on what is asked and decided, first what is pending, until ctx ends
// (nil) or the connection does. It needs the operator's token, and while it runs the
// daemon counts on an answer. Open is called once, when the daemon knows.
func (c *Client) Approvals(ctx context.Context, open func(), requested func(protocol.ExecApproval), resolved func(protocol.ExecApprovalResolved)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/events?approvals=1", nil)
	if err != nil {
		return invalid("request: %v", err)
	}
	resp, err := c.do(req, "text/event-stream")
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // it has no end that could be read
	if !isType(resp, "text/event-stream") {
		return c.refusal(ctx, resp)
	}
	open()
	err = readEvents(resp.Body, func(_ string, data []byte) error {
		var kind struct {
			Kind  string          `json:"approvalKind"`
			Error *protocol.Error `json:"error"`
		}
		if err := json.Unmarshal(data, &kind); err != nil {
			return c.unreadable(err)
		}
		switch {
		case kind.Error != nil:
			return kind.Error
		case kind.Kind != "":
			var a protocol.ExecApproval
			if err := json.Unmarshal(data, &a); err != nil {
				return c.unreadable(err)
			}
			requested(a)
			return nil
		}
		var r protocol.ExecApprovalResolved
		if err := json.Unmarshal(data, &r); err != nil {
			return c.unreadable(err)
		}
		resolved(r)
		return nil
	})
	return ended(ctx, c.broken(ctx, err))
}
