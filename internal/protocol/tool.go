package protocol

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Names of the tools that callers see.
const (
	ToolExec       = "exec"
	ToolProcess    = "process"
	ToolApplyPatch = "apply_patch"
)

// ToolRequest asks for one tool call: the body of POST /tools/invoke and what every
// other surface turns its input into. Unknown top-level fields are ignored (protocol 7
// clients send some); unknown fields of Args are errors.
type ToolRequest struct {
	Tool           string          `json:"tool"`
	Args           json.RawMessage `json:"args,omitempty"` // a JSON object; absent = {}
	AgentID        string          `json:"agentId,omitempty"`
	SessionKey     string          `json:"sessionKey,omitempty"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
	DryRun         bool            `json:"dryRun,omitempty"`
	Wait           Wait            `json:"wait,omitempty"` // for a person's answer, within the call
}

// Wait is how long a call waits for a person: 0 = not at all, else milliseconds; below 0 =
// until there is an answer. On the wire it is true, false or a number.
type Wait int64

// WaitForever waits until there is an answer.
const WaitForever Wait = -1

// UnmarshalJSON reads true, false or milliseconds.
func (w *Wait) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*w = WaitForever
		return nil
	case "false", "null":
		*w = 0
		return nil
	}
	var ms float64
	if err := json.Unmarshal(data, &ms); err != nil || ms < 0 || ms > 24*60*60*1000 {
		return errors.New("wait is true, false or a number of milliseconds up to a day")
	}
	*w = Wait(ms)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (w Wait) MarshalJSON() ([]byte, error) {
	if w < 0 {
		return []byte("true"), nil
	}
	return strconv.AppendInt(nil, int64(w), 10), nil
}

// ToolResult is the answer of one tool call. A refusal is a result (status denied),
// not an error.
type ToolResult struct {
	Content []Content `json:"content"`
	Details any       `json:"details"` // *ExecResult, *ProcessResult or a policy decision
}

// Content is one block of text for a model.
type Content struct {
	Type string `json:"type"` // always "text"
	Text string `json:"text"`
}

// Text makes the content of a result that is one block of text.
func Text(s string) []Content { return []Content{{Type: "text", Text: s}} }

// Progress is one step of a running call, for surfaces that show output as it comes.
// Exactly one field group is set: SessionID with Pid when the command has started, or
// Data with Offset for output.
type Progress struct {
	SessionID string `json:"sessionId,omitempty"`
	Pid       int    `json:"pid,omitempty"`
	Stream    string `json:"stream,omitempty"`  // "stdout" or "stderr" with streams: true, else "" = both in order
	Offset    int64  `json:"offset,omitempty"`  // of Data's first byte in the stream
	Data      []byte `json:"data,omitempty"`    // raw bytes (base64 in JSON), valid during the callback only
	Dropped   int64  `json:"dropped,omitempty"` // bytes skipped before Data because the reader was too slow
}

// StreamLine is one line of an answer of POST /tools/invoke with
// "Accept: application/x-ndjson": any number of progress lines, then exactly one
// with Result or Error.
type StreamLine struct {
	Progress *Progress       `json:"progress,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // a ToolResult
	Error    *Error          `json:"error,omitempty"`
}

// InvokeResponse is the answer of POST /tools/invoke without streaming.
type InvokeResponse struct {
	OK     bool        `json:"ok"`
	Result *ToolResult `json:"result,omitempty"`
	Error  *Error      `json:"error,omitempty"`
}

// RPCRequest is the body of POST /rpc (C-7).
type RPCRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// RPCResponse is its answer.
type RPCResponse struct {
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// ToolInfo describes one tool to a client.
type ToolInfo struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Destructive  bool            `json:"destructive"`
}
