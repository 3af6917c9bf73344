package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"openclaw/internal/protocol"
)

// eventMax bounds one event; the daemon's own are some kilobytes.
const eventMax = 16 << 20 // bytes

// Events passes on the events that the token may see, from the one behind lastID ("" =
// from now on), until ctx ends (then it returns nil) or the connection does (then a
// *protocol.Error). To go on after that, call it again with the last event's ID.
func (c *Client) Events(ctx context.Context, lastID string, event func(protocol.Event)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/events", nil)
	if err != nil {
		return invalid("request: %v", err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := c.do(req, "text/event-stream")
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // it has no end that could be read
	if !isType(resp, "text/event-stream") {
		return c.refusal(ctx, resp)
	}
	err = readEvents(resp.Body, func(id string, data []byte) error {
		var got struct {
			protocol.Event
			Error *protocol.Error `json:"error"` // the stream's last word: the token was revoked
		}
		if err := json.Unmarshal(data, &got); err != nil {
			return c.unreadable(err)
		}
		if got.Error != nil {
			return got.Error
		}
		ev := got.Event
		if ev.ID == "" {
			ev.ID = id
		}
		event(ev)
		return nil
	})
	var own *protocol.Error
	if errors.As(err, &own) {
		return own
	}
	return ended(ctx, c.broken(ctx, err))
}

// refusal reads the error that came instead of a stream.
func (c *Client) refusal(ctx context.Context, resp *http.Response) error {
	var answer protocol.RPCResponse
	if err := c.decode(ctx, resp, &answer); err != nil {
		return ended(ctx, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return c.statusError(resp)
}

// ended makes the end of the caller's context no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// readEvents reads server-sent events until the stream ends or on returns an error. An
// event without data (a heartbeat) is none.
func readEvents(r io.Reader, on func(id string, data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, eventMax)
	var id string
	var data [][]byte
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if len(data) > 0 {
				if err := on(id, bytes.Join(data, []byte("\n"))); err != nil {
					return err
				}
			}
			data = nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			id = string(value)
		case "data":
			data = append(data, bytes.Clone(value))
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF // a daemon ends a stream only by going away
}
