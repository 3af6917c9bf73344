package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

func TestC32_ToolsAreListedAsTheCallerSeesThem(t *testing.T) {
	fake := &fakeCaller{tools: []protocol.ToolInfo{execInfo()}}
	session := connect(t, fake)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 1 {
		t.Fatalf("%d tools", len(list.Tools))
	}
	tool := list.Tools[0]
	if tool.Name != "exec" || tool.Title != "Run a command" || tool.Description == "" {
		t.Errorf("tool is %+v", tool)
	}
	a := tool.Annotations
	if a == nil || a.ReadOnlyHint || a.DestructiveHint == nil || !*a.DestructiveHint || a.OpenWorldHint == nil || !*a.OpenWorldHint || a.Title != "Run a command" {
		t.Errorf("annotations are %+v", a)
	}
	for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
		if m, ok := schema.(map[string]any); !ok || m["type"] != "object" {
			t.Errorf("schema is %v", schema)
		}
	}
	// C-20: what is denied meanwhile is no longer listed.
	fake.tools = nil
	if list, err = session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
		t.Errorf("after a change: %v, %v", list, err)
	}
	if text := session.InitializeResult().Instructions; text == "" || len(text) > 1000 {
		t.Errorf("instructions are %q", text)
	}
}

func TestC32_ResultIsTextAndStructure(t *testing.T) {
	var got protocol.ToolRequest
	session := connect(t, &fakeCaller{call: func(_ context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
		got = req
		if watch != nil {
			t.Error("progress is watched though nobody asked")
		}
		return completed("hello\n"), nil
	}})
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{
		Name: "exec", Arguments: json.RawMessage(`{"command":"echo hello","unknown":1e400}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Tool != "exec" || !strings.Contains(string(got.Args), "1e400") {
		t.Errorf("the call was %s %s", got.Tool, got.Args)
	}
	if text := res.Content[0].(*sdk.TextContent).Text; res.IsError || len(res.Content) != 1 || text != "hello\n" {
		t.Errorf("result is %q, isError %v", text, res.IsError)
	}
	structured := res.StructuredContent.(map[string]any)
	if structured["status"] != "completed" || structured["exitCode"] != 0.0 {
		t.Errorf("structured content is %v", structured)
	}
}

func TestErrorsAreReadableByModels(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"parameter": {&protocol.Error{Type: protocol.ErrInvalid, Message: "unknown parameter: cmd", Hint: "did you mean command?"}, "unknown parameter: cmd; did you mean command?"},
		"denied":    {&protocol.Error{Type: protocol.ErrNotFound, Message: "Tool not available: exec (tools.deny)"}, "Tool not available: exec (tools.deny)"},
		"foreign":   {errors.New("disk on fire"), "disk on fire"},
		"panic":     {nil, "internal error; the daemon's log has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			session := connect(t, &fakeCaller{call: func(context.Context, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
				if tt.err == nil {
					panic("our own fault")
				}
				return nil, tt.err
			}})
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec"})
			if err != nil {
				t.Fatal(err)
			}
			if text := res.Content[0].(*sdk.TextContent).Text; !res.IsError || text != tt.want || res.StructuredContent != nil {
				t.Errorf("result is %q, isError %v, structured %v", text, res.IsError, res.StructuredContent)
			}
		})
	}
}
