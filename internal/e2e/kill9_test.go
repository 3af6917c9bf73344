package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestS8Kill9 kills the daemon while commands run: those in the background go on, the one
// that a caller waited for is ended, and the next daemon has them all.
func TestS8Kill9(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	done := d.invoke(token, "exec", map[string]any{"command": "echo finished; exit 5", "background": true})
	d.invoke(token, "process", map[string]any{"action": "poll", "sessionId": done["sessionId"], "timeout": 10000})
	goesOn := d.invoke(token, "exec", map[string]any{"command": "echo before; read x; echo after $x; sleep 7002." + mark, "background": true})
	waited := d.begin(token, "exec", map[string]any{"command": "setsid sleep 7003." + mark + " & sleep 7004." + mark})
	d.await("all of them run", func() bool {
		return len(processesWith("sleep 7003."+mark)) > 0 && len(processesWith("sleep 7004."+mark)) > 0
	})
	d.kill9()
	<-waited
	d.await("what a caller waited for is gone", func() bool { return len(processesWith("7003."+mark)) == 0 && len(processesWith("7004."+mark)) == 0 })
	if !alive(int(goesOn["pid"].(float64))) {
		t.Error("a command in the background was ended with the daemon")
	}

	d = d.place.start()
	d.invoke(token, "process", map[string]any{"action": "write", "sessionId": goesOn["sessionId"], "data": "that\n"})
	d.await("the rest of the output", func() bool {
		r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": goesOn["sessionId"]})
		return r["status"] == "running" && r["output"] == "before\nafter that\n"
	})
	if r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": done["sessionId"]}); r["output"] != "finished\n" || r["exitCode"] != 5.0 {
		t.Errorf("a finished session after the restart: %v", r)
	}
	d.invoke(token, "process", map[string]any{"action": "kill", "sessionId": goesOn["sessionId"]})
	if left := processesWith(mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestS8SupervisorKilled kills the supervisor: what it ran is ended, reads lost with its
// log, and its owner is told; the daemon goes on with a new one.
func TestS8SupervisorKilled(t *testing.T) {
	d := newPlace(t, "").start()
	token := d.secret("agent-token")
	mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
	direct := d.invoke(token, "exec", map[string]any{"command": "echo before-the-crash; exec sleep 7001." + mark, "background": true})
	d.invoke(token, "exec", map[string]any{
		"command":    "sleep 7002." + mark + " & setsid sleep 7003." + mark + " & sleep 7004." + mark,
		"background": true,
	})
	waited := d.begin(token, "exec", map[string]any{"command": "echo waited-for; sleep 7005." + mark})
	d.await("all of them run", func() bool {
		for i := 1; i <= 5; i++ {
			if len(processesWith(fmt.Sprintf("sleep 700%d.%s", i, mark))) == 0 {
				return false
			}
		}
		return true
	})
	d.await("the output is in the log", func() bool {
		r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": direct["sessionId"]})
		return strings.Contains(r["output"].(string), "before-the-crash")
	})
	time.Sleep(200 * time.Millisecond) // what has been printed is read by then
	supervisor := d.supervisors()
	if len(supervisor) != 1 {
		t.Fatalf("supervisors: %v", supervisor)
	}
	signalTo(supervisor[0], syscall.SIGKILL)
	d.await("all of it is gone", func() bool { return len(processesWith("."+mark)) == 0 })
	if r := <-waited; r["status"] != "lost" || r["output"] != "waited-for\n" {
		t.Errorf("the answer to the one who waited: %v", r)
	}
	d.await("the session reads lost", func() bool {
		r := d.invoke(token, "process", map[string]any{"action": "log", "sessionId": direct["sessionId"]})
		return r["status"] == "lost" && r["output"] == "before-the-crash\n"
	})
	if r := d.invoke(token, "exec", map[string]any{"command": "echo goes on"}); r["output"] != "goes on\n" {
		t.Errorf("afterwards: %v", r)
	}
	events, err := os.ReadFile(d.state + "/exec/events.jsonl")
	if err != nil || strings.Count(string(events), `"status":"lost"`) != 2 {
		t.Errorf("events: %s, %v", events, err)
	}
	d.stop()
	if out := d.stderr.String(); !strings.Contains(out, direct["sessionId"].(string)) {
		t.Errorf("the daemon does not say what was lost:\n%s", out)
	}
}

// TestCleanStop: a daemon that is asked to stop leaves what runs in the background, and
// nothing else; --ephemeral leaves nothing.
func TestCleanStop(t *testing.T) {
	for _, args := range [][]string{nil, {"--ephemeral"}} {
		d := newPlace(t, "").start(args...)
		token := d.secret("agent-token")
		mark := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
		for range 5 {
			d.invoke(token, "exec", map[string]any{"command": "trap '' TERM; sleep 7005." + mark + " & wait", "background": true})
		}
		waited := d.begin(token, "exec", map[string]any{"command": "sleep 7006." + mark})
		d.await("it runs", func() bool { return len(processesWith("sleep 7006."+mark)) > 0 })
		begin := time.Now()
		d.stop()
		<-waited
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%v: stopping took %v", args, took)
		}
		if left := processesWith("sleep 7006." + mark); len(left) > 0 {
			t.Errorf("%v: what a caller waited for is left: %v", args, left)
		}
		left := processesWith("sleep 7005." + mark)
		if want := 5; args == nil && len(left) < want || args != nil && len(left) > 0 {
			t.Errorf("%v: left after a clean stop: %v", args, left)
		}
		if _, err := os.Stat(d.state + "/gateway.json"); err == nil {
			t.Error("gateway.json is left after a clean stop")
		}
		d.endSupervisors()
		if left := processesWith("7005." + mark); len(left) > 0 {
			t.Errorf("%v: left after the end of the supervisor: %v", args, left)
		}
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
