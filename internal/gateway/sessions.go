package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/tool"
)

// Bounds of exec.session.output.
const (
	outputBytes    = 64 << 10
	outputBytesMax = 1 << 20
	outputWaitMax  = 60_000 // ms
)

// sessionMethods look at and work with process sessions, whosever they are. The namespace is
// our own.
func sessionMethods() map[string]method {
	return map[string]method{
		"exec.session.list":   with((*server).methodSessionList),
		"exec.session.get":    with((*server).methodSessionGet),
		"exec.session.output": with((*server).methodSessionOutput),
		"exec.session.screen": with((*server).methodSessionScreen),
		"exec.session.write":  with((*server).methodSessionWrite),
		"exec.session.keys":   with((*server).methodSessionKeys),
		"exec.session.resize": with((*server).methodSessionResize),
		"exec.session.kill":   with((*server).methodSessionKill),
	}
}

type sessionList struct {
	Sessions []protocol.SessionInfo `json:"sessions"`
}

func (s *server) methodSessionList(ctx context.Context, b *backend, p agentParams) (any, error) {
	agent, err := p.agent(session.AnyAgent)
	if err != nil {
		return nil, err
	}
	rows, err := b.table.List(ctx, agent, tool.ListTail)
	if err != nil {
		return nil, err
	}
	list := sessionList{Sessions: []protocol.SessionInfo{}}
	for _, row := range rows {
		list.Sessions = append(list.Sessions, tool.SessionInfo(row))
	}
	return list, nil
}

type sessionParams struct {
	SessionID string `json:"sessionId"`
}

func (s *server) methodSessionGet(ctx context.Context, b *backend, p sessionParams) (any, error) {
	st, err := b.table.Get(ctx, session.AnyAgent, p.SessionID)
	if err != nil {
		return nil, sessionError(ctx, err)
	}
	return sessionInfo(ctx, b, st), nil
}

// sessionInfo is a session as a row, with its last output.
func sessionInfo(ctx context.Context, b *backend, st session.State) protocol.SessionInfo {
	tail, _ := b.table.Tail(ctx, st.Agent, st.ID, tool.ListTail) // a session that went meanwhile has none
	return tool.SessionInfo(session.Listed{State: st, Tail: tail})
}

func (s *server) methodSessionKill(ctx context.Context, b *backend, p sessionParams) (any, error) {
	st, ended, err := b.table.Kill(ctx, session.AnyAgent, p.SessionID)
	if err != nil {
		return nil, sessionError(ctx, err)
	}
	s.opt.Log.Info("session ended by the operator", "session", st.ID, "agent", st.Agent, "ended", ended)
	return struct {
		Ended   bool                 `json:"ended"` // false: it had ended by itself
		Session protocol.SessionInfo `json:"session"`
	}{ended, sessionInfo(ctx, b, st)}, nil
}

func sessionError(ctx context.Context, err error) error {
	if errors.Is(err, session.ErrNotFound) {
		return &protocol.Error{Type: protocol.ErrNotFound, Message: err.Error(), Hint: "openclaw process list"}
	}
	return tool.WireError(ctx, err)
}

// outputParams ask for output from an offset on. A client that wants a stream asks again
// from nextOffset: it is never sent more than it asks for.
type outputParams struct {
	SessionID string `json:"sessionId"`
	Stream    string `json:"stream"` // stdout or stderr where they are kept apart; "" = all in order
	Offset    int64  `json:"offset"` // bytes from the beginning; below 0 = that many before the end
	MaxBytes  int    `json:"maxBytes"`
	WaitMs    int64  `json:"waitMs"` // for output or the end, 0 to 60000
}

// outputChunk is the answer. Dropped counts bytes that were asked for and are kept no longer.
type outputChunk struct {
	SessionID  string `json:"sessionId"`
	Offset     int64  `json:"offset"` // of the first byte of data
	NextOffset int64  `json:"nextOffset"`
	Data       []byte `json:"data"` // base64 on the wire
	Dropped    int64  `json:"dropped,omitempty"`
	End        bool   `json:"end"` // the session has ended and all of its output was read
}

