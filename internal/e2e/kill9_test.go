package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestS8Kill9 kills the daemon while commands run: direct children die with it, the
// next start ends the rest, says what was lost and still shows the logs.
func TestS8Kill9(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	done := d.invoke(token, "exec", map[string]any{"command": "echo finished; exit 5", "background": true})
	d.invoke(token, "process", map[string]any{"action": "poll", "sessionId": done["sessionId"], "timeout": 10000})
	direct := d.invoke(token, "exec", map[string]any{"command": "echo before-the-crash; exec sleep 7001." + mark, "background": true})
	family := d.invoke(token, "exec", map[string]any{
		"command":    "sleep 7002." + mark + " & setsid sleep 7003." + mark + " & sleep 7004." + mark,
		"background": true,
	})
	d.await("all of them run", func() bool {
		n := 0
		for i := 1; i <= 4; i++ {
			n += len(processesWith(fmt.Sprintf("sleep 700%d.%s", i, mark)))
		}
		return n >= 4
	})
	d.await("the output is in the log", func() bool {
		r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": direct["sessionId"]})
		return strings.Contains(r["output"].(string), "before-the-crash")
	})
	d.kill9()
	d.await("direct children are gone", func() bool {
		return !alive(int(direct["pid"].(float64))) && !alive(int(family["pid"].(float64)))
	})

	d = d.place.start()
	d.await("the rest is gone", func() bool { return len(processesWith("."+mark)) == 0 })
	for id, want := range map[any]string{direct["sessionId"]: "lost", family["sessionId"]: "lost", done["sessionId"]: "completed"} {
		r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": id})
		if r["status"] != want {
			t.Errorf("session %v reads %v, want %s", id, r["status"], want)
		}
		if id == direct["sessionId"] && r["output"] != "before-the-crash\n" {
			t.Errorf("the log of a lost session: %v", r["output"])
		}
		if id == done["sessionId"] && (r["output"] != "finished\n" || r["exitCode"] != 5.0) {
			t.Errorf("a finished session after the restart: %v", r)
		}
	}
	d.stop()
	if out := d.stderr.String(); !strings.Contains(out, direct["sessionId"].(string)) {
		t.Errorf("the start does not say what was lost:\n%s", out)
	}
}

// TestCleanStopEndsSessions: nothing is left when the daemon is asked to stop.
func TestCleanStopEndsSessions(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	for range 5 {
		d.invoke(token, "exec", map[string]any{"command": "trap '' TERM; sleep 7005." + mark + " & wait", "background": true})
	}
	begin := time.Now()
	d.stop()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if left := processesWith("7005." + mark); len(left) > 0 {
		t.Errorf("left after a clean stop: %v", left)
	}
	if _, err := os.Stat(d.state + "/gateway.json"); err == nil {
		t.Error("gateway.json is left after a clean stop")
	}
}

// TestC6AgentTokenOpensToolsOnly checks every door with every key.
func TestC6AgentTokenOpensToolsOnly(t *testing.T) {
	d := newPlace(t, "").start()
	agent, operator := d.secret("agent-token"), d.secret("gateway-token")
	if agent == operator {
		t.Fatal("one secret for both")
	}
	call := `{"tool":"exec","args":{"command":"echo hi"}}`
	rpc := `{"method":"health"}`
	cases := []struct {
		name, method, path, token, body string
		header                          []string
		want                            int
	}{
		{"agent runs a tool", "POST", "/tools/invoke", agent, call, nil, 200},
		{"operator runs a tool", "POST", "/tools/invoke", operator, call, nil, 200},
		{"nobody runs a tool", "POST", "/tools/invoke", "", call, nil, 401},
		{"a wrong token", "POST", "/tools/invoke", "wrong", call, nil, 401},
		{"agent on rpc", "POST", "/rpc", agent, rpc, nil, 403},
		{"operator on rpc", "POST", "/rpc", operator, rpc, nil, 200},
		{"agent on metrics", "GET", "/metrics", agent, "", nil, 403},
		{"operator on metrics", "GET", "/metrics", operator, "", nil, 200},
		{"nobody on events", "GET", "/events", "", "", nil, 401},
		{"agent as another agent", "POST", "/tools/invoke", agent, `{"tool":"exec","agentId":"other","args":{"command":"true"}}`, nil, 403},
		{"agent in a session of another", "POST", "/tools/invoke", agent, `{"tool":"exec","sessionKey":"agent:other:main","args":{"command":"true"}}`, nil, 403},
		{"agent in the main session", "POST", "/tools/invoke", agent, `{"tool":"exec","sessionKey":"agent:main:main","args":{"command":"true"}}`, nil, 403},
		{"a page of another site", "POST", "/tools/invoke", agent, call, []string{"Origin", "https://evil.example"}, 403},
		{"a rebound name", "POST", "/tools/invoke", agent, call, []string{"Host", "evil.example"}, 403},
		{"a rebound name on health", "GET", "/healthz", "", "", []string{"Host", "evil.example"}, 403},
		{"another site on mcp", "POST", "/mcp", agent, `{}`, []string{"Origin", "https://evil.example"}, 403},
		{"health", "GET", "/healthz", "", "", nil, 200},
		{"too large", "POST", "/tools/invoke", agent, `{"tool":"exec","args":{"command":"` + strings.Repeat("x", 3<<20) + `"}}`, nil, 413},
		{"wrong method", "GET", "/tools/invoke", agent, "", nil, 405},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := *d
			d.place = &place{t: t, state: d.state, home: d.home, port: d.port}
			if r := d.request(c.method, c.path, c.token, c.body, c.header...); r.code != c.want {
				t.Errorf("got %d %s, want %d", r.code, r.body, c.want)
			}
		})
	}
}

// TestS1OtherAgent: another agent's token reaches neither sessions nor events.
func TestS1OtherAgent(t *testing.T) {
	d := newPlace(t, "").start()
	out, errOut, code := d.run("", "agents", "token", "create", "other", "--json")
	if code != 0 {
		t.Fatalf("%d %s %s", code, out, errOut)
	}
	token := between(out, `"token": "`, `"`)
	if token == "" {
		token = between(out, `"token":"`, `"`)
	}
	id := d.invoke(d.secret("agent-token"), "exec", map[string]any{"command": "sleep 60", "background": true})["sessionId"]
	if rows := d.invoke(token, "process", map[string]any{"action": "list"})["sessions"].([]any); len(rows) != 0 {
		t.Errorf("other agent sees %v", rows)
	}
	for _, action := range []string{"poll", "log", "kill", "remove"} {
		body := fmt.Sprintf(`{"tool":"process","args":{"action":%q,"sessionId":%q}}`, action, id)
		if r := d.request(http.MethodPost, "/tools/invoke", token, body); r.code != 404 {
			t.Errorf("%s of another agent's session: %d %s", action, r.code, r.body)
		}
	}
	if r := d.request(http.MethodGet, "/events?agent=main", token, ""); r.code != 403 {
		t.Errorf("events of another agent: %d %s", r.code, r.body)
	}
}

func between(s, from, to string) string {
	_, rest, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	mid, _, _ := strings.Cut(rest, to)
	return mid
}
