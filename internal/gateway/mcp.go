package gateway

import (
	"bytes"
	"context"
	"io"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// serveMCP serves the Model Context Protocol (C-32). A caller is what its credential
// says; the protocol has no place to name another agent or session.
func (s *server) serveMCP(req *request) {
	who, err := req.who.caller("", "", "mcp")
	if err != nil {
		writeError(req.w, err)
		return
	}
	req.r.Body = io.NopCloser(bytes.NewReader(req.body))
	key := who.Credential + "\x00" + who.SessionKey
	s.mcp.Serve(req.w, req.r, key, &toolCaller{tools: req.backend.tools, who: who})
}

// toolCaller is one caller's view of the tools.
type toolCaller struct {
	tools caller
	who   tool.Caller
}

// Call makes a call as the caller.
func (c *toolCaller) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	return c.tools.Call(ctx, c.who, req, watch)
}

// Tools lists what the caller may use.
func (c *toolCaller) Tools(context.Context) ([]protocol.ToolInfo, error) {
	return c.tools.Tools(c.who), nil
}
