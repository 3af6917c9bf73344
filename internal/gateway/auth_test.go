package gateway

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"openclaw/internal/config"
)

func TestC6_WithoutATokenIsExactly401(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for _, r := range every[5:11] {
		for name, headers := range map[string][]string{
			"nothing":    nil,
			"wrong":      {"Authorization", "Bearer wrong"},
			"basic":      {"Authorization", "Basic " + h.operator},
			"bare":       {"Authorization", h.operator},
			"two":        {"Authorization", "Bearer " + h.operator, "Authorization", "Bearer " + h.agent},
			"elsewhere":  {"X-Openclaw-Token", h.operator, "Cookie", "token=" + h.operator, "X-Api-Key", h.operator},
			"other case": {"Authorization", "Bearer " + flipCase(h.operator)},
		} {
			h.s.limiter = newLimiter(config.RateLimit{MaxAttempts: 1000, WindowMs: 1000}, time.Now)
			a := h.do(r.method, r.path+"?token="+h.operator, "", "{}", headers...)
			if a.status != http.StatusUnauthorized || a.body != `{"error":{"message":"Unauthorized","type":"unauthorized"}}` || a.header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("%s %s with %s: %d %s", r.method, r.path, name, a.status, a.body)
			}
		}
	}
}

func flipCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b[i] ^= 0x20
			break
		}
	}
	return string(b)
}

func TestC6_AgentTokenOpensOnlyItsRoutes(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	_, main := h.token("main", true)
	for _, token := range []string{h.agent, main} {
		for _, path := range []string{"/rpc", "/metrics"} {
			method := map[string]string{"/rpc": "POST", "/metrics": "GET"}[path]
			if a := h.do(method, path, token, `{"method":"health"}`); a.status != http.StatusForbidden {
				t.Errorf("%s with an agent token: %d %s", path, a.status, a.body)
			}
		}
		if a, _ := h.invoke(token, `{"tool":"exec"}`); a.status != http.StatusOK {
			t.Errorf("/tools/invoke with an agent token: %d %s", a.status, a.body)
		}
	}
}

func TestC6_ModeNoneOpensTheToolRoutesOnly(t *testing.T) {
	h := start(t, &fakeTools{}, `auth:{mode:"none"}`)
	a, got := h.invoke("", `{"tool":"exec"}`)
	if a.status != http.StatusOK || got.Caller.Agent != "main" || got.Caller.Operator || got.Caller.SessionKey != "agent:main:none" || got.Caller.Credential != "none" {
		t.Errorf("without a token: %d %+v", a.status, got.Caller)
	}
	for _, r := range []struct{ method, path string }{{"GET", "/events"}, {"GET", "/metrics"}, {"POST", "/rpc"}} {
		if a := h.do(r.method, r.path, "", `{"method":"health"}`); a.status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", r.path, a.status, a.body)
		}
	}
	if a, _ := h.invoke("wrong", `{"tool":"exec"}`); a.status != http.StatusUnauthorized {
		t.Errorf("a wrong token counts as none: %d", a.status)
	}
	if a, _ := h.invoke("", `{"tool":"exec","agentId":"other"}`); a.status != http.StatusForbidden {
		t.Errorf("another agent without a token: %d", a.status)
	}
	for _, key := range []string{"agent:main:main", "agent:main:default", "agent:other:main"} {
		if a, _ := h.invoke("", `{"tool":"exec","sessionKey":"`+key+`"}`); a.status != http.StatusForbidden {
			t.Errorf("session %s without a token: %d", key, a.status)
		}
	}
}

func TestC6_ModeNoneIsRefusedBeyondLoopback(t *testing.T) {
	cfg := parse(t, t.TempDir(), `auth:{mode:"none"}`)
	if err := checkOptions(cfg); err != nil {
		t.Fatal(err)
	}
	for _, bind := range []string{"lan", "192.0.2.1", "::"} {
		changed := *cfg
		changed.Gateway.Bind = bind
		if checkOptions(&changed) == nil {
			t.Errorf("bind %s with auth none is served", bind)
		}
	}
}

func TestC6_RevokedTokenOpensNothingAtOnce(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	id, secret := h.token("main", false)
	if a, _ := h.invoke(secret, `{"tool":"exec"}`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := h.do("POST", "/rpc", h.operator, `{"method":"agents.token.revoke","params":{"id":"`+id+`"}}`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a, _ := h.invoke(secret, `{"tool":"exec"}`); a.status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestC6_WrongTokensAreLimitedAndARightOneIsNotLockedOut(t *testing.T) {
	h := start(t, &fakeTools{}, `auth:{rateLimit:{maxAttempts:3,windowMs:60000}}`)
	for i := range 6 {
		a, _ := h.invoke("wrong"+strconv.Itoa(i), `{"tool":"exec"}`)
		want := http.StatusUnauthorized
		if i >= 3 {
			want = http.StatusTooManyRequests
		}
		if a.status != want {
			t.Errorf("attempt %d: %d", i+1, a.status)
		}
		if wait, err := strconv.Atoi(a.header.Get("Retry-After")); want == http.StatusTooManyRequests && (err != nil || wait < 1 || wait > 60) {
			t.Errorf("attempt %d: Retry-After %q", i+1, a.header.Get("Retry-After"))
		}
	}
	for _, token := range []string{h.agent, h.operator} {
		if a, _ := h.invoke(token, `{"tool":"exec"}`); a.status != http.StatusOK {
			t.Errorf("a right token after wrong ones: %d %s", a.status, a.body)
		}
	}
}

func TestC6_RemoteGuessesAreLockedOut(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(config.RateLimit{MaxAttempts: 2, WindowMs: 1000, LockoutMs: 5000, ExemptLoopback: true}, func() time.Time { return now })
	remote, other := l.client("192.0.2.1:5"), l.client("192.0.2.2:5")
	for i, want := range []int{0, 0, 5} {
		if got := l.failed(remote); got != want {
			t.Errorf("failure %d: wait %d", i+1, got)
		}
	}
	if l.locked(remote) != 5 || l.locked(other) != 0 {
		t.Errorf("locked: %d, the other %d", l.locked(remote), l.locked(other))
	}
	now = now.Add(4999 * time.Millisecond)
	if l.locked(remote) != 1 {
		t.Error("let in too early")
	}
	now = now.Add(time.Millisecond)
	if l.locked(remote) != 0 || l.failed(remote) != 0 {
		t.Error("locked out for ever")
	}
	if a, b := l.client("[2001:db8::1]:1"), l.client("[2001:db8::ffff]:2"); a != b {
		t.Error("addresses of one /64 count apart")
	}
	if l.client("[::ffff:192.0.2.1]:1") != remote {
		t.Error("a mapped address counts apart")
	}
	strict := newLimiter(config.RateLimit{MaxAttempts: 1, WindowMs: 1000, LockoutMs: 5000}, func() time.Time { return now })
	local := strict.client("127.0.0.1:1")
	strict.failed(local)
	strict.failed(local)
	if strict.locked(local) == 0 {
		t.Error("without exemptLoopback this machine is not locked out")
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(config.RateLimit{MaxAttempts: 2, WindowMs: 1000, LockoutMs: 5000}, func() time.Time { return now })
	for i := range limiterMax * 2 {
		l.failed(l.client("10." + strconv.Itoa(i>>16) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255) + ":1"))
	}
	if len(l.clients) > limiterMax {
		t.Errorf("%d addresses", len(l.clients))
	}
}
