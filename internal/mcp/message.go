package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"openclaw/internal/protocol"
)

const (
	rpcVersion      = "2.0"
	methodCancelled = "notifications/cancelled"

	// plainDepth is how deep a message may nest for the short way. The SDK has a bound of
	// its own, and what it refuses must not get in here.
	plainDepth = 100
	// idMax is the largest number that every reader of JSON keeps exact. The SDK would
	// answer a larger one under another id.
	idMax = 1 << 53
)

// message is a JSON-RPC message. Its members are as they stand in the text; nil = absent.
type message struct {
	version, id, method, params, result, err []byte

	key jsonrpc.ID // of id, when that may name a request
	odd bool       // a member comes twice or nests deep: for the SDK only
}

// fault says why a message is refused.
type fault struct {
	code int
	text string
}

func invalid(text string) *fault { return &fault{jsonrpc.CodeInvalidRequest, text} }

// readMessage takes a message apart without decoding it, and refuses what is no request,
// notification or response. The members of a refused one are there as far as they were
// read, for the id of the refusal.
func readMessage(text []byte) (m message, refused *fault) {
	if !utf8.Valid(text) {
		return m, &fault{jsonrpc.CodeParseError, "the message is not UTF-8"}
	}
	if !json.Valid(text) {
		return m, &fault{jsonrpc.CodeParseError, "the message is not one JSON value"}
	}
	switch text[afterSpace(text, 0)] {
	case '{':
	case '[':
		return m, invalid("batches are not supported: send each message by itself")
	default:
		return m, invalid("a message is a JSON object")
	}
	shallow := members(text, m.set)
	m.odd = m.odd || !shallow
	var named bool
	m.key, named = requestID(m.id)
	switch {
	case string(m.version) != `"`+rpcVersion+`"`:
		return m, invalid(`member "jsonrpc" must be "2.0"`)
	case m.method != nil && m.method[0] != '"':
		return m, invalid(`member "method" must be a string`)
	case m.method != nil && m.id != nil && !named:
		return m, invalid(`member "id" must be a string or a whole number up to 2^53`)
	case m.method != nil:
		return m, nil
	case (m.result == nil) == (m.err == nil) || !named && (m.err == nil || string(m.id) != "null"):
		return m, invalid("the message is no request, notification or response")
	}
	return m, nil
}

// set keeps one member; of two by the same name the last, as the SDK does.
func (m *message) set(name, value []byte) {
	var to *[]byte
	switch string(name) {
	case "jsonrpc":
		to = &m.version
	case "id":
		to = &m.id
	case "method":
		to = &m.method
	case "params":
		to = &m.params
	case "result":
		to = &m.result
	case "error":
		to = &m.err
	default:
		return
	}
	m.odd = m.odd || *to != nil
	*to = value
}

// is compares the method. One that is written with escapes is none of ours.
func (m *message) is(method string) bool {
	n := len(m.method)
	return n == len(method)+2 && string(m.method[1:n-1]) == method
}

// requestID gives the value of an id, under which the SDK knows it too.
func requestID(raw []byte) (id jsonrpc.ID, ok bool) {
	if len(raw) == 0 {
		return id, false
	}
	var value any
	if raw[0] == '"' {
		text, err := unquote(raw)
		if err != nil {
			return id, false
		}
		value = string(text)
	} else {
		number, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || number != math.Trunc(number) || math.Abs(number) > idMax {
			return id, false
		}
		value = number
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// cancelledID gives what a cancellation's parameters name.
func cancelledID(params []byte) (raw []byte, id jsonrpc.ID, ok bool) {
	if len(params) == 0 || params[0] != '{' {
		return nil, id, false
	}
	members(params, func(name, value []byte) {
		if string(name) == "requestId" {
			raw = value
		}
	})
	id, ok = requestID(raw)
	return raw, id, ok
}

// toolCall is a tools/call that asks for nothing but its result.
type toolCall struct {
	id        json.RawMessage
	key       jsonrpc.ID
	name      string
	arguments json.RawMessage
	meta      map[string]json.RawMessage // nil when there is none
}

// toolCall reads one. It is not plain when it asks for live output, is the second round
// of a call that asked back, or is written in a way that only the SDK is to judge.
func (m *message) toolCall() (c toolCall, plain bool) {
	if !m.is(methodCallTool) || m.odd || m.id == nil || m.id[0] != '"' && bytes.ContainsAny(m.id, ".eE") ||
		len(m.params) == 0 || m.params[0] != '{' {
		return c, false
	}
	var name, arguments, meta []byte
	plain = true
	members(m.params, func(member, value []byte) {
		var to *[]byte
		switch string(member) {
		case "name":
			to = &name
		case "arguments":
			to = &arguments
		case "_meta":
			to = &meta
		case "inputResponses", "requestState":
			plain = false
			return
		default:
			return
		}
		plain = plain && *to == nil
		*to = value
	})
	if !plain || len(name) <= len(`""`) || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 ||
		arguments != nil && arguments[0] != '{' || meta != nil && meta[0] != '{' {
		return c, false
	}
	c = toolCall{id: m.id, key: m.key, name: string(name[1 : len(name)-1]), arguments: arguments}
	if meta != nil {
		c.meta = map[string]json.RawMessage{}
		members(meta, func(member, value []byte) { c.meta[string(member)] = value })
	}
	_, live := c.meta["progressToken"]
	return c, !live
}

// reply is the answer to a call, and refusal the one to a message that is refused.
type (
	reply struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  replyResult     `json:"result"`
	}
	replyResult struct {
		Meta              map[string]any     `json:"_meta,omitempty"`
		Content           []protocol.Content `json:"content"`
		StructuredContent any                `json:"structuredContent,omitempty"`
		IsError           bool               `json:"isError,omitempty"`
		ResultType        string             `json:"resultType,omitempty"` // since perRequestVersion
	}
	refusal struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // nil is written as null
		Error   refusalText     `json:"error"`
	}
	refusalText struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
)

// answer makes the call and gives its reply as a line. The result comes with what the
// protocol's version adds to it.
func (o Options) answer(ctx context.Context, c caller, tc *toolCall, result replyResult) ([]byte, error) {
	res, bad := call(ctx, o.logger(), c, protocol.ToolRequest{Tool: tc.name, Args: tc.arguments}, nil)
	if bad != nil {
		result.IsError, result.Content = true, protocol.Text(bad.Error())
	} else {
		result.Content, result.StructuredContent = res.Content, res.Details
	}
	if result.Content == nil {
		result.Content = []protocol.Content{} // the protocol has no null here
	}
	text, err := encodeLine(reply{Version: rpcVersion, ID: tc.id, Result: result})
	if err != nil {
		return nil, fmt.Errorf("encode the result of %s: %w", tc.name, err)
	}
	return text, nil
}

// encodeLine encodes a message and ends it.
func encodeLine(message any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(message); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