func (s *server) methodSessionOutput(ctx context.Context, b *backend, p outputParams) (any, error) {
	switch {
	case p.Stream != "" && p.Stream != "stdout" && p.Stream != "stderr":
		return nil, invalid(paramsPrefix + "stream is stdout or stderr, or left out")
	case p.MaxBytes < 0 || p.MaxBytes > outputBytesMax:
		return nil, invalid(paramsPrefix+"maxBytes goes from 1 to %d", outputBytesMax)
	case p.WaitMs < 0 || p.WaitMs > outputWaitMax:
		return nil, invalid(paramsPrefix+"waitMs goes from 0 to %d", outputWaitMax)
	case p.MaxBytes == 0:
		p.MaxBytes = outputBytes
	}
	if p.Offset < 0 {
		st, err := b.table.Get(ctx, session.AnyAgent, p.SessionID)
		if err != nil {
			return nil, sessionError(ctx, err)
		}
		p.Offset = max(st.Bytes+p.Offset, 0)
	}
	chunk, err := b.table.Read(ctx, session.ReadRequest{
		Agent: session.AnyAgent, ID: p.SessionID, Stream: p.Stream, Offset: p.Offset, Max: p.MaxBytes, Wait: time.Duration(p.WaitMs) * time.Millisecond,
	})
	if err != nil {
		return nil, sessionError(ctx, err)
	}
	out := outputChunk{
		SessionID: p.SessionID, Offset: chunk.Offset, NextOffset: chunk.Offset + int64(len(chunk.Data)),
		Data: chunk.Data, Dropped: max(chunk.Offset-p.Offset, 0), End: chunk.End,
	}
	if out.Data == nil {
		out.Data = []byte{}
	}
	return out, nil
}

// screenReply is a terminal as it stands: bytes that draw it, and the offset at which its
// output goes on from there.
type screenReply struct {
	SessionID string          `json:"sessionId"`
	Status    protocol.Status `json:"status"`
	Cols      int             `json:"cols"`
	Rows      int             `json:"rows"`
	Data      []byte          `json:"data"` // base64 on the wire
	Offset    int64           `json:"offset"`
}

func (s *server) methodSessionScreen(ctx context.Context, b *backend, p sessionParams) (any, error) {
	paint, err := b.table.Paint(ctx, session.AnyAgent, p.SessionID)
	if err != nil {
		return nil, sessionError(ctx, err)
	}
	return screenReply{
		SessionID: p.SessionID, Status: paint.Status, Cols: paint.Cols, Rows: paint.Rows, Data: append([]byte{}, paint.Data...), Offset: paint.Offset,
	}, nil
}

type writeParams struct {
	SessionID string `json:"sessionId"`
	Data      string `json:"data"`
	Encoding  string `json:"encoding"` // base64; "" = the text itself
	EOF       bool   `json:"eof"`
}

func (s *server) methodSessionWrite(ctx context.Context, b *backend, p writeParams) (any, error) {
	data := []byte(p.Data)
	switch p.Encoding {
	case "":
	case "base64":
		var err error
		if data, err = base64.StdEncoding.DecodeString(p.Data); err != nil {
			return nil, invalid(paramsPrefix+"data is not base64: %v", err)
		}
	default:
		return nil, invalid(paramsPrefix + "encoding is base64, or left out")
	}
	return s.typeInto(ctx, b, p.SessionID, session.Input{Data: data, EOF: p.EOF})
}

type keysParams struct {
	SessionID string   `json:"sessionId"`
	Keys      []string `json:"keys"` // names as tmux has them (S-2)
	Literal   string   `json:"literal"`
	Hex       []string `json:"hex"`
	Paste     string   `json:"paste"` // put into brackets, as a terminal does
}

func (s *server) methodSessionKeys(ctx context.Context, b *backend, p keysParams) (any, error) {
	in := session.Input{Keys: p.Keys, Literal: p.Literal, Hex: p.Hex}
	if p.Paste != "" {
		in.Paste = &session.Paste{Text: p.Paste, Bracketed: true}
	}
	return s.typeInto(ctx, b, p.SessionID, in)
}

// written is what went in. Full: the program does not read, and the rest is to be sent later.
type written struct {
	SessionID string `json:"sessionId"`
	Written   int    `json:"written"`
	Full      bool   `json:"full,omitempty"`
}

func (s *server) typeInto(ctx context.Context, b *backend, id string, in session.Input) (any, error) {
	n, err := b.table.Write(ctx, session.AnyAgent, id, in)
	full := errors.Is(err, proc.ErrInputFull)
	if err != nil && !full {
		return nil, sessionError(ctx, err)
	}
	return written{SessionID: id, Written: n, Full: full}, nil
}

type resizeParams struct {
	SessionID string `json:"sessionId"`
	Cols      int    `json:"cols"`
	Rows      int    `json:"rows"`
}

func (s *server) methodSessionResize(ctx context.Context, b *backend, p resizeParams) (any, error) {
	if err := b.table.Resize(ctx, session.AnyAgent, p.SessionID, p.Cols, p.Rows); err != nil {
		return nil, sessionError(ctx, err)
	}
	st, err := b.table.Get(ctx, session.AnyAgent, p.SessionID)
	if err != nil {
		return nil, sessionError(ctx, err)
	}
	return sessionInfo(ctx, b, st), nil
}
