package tool

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// defaultLogLines is what action log shows when nothing else is asked for.
const defaultLogLines = 200

// process answers one action on the caller's own sessions (S-1).
func (s *Service) process(ctx context.Context, c Caller, req protocol.ToolRequest) (*protocol.ToolResult, error) {
	p, err := readProcess(req.Args)
	if err != nil {
		return nil, err
	}
	if res, err := s.byApproval(ctx, c, &p); res != nil || err != nil {
		return res, err
	}
	act := action{ctx: ctx, table: s.table, agent: c.Agent, params: p}
	act.maxChars = s.cfg.Load().Exec(c.Agent).PendingMaxOutputChars
	switch p.Action {
	case "list":
		return act.list()
	case "poll":
		return act.poll()
	case "log":
		return act.log()
	case "write", "send-keys", "submit", "paste":
		return act.write()
	case "kill":
		return act.kill()
	case "clear":
		return act.forget("forgotten", s.table.Clear)
	case "remove":
		return act.forget("removed", s.table.Remove)
	case "screen":
		return act.screen()
	default: // readProcess lets no other word through
		return act.resize()
	}
}

// action is one process call on its way.
type action struct {
	ctx      context.Context
	table    Sessions
	agent    string
	params   processParams
	maxChars int
}

// details is what every action says of its session.
func details(st session.State) *protocol.ProcessResult {
	return &protocol.ProcessResult{
		SessionID: st.ID, Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal, TimedOut: st.TimedOut,
		DurationMs: ms(duration(st)), WaitingForInput: st.WaitingForInput, Warnings: st.Warnings,
	}
}

func duration(st session.State) time.Duration {
	if st.Ended.IsZero() {
		return time.Since(st.Started)
	}
	return st.Ended.Sub(st.Started)
}

func (a action) list() (*protocol.ToolResult, error) {
	rows := []protocol.SessionInfo{}
	list, err := a.table.List(a.ctx, a.agent, ListTail)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		rows = append(rows, SessionInfo(l))
	}
	d := &protocol.ProcessResult{Sessions: &rows}
	return &protocol.ToolResult{Content: protocol.Text(listText(rows)), Details: d}, nil
}

func (a action) poll() (*protocol.ToolResult, error) {
	snap, err := a.table.Poll(a.ctx, a.agent, a.params.SessionID, a.params.Timeout, a.maxChars)
	if err != nil {
		return nil, err
	}
	d := details(snap.State)
	d.Output = &snap.Output
	d.Truncated = truncated(snap)
	return &protocol.ToolResult{Content: protocol.Text(section(snap.Output) + stateLine(snap.State)), Details: d}, nil
}

func (a action) log() (*protocol.ToolResult, error) {
	offset, limit := int64(-1), int64(defaultLogLines)
	if a.params.Offset != nil {
		offset, limit = *a.params.Offset, 0 // to the end
	}
	if a.params.Limit != nil {
		limit = *a.params.Limit
	}
	page, err := a.table.Log(a.ctx, a.agent, a.params.SessionID, offset, limit, a.maxChars)
	if err != nil {
		return nil, err
	}
	d := details(page.State)
	d.Output, d.Offset, d.TotalLines = &page.Output, &page.First, &page.Total
	d.Truncated = truncated(page.Snapshot)
	text := section(page.Output) + stateLine(page.State)
	if page.First > 0 || limit > 0 && page.First+limit < page.Total {
		text += fmt.Sprintf("\n[lines from %d of %d; page with offset and limit]", page.First, page.Total)
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}, nil
}

func (a action) write() (*protocol.ToolResult, error) {
	in, err := a.input()
	if err != nil {
		return nil, err
	}
	n, err := a.table.Write(a.ctx, a.agent, a.params.SessionID, in)
	full := errors.Is(err, proc.ErrInputFull)
	if err != nil && !full {
		return nil, err
	}
	st, err := a.table.Get(a.ctx, a.agent, a.params.SessionID)
	if err != nil {
		return nil, err
	}
	d := details(st)
	d.Written = &n
	text := fmt.Sprintf("[sent %d bytes]", n)
	if full {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%v: %d bytes went in", proc.ErrInputFull, n))
		text = "[" + d.Warnings[len(d.Warnings)-1] + "; send the rest later]"
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: d}, nil
}

func (a action) input() (session.Input, error) {
	p := a.params
	switch p.Action {
	case "send-keys":
		return session.Input{Literal: p.Literal, Hex: p.Hex, Keys: p.Keys}, nil
	case "submit":
		return session.Input{Literal: "\r"}, nil
	case "paste":
		return session.Input{Paste: &session.Paste{Text: p.Text, Bracketed: p.Bracketed}}, nil
	}
	data := []byte(p.Data)
	if p.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(p.Data); err != nil {
			return session.Input{}, invalid("parameter \"data\" is not base64: %v", err)
		}
	}
	return session.Input{Data: data, EOF: p.EOF}, nil
}

func (a action) kill() (*protocol.ToolResult, error) {
	if a.params.Signal != "" {
		if err := a.table.Signal(a.ctx, a.agent, a.params.SessionID, a.params.Signal); err != nil {
			return nil, err
		}
		return a.say("sent " + a.params.Signal)
	}
	st, ended, err := a.table.Kill(a.ctx, a.agent, a.params.SessionID)
	if err != nil {
		return nil, err
	}
	text := "[killed, with everything it had started]"
	if !ended {
		text = "[had ended already]\n" + stateLine(st)
	}
	return &protocol.ToolResult{Content: protocol.Text(text), Details: details(st)}, nil
}

// say answers with the state now and a short text.
func (a action) say(text string) (*protocol.ToolResult, error) {
	st, err := a.table.Get(a.ctx, a.agent, a.params.SessionID)
	if err != nil {
		return nil, err
	}
	return &protocol.ToolResult{Content: protocol.Text("[" + text + "]"), Details: details(st)}, nil
}

func (a action) forget(text string, forget func(ctx context.Context, agent, id string) error) (*protocol.ToolResult, error) {
	st, err := a.table.Get(a.ctx, a.agent, a.params.SessionID)
	if err != nil {
		return nil, err
	}
	if err := forget(a.ctx, a.agent, a.params.SessionID); err != nil {
		return nil, err
	}
	d := details(st)
	if !st.Finished() {
		d.Status = protocol.StatusKilled
	}
	return &protocol.ToolResult{Content: protocol.Text("[" + text + "]"), Details: d}, nil
}

func (a action) screen() (*protocol.ToolResult, error) {
	shown, err := a.table.Screen(a.ctx, a.agent, a.params.SessionID)
	if err != nil {
		return nil, err
	}
	d := details(shown.State)
	d.Screen = &shown.Screen
	return &protocol.ToolResult{Content: protocol.Text(screenText(shown.Screen)), Details: d}, nil
}

func (a action) resize() (*protocol.ToolResult, error) {
	if err := a.table.Resize(a.ctx, a.agent, a.params.SessionID, a.params.Cols, a.params.Rows); err != nil {
		return nil, err
	}
	return a.say(fmt.Sprintf("resized to %dx%d", a.params.Cols, a.params.Rows))
}

// isInputError reports errors about the input a caller gave.
func isInputError(err error) bool {
	return errors.Is(err, session.ErrInput) || errors.Is(err, proc.ErrInputClosed)
}
