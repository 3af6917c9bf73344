package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"openclaw/internal/protocol"
)

const ndjson = "application/x-ndjson"

// Call runs one tool call in the daemon. With watch, which may be nil, the call's
// progress is passed on as it comes, from this goroutine; a Progress and its Data are
// the callback's to keep. Details of the result are *protocol.ExecResult or
// *protocol.ProcessResult by the tool's name, json.RawMessage for a dry run and for
// other tools. Errors are *protocol.Error. When ctx ends the connection is closed, by
// which the daemon ends a foreground command.
func (c *Client) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	accept := "application/json"
	if watch != nil {
		accept = ndjson
	}
	resp, err := c.post(ctx, "/tools/invoke", accept, req)
	if err != nil {
		return nil, err
	}
	defer drain(resp.Body)
	if watch != nil && isType(resp, ndjson) {
		return c.stream(ctx, resp, req, watch)
	}
	var answer struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
		Error  *protocol.Error `json:"error"`
	}
	if err := c.decode(ctx, resp, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Error != nil:
		return nil, answer.Error
	case !answer.OK || answer.Result == nil:
		return nil, c.statusError(resp)
	}
	return c.result(answer.Result, req)
}

// stream reads progress until the line that ends the call. The lines are JSON values
// one after the other, so a decoder that has no limit for a line reads them.
func (c *Client) stream(ctx context.Context, resp *http.Response, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	dec := json.NewDecoder(resp.Body)
	for {
		var line protocol.StreamLine
		err := dec.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return nil, c.broken(ctx, io.ErrUnexpectedEOF) // the last line is missing
		case err != nil:
			return nil, c.decodeError(ctx, err)
		case line.Error != nil:
			return nil, line.Error
		case line.Result != nil:
			return c.result(line.Result, req)
		case line.Progress != nil:
			watch(*line.Progress)
		}
	}
}

// result decodes a ToolResult with the details' own type.
func (c *Client) result(raw json.RawMessage, req protocol.ToolRequest) (*protocol.ToolResult, error) {
	var wire struct {
		Content []protocol.Content `json:"content"`
		Details json.RawMessage    `json:"details"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, c.unreadable(err)
	}
	res := &protocol.ToolResult{Content: wire.Content, Details: wire.Details}
	if wire.Details == nil {
		return nil, c.unreadable(fmt.Errorf("result of %s without details", req.Tool))
	}
	var into any
	switch {
	case req.DryRun:
		return res, nil
	case req.Tool == protocol.ToolExec:
		into = new(protocol.ExecResult)
	case req.Tool == protocol.ToolProcess:
		into = new(protocol.ProcessResult)
	default:
		return res, nil
	}
	if err := json.Unmarshal(wire.Details, into); err != nil {
		return nil, c.unreadable(err)
	}
	res.Details = into
	return res, nil
}

// Tools lists the tools that the token may use (C-20). An agent's token opens no route
// that would list them, so each is called without arguments, as a dry run: one that is
// not offered says so before it looks at arguments, one that is asks for them.
func (c *Client) Tools(ctx context.Context) ([]protocol.ToolInfo, error) {
	var list []protocol.ToolInfo
	for _, info := range protocol.Tools() {
		_, err := c.Call(ctx, protocol.ToolRequest{Tool: info.Name, Args: json.RawMessage("{}"), DryRun: true}, nil)
		var wire *protocol.Error
		switch {
		case err == nil, errors.As(err, &wire) && wire.Type == protocol.ErrInvalid:
			list = append(list, info)
		case errors.As(err, &wire) && (wire.Type == protocol.ErrNotFound || wire.Type == protocol.ErrForbidden):
		default:
			return nil, err
		}
	}
	return list, nil
}
