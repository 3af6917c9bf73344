package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is the SDK's side of a stdio session.

// Connect gives the SDK its connection.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID is empty: there is one session, and nobody names it.
func (s *stdio) SessionID() string { return "" }

// Read gives the SDK the next message that is left to it.
func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.toSDK:
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message of the SDK, unless it answers a request that was cancelled.
func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first := func() {}
	if response, ok := m.(*jsonrpc.Response); ok {
		of, send := s.flights.finish(response.ID)
		if !send {
			return nil
		}
		if of.initialize && response.Error == nil {
			first = func() { s.begin(response.Result) }
		}
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return s.out.writeAfter(first, append(text, '\n'))
}

// begin sees what the answer to initialize settles. A version without sessions has its
// own rules for each request, which are the SDK's to know, and so has a call that may ask.
func (s *stdio) begin(initialized []byte) {
	var result struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(initialized, &result) == nil && result.ProtocolVersion != "" {
		s.ready.Store(result.ProtocolVersion < perRequestVersion && s.opt.Asker == nil)
	}
}

// Close ends the SDK's reading.
func (s *stdio) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
