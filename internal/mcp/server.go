package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

const (
	methodListTools = "tools/list"
	methodCallTool  = "tools/call"
)

// instructions is what a client shows its model about the server as a whole.
const instructions = "Runs shell commands on the operator's machine under the operator's policy. " +
	"exec starts a command; when its answer has a sessionId the command still runs, and process reads, writes to or ends it. " +
	"Start long work once and do not poll in a loop. A result with status denied or approval-pending is an answer, not a fault: do not retry it another way."

// caller is what a client's calls end in: one authenticated identity's view of the
// tools. Call follows the contract of the call path: Watch, which may be nil, is called
// from one goroutine and never after Call has returned; an error is a *protocol.Error.
type caller interface {
	Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error)
	Tools(ctx context.Context) ([]protocol.ToolInfo, error)
}

// Options of a server.
type Options struct {
	Version string       // of this program, told to clients
	Log     *slog.Logger // our own faults only; nil = nothing is logged

	// Asker asks the person through a client that can (A-60b); nil = nobody does. It is for
	// ServeStdio: over HTTP it is never used.
	Asker Asker
}

func (o Options) logger() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (o Options) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: "openclaw", Title: "OpenClaw", Version: o.Version}
}

// newServer makes the SDK's server. A middleware in front of the SDK's own tool table
// answers lists, so that each shows what the caller may use at that moment (C-20), and
// brings every call to one entry of the table, whatever tool it names: the call path
// knows which there are. begin gives the caller of a request and a context that ends
// when the caller has gone.
func newServer(opt Options, begin func(context.Context, sdk.Request) (context.Context, caller, func())) *sdk.Server {
	server := sdk.NewServer(opt.implementation(), &sdk.ServerOptions{
		Instructions: instructions,
		// Without this the SDK offers its deprecated logging feature.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	server.AddTool(&sdk.Tool{Name: everyTool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			called := ctx.Value(calledKey{}).(called) // put there below
			return callTool(ctx, opt, called, req), nil
		})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != methodListTools && method != methodCallTool {
				return next(ctx, method, req)
			}
			ctx, c, end := begin(ctx, req)
			defer end()
			call, ok := req.(*sdk.CallToolRequest)
			if !ok {
				return listTools(ctx, c)
			}
			ctx = context.WithValue(ctx, calledKey{}, called{c, call.Params.Name})
			call.Params.Name = everyTool
			return next(ctx, method, call)
		}
	})
	return server
}

// everyTool is the one entry of the SDK's table.
const everyTool = "tool"

// called is what a call was before it came to everyTool.
type called struct {
	caller caller
	tool   string
}

type calledKey struct{}

func listTools(ctx context.Context, c caller) (sdk.Result, error) {
	infos, err := c.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	list := &sdk.ListToolsResult{Tools: make([]*sdk.Tool, 0, len(infos))}
	// Another caller may see other tools, and a reload of the configuration can change
	// the list at any time.
	list.CacheScope = "private"
	openWorld := true
	for _, info := range infos {
		tool := &sdk.Tool{
			Name: info.Name, Title: info.Title, Description: info.Description,
			InputSchema: info.InputSchema,
			Annotations: &sdk.ToolAnnotations{
				Title: info.Title, DestructiveHint: &info.Destructive, OpenWorldHint: &openWorld,
			},
		}
		if len(info.OutputSchema) > 0 {
			tool.OutputSchema = info.OutputSchema
		}
		list.Tools = append(list.Tools, tool)
	}
	return list, nil
}

// callTool makes one call for the SDK. Its fault is a result with isError, which a
// client shows to its model; a protocol error would be hidden by most clients.
func callTool(ctx context.Context, opt Options, to called, req *sdk.CallToolRequest) *sdk.CallToolResult {
	watch, finish := watchProgress(ctx, req)
	var result *protocol.ToolResult
	var question *sdk.CallToolResult
	var failure *protocol.Error
	made := protocol.ToolRequest{Tool: to.tool, Args: req.Params.Arguments}
	if opt.Asker != nil && to.tool == protocol.ToolExec && (req.Params.RequestState != "" || canAsk(req)) {
		result, question, failure = askingCall(ctx, opt, req, made, watch)
	} else {
		result, failure = call(ctx, opt.logger(), to.caller, made, watch)
	}
	finish()
	switch {
	case failure != nil:
		return errorResult(failure)
	case question != nil:
		return question
	}
	res := &sdk.CallToolResult{StructuredContent: result.Details, Content: make([]sdk.Content, 0, len(result.Content))}
	for _, block := range result.Content {
		res.Content = append(res.Content, &sdk.TextContent{Text: block.Text})
	}
	return res
}

// call makes one call and turns whatever goes wrong into the wire's error.
func call(ctx context.Context, log *slog.Logger, c caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *protocol.Error) {
	return guarded(log, req.Tool, func() (*protocol.ToolResult, error) { return c.Call(ctx, req, watch) })
}

// guarded runs a part of a call and turns whatever goes wrong into the wire's error.
func guarded(log *slog.Logger, tool string, part func() (*protocol.ToolResult, error)) (res *protocol.ToolResult, failure *protocol.Error) {
	// The SDK runs this on a goroutine of its own, where a panic of ours would end the
	// daemon and with it every command of everybody.
	defer func() {
		if fault := recover(); fault != nil {
			log.Error("panic in a tool call", "tool", tool, "fault", fault, "stack", string(debug.Stack()))
			res, failure = nil, &protocol.Error{Type: protocol.ErrInternal, Message: "internal error", Hint: "the daemon's log has the details"}
		}
	}()
	res, err := part()
	if err != nil && !errors.As(err, &failure) {
		log.Error("tool call", "tool", tool, "err", err)
		failure = &protocol.Error{Type: protocol.ErrInternal, Message: err.Error()}
	}
	return res, failure
}

// errorResult has no structured content: an error's fields would break the tool's
// output schema, which clients check.
func errorResult(err *protocol.Error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}
