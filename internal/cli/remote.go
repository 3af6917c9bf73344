package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"openclaw/internal/client"
	"openclaw/internal/protocol"
)

// remote is a daemon's call path as seen from the directory this program was started
// in: a command without a working directory runs there, not in the agent's workspace
// (config.md, agents.entries.<id>.workspace).
type remote struct {
	client *client.Client
	agent  string // to act for; the operator's token may, an agent's only for its own
	dir    string // "" = it has gone
}

func (r *remote) Call(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if req.AgentID == "" {
		req.AgentID = r.agent
	}
	if req.Tool == protocol.ToolExec && r.dir != "" {
		args, err := placeIn(r.dir, req.Args)
		if err != nil {
			return nil, err
		}
		req.Args = args
	}
	return r.client.Call(ctx, req, watch)
}

// placeIn puts the directory into the arguments of an exec as its working directory, or
// in front of a relative one. Everything else keeps its place, its form and its faults:
// the daemon checks the arguments and says what is wrong with them.
func placeIn(dir string, args json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return args, nil
	}
	var out bytes.Buffer
	placed := false
	for sep := "{"; dec.More(); sep = "," {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return args, nil
		}
		if name == "workdir" {
			placed = true
			value = absolute(dir, value)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("arguments of exec: %w", err)
		}
		out.WriteString(sep)
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	if _, err := dec.Token(); err != nil || dec.More() {
		return args, nil
	}
	if !placed {
		value, err := json.Marshal(dir)
		if err != nil {
			return nil, fmt.Errorf("arguments of exec: %w", err)
		}
		if out.Len() == 0 {
			out.WriteByte('{')
		} else {
			out.WriteByte(',')
		}
		out.WriteString(`"workdir":`)
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// absolute resolves a relative working directory; one that is only white space, or no
// string, is left for the daemon to refuse.
func absolute(dir string, value json.RawMessage) json.RawMessage {
	var path *string
	if json.Unmarshal(value, &path) != nil {
		return value
	}
	switch {
	case path == nil || *path == "":
		path = &dir
	case filepath.IsAbs(*path) || len(bytes.TrimSpace([]byte(*path))) == 0:
		return value
	default:
		joined := filepath.Join(dir, *path)
		path = &joined
	}
	out, err := json.Marshal(*path)
	if err != nil {
		return value
	}
	return out
}

// request makes the request of one tool call.
func request(tool string, args any) (protocol.ToolRequest, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return protocol.ToolRequest{}, fmt.Errorf("arguments of %s: %w", tool, err)
	}
	return protocol.ToolRequest{Tool: tool, Args: raw}, nil
}

func (r *remote) Tools(ctx context.Context) ([]protocol.ToolInfo, error) { return r.client.Tools(ctx) }
