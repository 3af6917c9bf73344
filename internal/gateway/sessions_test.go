package gateway

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"openclaw/internal/protocol"
)

// TestSessionsOnTheSocket: a client follows the output of a session by offsets, types into
// it, sees its screen and ends it; looking needs operator.read, the rest operator.admin.
func TestSessionsOnTheSocket(t *testing.T) {
	d := run(t, t.TempDir(), open)
	k := newKey()
	p := d.dialSocket(nil)
	if r := p.call("connect", p.connectParams(&k, d.operator, admin, nil)); !r.OK {
		t.Fatalf("%+v", r.Error)
	}
	looker := d.dialSocket(nil)
	k2 := newKey()
	if r := looker.call("connect", looker.connectParams(&k2, d.operator, []string{"operator.read"}, nil)); !r.OK {
		t.Fatalf("%+v", r.Error)
	}
	res := d.exec(d.agent, `{"command":"printf one; read x; printf \"<$x>\"; read y; printf \"[$y]\"","background":true,"stdin":true}`)
	id := res.SessionID
	params := func(more map[string]any) map[string]any {
		all := map[string]any{"sessionId": id}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	if got, _, _ := follow(t, looker, id, 0, "one"); got != "one" {
		t.Errorf("%q", got)
	}
	for _, method := range []string{"write", "keys", "resize", "kill"} {
		if r := looker.call("exec.session."+method, params(nil)); r.OK || r.Error.Message != "missing scope: operator.admin" {
			t.Errorf("%s with operator.read: %+v", method, r)
		}
	}
	if r := p.call("exec.session.write", params(map[string]any{"data": base64.StdEncoding.EncodeToString([]byte("two\n")), "encoding": "base64"})); !r.OK || !strings.Contains(string(r.Payload), `"written":4`) {
		t.Errorf("%s %+v", r.Payload, r.Error)
	}
	got, next, end := follow(t, looker, id, 3, "<two>")
	if got != "<two>" || end {
		t.Errorf("%q %v", got, end)
	}
	p.call("exec.session.write", params(map[string]any{"data": "three\n", "eof": true}))
	if got, _, _ := follow(t, looker, id, next, "[three]"); got != "[three]" {
		t.Errorf("%q", got)
	}
	if got, _, end := follow(t, looker, id, -7, ""); got != "[three]" || !end {
		t.Errorf("the last 7 bytes: %q, end %v", got, end)
	}
	for name, c := range map[string]struct {
		method string
		params map[string]any
		says   string
	}{
		"keys without a terminal":  {"keys", map[string]any{"keys": []string{"Enter"}}, ""},
		"writing after the end":    {"write", map[string]any{"data": "x"}, ""},
		"a stream nobody knows":    {"output", map[string]any{"stream": "stdlog"}, "invalid exec.session.output params"},
		"too much at once":         {"output", map[string]any{"maxBytes": 1 << 30}, "invalid exec.session.output params"},
		"an endless wait":          {"output", map[string]any{"waitMs": 1 << 40}, "invalid exec.session.output params"},
		"half of base64":           {"write", map[string]any{"data": "x", "encoding": "base64"}, "invalid exec.session.write params"},
		"a session nobody knows":   {"screen", map[string]any{"sessionId": "nope"}, "no such process session"},
		"a parameter nobody knows": {"resize", map[string]any{"width": 3}, "invalid exec.session.resize params"},
	} {
		if r := p.call("exec.session."+c.method, params(c.params)); r.OK || r.Error.Code != protocol.CodeInvalid || !strings.Contains(r.Error.Message, c.says) {
			t.Errorf("%s: %+v %s", name, r.Error, r.Payload)
		}
	}
}

// TestTerminalOnTheSocket: keys, size and screen of a session with a terminal.
func TestTerminalOnTheSocket(t *testing.T) {
	d := run(t, t.TempDir(), open)
	k := newKey()
	p := d.dialSocket(nil)
	if r := p.call("connect", p.connectParams(&k, d.operator, admin, nil)); !r.OK {
		t.Fatalf("%+v", r.Error)
	}
	id := d.exec(d.agent, `{"command":"printf ready; read x; stty size; read y","background":true,"pty":true}`).SessionID
	follow(t, p, id, 0, "ready")
	for _, c := range []struct {
		method string
		params map[string]any
	}{
		{"resize", map[string]any{"sessionId": id, "cols": 91, "rows": 33}},
		{"keys", map[string]any{"sessionId": id, "literal": "go", "keys": []string{"Enter"}}},
	} {
		if r := p.call("exec.session."+c.method, c.params); !r.OK {
			t.Errorf("%s: %+v", c.method, r.Error)
		}
	}
	follow(t, p, id, 0, "33 91")
	var screen screenReply
	r := p.call("exec.session.screen", map[string]any{"sessionId": id})
	if err := json.Unmarshal(r.Payload, &screen); err != nil || screen.Cols != 91 || screen.Rows != 33 || !strings.Contains(string(screen.Data), "33 91") || screen.Offset == 0 {
		t.Errorf("%v %+v %q", err, screen, screen.Data)
	}
}

// follow reads output until it holds a text, or the end.
func follow(t *testing.T, p *peer, id string, offset int64, until string) (got string, next int64, end bool) {
	t.Helper()
	for range 100 {
		r := p.call("exec.session.output", map[string]any{"sessionId": id, "offset": offset, "waitMs": 5000, "maxBytes": 4096})
		var chunk outputChunk
		if err := json.Unmarshal(r.Payload, &chunk); err != nil || !r.OK {
			t.Fatalf("output: %v %+v", err, r.Error)
		}
		got, offset = got+string(chunk.Data), chunk.NextOffset
		if chunk.End || until != "" && strings.Contains(got, until) {
			return got, offset, chunk.End
		}
	}
	t.Fatalf("no %s in %s", strconv.Quote(until), strconv.Quote(got))
	return "", 0, false
}
