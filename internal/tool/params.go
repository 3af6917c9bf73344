package tool

import (
	"encoding/json"
	"strings"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/protocol"
)

const (
	maxYieldMs     = 24 * 60 * 60 * 1000.0
	maxTimeoutSec  = 365 * 24 * 60 * 60.0
	maxCommandSize = 1 << 20 // bytes; the system refuses one argument of more than 128 KiB anyway
)

// execParams are the parameters of one exec call, checked.
type execParams struct {
	Command    string
	Workdir    string
	Env        map[string]string
	Yield      *time.Duration // nil = the configured default
	Background bool
	Timeout    *time.Duration // nil = the configured default
	PTY        bool
	Host       string
	Security   string
	Ask        policy.Ask
	Node       string
	Stdin      bool
	Streams    bool
	Elevated   bool
	Cols, Rows int // of the pseudo-terminal; 0 = default
}

func readExec(raw json.RawMessage) (execParams, error) {
	a := readArgs(protocol.ToolExec, raw)
	p := execParams{
		Command: a.text("command"), Workdir: a.text("workdir"), Env: a.stringMap("env"),
		Background: a.flag("background"), PTY: a.flag("pty"), Node: a.text("node"),
		Stdin: a.flag("stdin"), Streams: a.flag("streams"), Elevated: a.flag("elevated"),
		Host:     a.word("host", "auto", "sandbox", "gateway", "node"),
		Security: a.word("security", "deny", "allowlist", "full"),
		Ask:      policy.Ask(a.word("ask", "off", "on-miss", "always")),
	}
	p.Cols, p.Rows = a.size()
	if n, ok := a.number("yieldMs", "ms", maxYieldMs); ok {
		d := time.Duration(n * float64(time.Millisecond))
		p.Yield = &d
	}
	seconds, ok := a.number("timeout", "seconds", maxTimeoutSec)
	alias, aliasOK := a.number("timeoutSeconds", "seconds", maxTimeoutSec)
	if ok && aliasOK && seconds != alias {
		a.fail("parameters \"timeout\" and \"timeoutSeconds\" are the same setting; give one")
	}
	if aliasOK && !ok {
		seconds, ok = alias, true
	}
	if ok {
		d := time.Duration(seconds * float64(time.Second))
		p.Timeout = &d
	}
	if err := a.done(); err != nil {
		return p, err
	}
	return p, p.check()
}

func (p *execParams) check() error {
	switch {
	case !p.PTY && p.Cols+p.Rows > 0:
		return invalid("parameters \"cols\" and \"rows\" need \"pty\": true")
	case (p.Cols == 0) != (p.Rows == 0):
		return invalid("parameters \"cols\" and \"rows\" go together")
	case strings.TrimSpace(p.Command) == "":
		return invalid("parameter \"command\" is required: the shell command to run")
	case len(p.Command) > maxCommandSize:
		return invalid("parameter \"command\" has %d bytes, at most %d are taken; put the text in a file", len(p.Command), maxCommandSize)
	case strings.ContainsRune(p.Command, 0):
		return invalid("parameter \"command\" holds a NUL character, which no shell can take")
	case strings.ContainsRune(p.Workdir, 0):
		return invalid("parameter \"workdir\" holds a NUL character")
	}
	return nil
}

// actions of the process tool and the parameters each takes, besides action and
// sessionId.
var actionParams = map[string][]string{
	"list":      nil,
	"poll":      {"timeout"},
	"log":       {"offset", "limit"},
	"write":     {"data", "encoding", "eof"},
	"send-keys": {"keys", "literal", "hex"},
	"submit":    nil,
	"paste":     {"text", "bracketed"},
	"kill":      {"signal"},
	"clear":     nil,
	"remove":    nil,
	"screen":    nil,
	"resize":    {"cols", "rows"},
}

// actionNames lists the actions in the order of the documentation.
var actionNames = []string{
	"list", "poll", "log", "write", "send-keys", "submit", "paste", "kill", "clear", "remove", "screen", "resize",
}

// processParams are the parameters of one process call, checked.
type processParams struct {
	Action    string
	SessionID string
	Timeout   time.Duration
	Offset    *int64
	Limit     *int64
	Data      string
	Encoding  string
	EOF       bool
	Keys, Hex []string
	Literal   string
	Text      string
	Bracketed bool
	Cols      int
	Rows      int
	Signal    string
}

// maxPoll is the longest wait of one poll (process.md).
const maxPoll = 30 * time.Second

func readProcess(raw json.RawMessage) (processParams, error) {
	a := readArgs(protocol.ToolProcess, raw)
	p := processParams{
		Action: a.word("action", actionNames...), SessionID: a.text("sessionId"),
		Data: a.text("data"), Encoding: a.word("encoding", "utf8", "base64"), EOF: a.flag("eof"),
		Keys: a.list("keys"), Hex: a.list("hex"), Literal: a.text("literal"),
		Text: a.text("text"), Bracketed: true, Signal: a.text("signal"),
	}
	a.decode("bracketed", "true or false", &p.Bracketed)
	if ms, ok := a.number("timeout", "ms", 1e12); ok {
		p.Timeout = min(time.Duration(ms)*time.Millisecond, maxPoll)
	}
	const most = 1 << 53
	if n, ok := a.whole("offset", 0, most); ok {
		p.Offset = &n
	}
	if n, ok := a.whole("limit", 1, most); ok {
		p.Limit = &n
	}
	p.Cols, p.Rows = a.size()
	if err := a.done(); err != nil {
		return p, err
	}
	return p, p.check(a)
}

func (p *processParams) check(a *args) error {
	if p.Action == "" {
		return invalid("parameter \"action\" is required: one of %s", strings.Join(actionNames, ", "))
	}
	takes := map[string]bool{"action": true, "sessionId": true}
	for _, name := range actionParams[p.Action] {
		takes[name] = true
	}
	for name := range a.fields {
		if _, given := a.get(name); given && !takes[name] {
			return invalid("parameter %q does not go with action %s", name, p.Action)
		}
	}
	if p.Action == "list" {
		return nil
	}
	if strings.TrimSpace(p.SessionID) == "" {
		return invalid("parameter \"sessionId\" is required for action %s; action list shows yours", p.Action)
	}
	return p.checkInput()
}

func (p *processParams) checkInput() error {
	switch p.Action {
	case "write":
		if p.Data == "" && !p.EOF {
			return invalid("action write needs \"data\", or \"eof\": true to close standard input")
		}
	case "send-keys":
		if p.Literal == "" && len(p.Keys) == 0 && len(p.Hex) == 0 {
			return invalid("action send-keys needs \"keys\", \"literal\" or \"hex\"")
		}
	case "paste":
		if p.Text == "" {
			return invalid("action paste needs \"text\"")
		}
	case "resize":
		if p.Cols == 0 || p.Rows == 0 {
			return invalid("action resize needs \"cols\" and \"rows\"")
		}
	}
	return nil
}
