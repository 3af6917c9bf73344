package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// every is the routes that the guard has to stand in front of.
var every = []struct{ method, path string }{
	{"GET", "/"},
	{"GET", "/healthz"},
	{"GET", "/health"},
	{"GET", "/readyz"},
	{"GET", "/ready"},
	{"GET", "/metrics"},
	{"GET", "/events"},
	{"POST", "/tools/invoke"},
	{"POST", "/mcp"},
	{"GET", "/mcp"},
	{"POST", "/rpc"},
	{"GET", "/none"},
}

func TestC7_ForeignHostIsRefusedOnEveryRoute(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	port := strings.TrimPrefix(h.url, "http://127.0.0.1:")
	for _, host := range []string{"evil.example:" + port, "evil.example", "localhost.evil.example:" + port, "127.0.0.1", "127.0.0.1:1", "localhost:80", "192.0.2.7:" + port, "[::2]:" + port, "0.0.0.0:" + port, "localhost.:" + port} {
		for _, r := range every {
			if a := h.do(r.method, r.path, h.operator, "", "Host", host); a.status != http.StatusForbidden {
				t.Errorf("%s %s with Host %s: %d %s", r.method, r.path, host, a.status, a.body)
			}
		}
	}
	for _, host := range []string{"localhost:" + port, "LOCALHOST:" + port, "127.0.0.1:" + port, "[::1]:" + port, "127.0.0.9:" + port} {
		if a := h.do("GET", "/healthz", "", "", "Host", host); a.status != http.StatusOK {
			t.Errorf("Host %s: %d %s", host, a.status, a.body)
		}
	}
}

func TestC7_ForeignOriginIsRefusedOnEveryRoute(t *testing.T) {
	h := start(t, &fakeTools{}, `controlUi:{allowedOrigins:["https://desk.example"]}`)
	for name, headers := range map[string][]string{
		"other site":        {"Origin", "https://evil.example"},
		"null":              {"Origin", "null"},
		"other port":        {"Origin", "http://127.0.0.1:3000"},
		"other scheme":      {"Origin", strings.Replace(h.url, "http:", "https:", 1)},
		"two":               {"Origin", h.url, "Origin", "https://evil.example"},
		"prefix of allowed": {"Origin", "https://desk.example.evil.example"},
		"cross-site":        {"Sec-Fetch-Site", "cross-site"},
		"same-site":         {"Sec-Fetch-Site", "same-site"},
		"own and cross":     {"Origin", h.url, "Sec-Fetch-Site", "cross-site"},
	} {
		for _, r := range every {
			if a := h.do(r.method, r.path, h.operator, "", headers...); a.status != http.StatusForbidden {
				t.Errorf("%s: %s %s: %d %s", name, r.method, r.path, a.status, a.body)
			}
		}
	}
	for name, headers := range map[string][]string{
		"none":            nil,
		"own":             {"Origin", h.url, "Sec-Fetch-Site", "same-origin"},
		"typed address":   {"Sec-Fetch-Site", "none"},
		"allowed":         {"Origin", "https://desk.example", "Sec-Fetch-Site", "cross-site"},
		"host of allowed": {"Origin", "https://desk.example", "Host", "desk.example"},
	} {
		a := h.do("GET", "/healthz", "", "", headers...)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		for k := range a.header {
			if strings.HasPrefix(k, "Access-Control-") {
				t.Errorf("%s: the answer has a CORS header %s", name, k)
			}
		}
	}
}

func TestC7_StarOriginOpensNothing(t *testing.T) {
	g := newGuard(tcpAddr("127.0.0.1", 1), []string{"*", "https://*", "null", ""})
	for _, origin := range []string{"*", "null", "https://evil.example"} {
		r := &http.Request{Host: "127.0.0.1:1", Header: http.Header{"Origin": {origin}}}
		if g.check(r) == nil {
			t.Errorf("origin %s passes", origin)
		}
	}
}

func TestC7_HostOfABoundAddress(t *testing.T) {
	for _, tt := range []struct {
		bound, local, host string
		ok                 bool
	}{
		{"192.0.2.1", "192.0.2.1", "192.0.2.1:7", true},
		{"192.0.2.1", "192.0.2.1", "192.0.2.2:7", false},
		{"192.0.2.1", "192.0.2.1", "localhost:7", true},
		{"0.0.0.0", "192.0.2.1", "192.0.2.1:7", true},
		{"0.0.0.0", "192.0.2.1", "192.0.2.2:7", false},
		{"0.0.0.0", "192.0.2.1", "0.0.0.0:7", false},
		{"0.0.0.0", "192.0.2.1", "box.lan:7", false},
		{"::", "2001:db8::1", "[2001:db8::1]:7", true},
		{"::", "::ffff:192.0.2.1", "192.0.2.1:7", true},
	} {
		r := &http.Request{Host: tt.host, Header: http.Header{}}
		r = r.WithContext(localAddr(t.Context(), tcpAddr(tt.local, 7)))
		if got := newGuard(tcpAddr(tt.bound, 7), nil).check(r) == nil; got != tt.ok {
			t.Errorf("bound to %s, came to %s, Host %s: passes %v", tt.bound, tt.local, tt.host, got)
		}
	}
}

func TestC7_PageHasAStrictPolicyAndNoSecret(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	a := h.do("GET", "/", "", "")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", a.status, a.header)
	}
	if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("policy %q", csp)
	}
	if strings.Contains(a.body, h.operator) || strings.Contains(a.body, h.agent) {
		t.Error("the page has a secret")
	}
	if a := h.do("GET", "/elsewhere", h.operator, ""); a.status != http.StatusNotFound || a.body != "Not Found" {
		t.Errorf("unknown path: %d %q", a.status, a.body)
	}
}
