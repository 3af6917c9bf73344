package gateway

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

func TestC7_MethodTableIsExplicit(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	a := h.do("POST", "/rpc", h.operator, `{"method":"no.such"}`)
	if a.status != 404 || a.body != `{"ok":false,"error":{"type":"not_found","message":"unknown method: no.such"}}` {
		t.Errorf("unknown method: %d %s", a.status, a.body)
	}
	for _, body := range []string{``, `{"method":"health","params":{"x":1}}`, `{"method":"health","params":{} {}}`, `{"method":"exec.session.get","params":{"sessionId":7}}`, `{"method":7}`} {
		if a := h.do("POST", "/rpc", h.operator, body); a.status != 400 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := h.do("GET", "/rpc", h.operator, ""); a.status != 405 {
		t.Errorf("GET: %d", a.status)
	}
}

func TestMethodsOfARealDaemon(t *testing.T) {
	d := run(t, t.TempDir(), open)
	var ready readiness
	if d.call("health", "{}", &ready); !ready.Ready {
		t.Errorf("health: %+v", ready)
	}
	var tools toolList
	if d.call("tools.catalog", `{"agentId":"Main"}`, &tools); tools.Agent != "main" || !slices.ContainsFunc(tools.Tools, func(i protocol.ToolInfo) bool { return i.Name == "exec" }) {
		t.Errorf("catalog: %+v", tools)
	}
	res := d.exec(d.agent, `{"command":"sleep 600","background":true}`)
	if res.Status != protocol.StatusRunning {
		t.Fatalf("exec: %+v", res)
	}
	var list sessionList
	if d.call("exec.session.list", "null", &list); len(list.Sessions) != 1 || list.Sessions[0].SessionID != res.SessionID || list.Sessions[0].Agent != "main" {
		t.Errorf("list: %+v", list)
	}
	if d.call("exec.session.list", `{"agentId":"other"}`, &list); len(list.Sessions) != 0 {
		t.Errorf("list of another agent: %+v", list)
	}
	var one protocol.SessionInfo
	if d.call("exec.session.get", `{"sessionId":"`+res.SessionID+`"}`, &one); one.Status != protocol.StatusRunning || one.Command != "sleep 600" {
		t.Errorf("get: %+v", one)
	}
	var st status
	d.call("status", "{}", &st)
	if st.Version != "1.2.3" || st.URL != d.url || st.Auth != "token" || st.Bind != "loopback" || st.Sessions.Running != 1 || len(st.Agents) != 1 || !slices.Contains(st.Agents[0].Tools, "exec") {
		t.Errorf("status: %+v", st)
	}
	var killed struct {
		Ended   bool
		Session protocol.SessionInfo
	}
	if d.call("exec.session.kill", `{"sessionId":"`+res.SessionID+`"}`, &killed); !killed.Ended || killed.Session.Status != protocol.StatusKilled {
		t.Errorf("kill: %+v", killed)
	}
	for _, method := range []string{"exec.session.get", "exec.session.kill"} {
		if a := d.do("POST", "/rpc", d.operator, `{"method":"`+method+`","params":{"sessionId":"no-such"}}`); a.status != 404 || !strings.Contains(a.body, `"not_found"`) {
			t.Errorf("%s of nothing: %d %s", method, a.status, a.body)
		}
	}
}

func TestC6_TokensAreMadeListedAndRevoked(t *testing.T) {
	d := run(t, t.TempDir(), open)
	var made struct {
		Token  identity.Token
		Secret string
	}
	d.call("agents.token.create", `{"agentId":"builder","session":"main","label":"ci"}`, &made)
	if made.Token.Agent != "builder" || made.Token.Session != "main" || made.Token.Label != "ci" || len(made.Secret) < 32 {
		t.Errorf("made: %+v", made.Token)
	}
	a := d.do("POST", "/rpc", d.operator, `{"method":"agents.token.list"}`)
	if a.status != 200 || strings.Contains(a.body, made.Secret) || !strings.Contains(a.body, made.Token.ID) || !strings.Contains(a.body, `"default"`) {
		t.Errorf("list: %d %s", a.status, a.body)
	}
	if res := d.exec(made.Secret, `{"command":"true"}`); res.Status != protocol.StatusCompleted {
		t.Errorf("exec with it: %+v", res)
	}
	var gone tokenID
	d.call("agents.token.revoke", `{"id":"`+made.Token.ID+`"}`, &gone)
	if a := d.do("POST", "/tools/invoke", made.Secret, `{"tool":"exec"}`); a.status != 401 {
		t.Errorf("after revoking: %d", a.status)
	}
	for params, status := range map[string]int{`{"id":"nosuch"}`: 404, `{"ID":"nosuch","x":1}`: 400} {
		if a := d.do("POST", "/rpc", d.operator, `{"method":"agents.token.revoke","params":`+params+`}`); a.status != status {
			t.Errorf("revoke %s: %d %s", params, a.status, a.body)
		}
	}
	for _, params := range []string{`{"session":"other"}`, `{"agentId":"../x"}`} {
		if a := d.do("POST", "/rpc", d.operator, `{"method":"agents.token.create","params":`+params+`}`); a.status != 400 {
			t.Errorf("create %s: %d %s", params, a.status, a.body)
		}
	}
}

func TestC7_MetricsHaveBoundedLabels(t *testing.T) {
	d := run(t, t.TempDir(), open)
	d.exec(d.agent, `{"command":"true"}`)
	d.do("POST", "/tools/invoke", d.agent, `{"tool":"invented-name"}`)
	d.do("GET", "/invented-path", "", "")
	a := d.do("GET", "/metrics", d.operator, "")
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d %s", a.status, a.header)
	}
	for _, want := range []string{
		"\nprocess_cpu_seconds_total ", "\nopenclaw_sessions_running 0\n", "\nopenclaw_session_log_bytes ",
		`openclaw_tool_calls_total{tool="exec",outcome="completed"} 1`, `openclaw_tool_calls_total{tool="other",outcome="error_not_found"} 1`,
		`openclaw_http_requests_total{route="tools_invoke",status="404"} 1`, `openclaw_http_requests_total{route="other",status="404"} 1`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	if strings.Contains(a.body, "invented") {
		t.Error("a caller's text is a label")
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) \S+ .+|\w+(\{\w+="\w+"(,\w+="\w+")*\})? [0-9.e+-]+)$`)
	for text := range strings.Lines(a.body) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("not the text format: %q", text)
		}
	}
}

func TestC3_ConfigurationIsTakenWhileRunning(t *testing.T) {
	dir := t.TempDir()
	d := run(t, dir, open)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte("{"+text+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	available := func() bool {
		return d.do("POST", "/tools/invoke", d.agent, `{"tool":"process","args":{"action":"list"}}`).status == 200
	}
	if !available() {
		t.Fatal("process is not there at first")
	}
	write(open + `,tools:{deny:["process"]}`) // tools twice: invalid
	a := d.do("POST", "/rpc", d.operator, `{"method":"config.reload"}`)
	if a.status != 400 || !available() {
		t.Errorf("an invalid file: %d %s", a.status, a.body)
	}
	write(`gateway:{port:1,bind:"lan",controlUi:{allowedOrigins:["https://desk.example"]}},tools:{deny:["process"],exec:{security:"full",ask:"off"}}`)
	waitFor(t, "the watcher", func() bool { return !available() })
	var got struct{ RestartNeeded []string }
	d.call("config.reload", "{}", &got)
	if !slices.Equal(got.RestartNeeded, []string{"gateway.port", "gateway.bind"}) {
		t.Errorf("restart needed for %v", got.RestartNeeded)
	}
	if a := d.do("GET", "/healthz", "", "", "Origin", "https://desk.example"); a.status != 200 {
		t.Errorf("a new origin: %d", a.status)
	}
	if a := d.do("POST", "/tools/invoke", d.agent, `{"tool":"process"}`); a.status != 404 || !strings.Contains(a.body, "tools.deny") {
		t.Errorf("a denied tool: %d %s", a.status, a.body)
	}
}

func TestC6_ReloadChangesNobodysRights(t *testing.T) {
	dir := t.TempDir()
	const secret = "a-secret-that-the-operator-chose"
	d := run(t, dir, `gateway:{port:0,auth:{token:"`+secret+`"}}`)
	for _, text := range []string{`gateway:{port:0}`, `gateway:{port:0,auth:{mode:"none"}}`, `gateway:{port:0,auth:{token:"another-secret-that-is-long"}}`} {
		if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte("{"+text+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		a := d.do("POST", "/rpc", secret, `{"method":"config.reload"}`)
		var got protocol.RPCResponse
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%s: %d %s", text, a.status, a.body)
		}
		if a := d.do("POST", "/tools/invoke", "", `{"tool":"exec"}`); a.status != 401 {
			t.Errorf("%s: a call without a token: %d", text, a.status)
		}
		if a := d.do("POST", "/rpc", secret, `{"method":"health"}`); a.status != 200 {
			t.Errorf("%s: the operator: %d", text, a.status)
		}
	}
}
