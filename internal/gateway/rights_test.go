package gateway

import (
	"net/http"
	"strings"
	"testing"

	"openclaw/internal/protocol"
)

func TestC6_SessionsAndAgentsACallerMayName(t *testing.T) {
	var (
		operator = principal{operator: true, id: "operator"}
		plain    = principal{agent: "main", id: "default"}
		bound    = principal{agent: "main", id: "ab12", main: true}
		other    = principal{agent: "builder", id: "cd34"}
	)
	for _, tt := range []struct {
		name       string
		who        principal
		agent, key string
		wantAgent  string
		wantKey    string // or the kind of the refusal
	}{
		{"plain default", plain, "", "", "main", "agent:main:default"},
		{"plain main means its own", plain, "", "main", "main", "agent:main:default"},
		{"plain own id", plain, "main", "", "main", "agent:main:default"},
		{"plain own id in capitals", plain, "MAIN", "", "main", "agent:main:default"},
		{"plain name", plain, "", "web", "main", "agent:main:default:web"},
		{"plain qualified", plain, "", "agent:main:default:web", "main", "agent:main:default:web"},
		{"plain own qualified", plain, "", "agent:main:default", "main", "agent:main:default"},
		{"plain takes main", plain, "", "agent:main:main", "", "forbidden"},
		{"plain takes another token's", plain, "", "agent:main:ab12", "", "forbidden"},
		{"plain takes another token's name", plain, "", "agent:main:ab12:web", "", "forbidden"},
		{"plain takes a longer id", plain, "", "agent:main:default2:web", "", "forbidden"},
		{"plain takes another agent's", plain, "", "agent:builder:main", "", "forbidden"},
		{"plain empty rest", plain, "", "agent:main:default:", "", "forbidden"},
		{"plain half a key", plain, "", "agent:main", "", "forbidden"},
		{"plain other agent", plain, "builder", "", "", "forbidden"},
		{"plain bad agent", plain, "../x", "", "", "invalid_request"},
		{"bound default", bound, "", "", "main", "agent:main:main"},
		{"bound qualified main", bound, "", "agent:main:main", "main", "agent:main:main"},
		{"bound name", bound, "", "web", "main", "agent:main:ab12:web"},
		{"bound takes the agent's others", bound, "", "agent:main:web", "", "forbidden"},
		{"bound takes another token's", bound, "", "agent:main:default", "", "forbidden"},
		{"other default", other, "", "", "builder", "agent:builder:cd34"},
		{"other takes main's", other, "main", "", "", "forbidden"},
		{"other takes main's session", other, "", "agent:main:main", "", "forbidden"},
		{"anonymous", anonymous(), "", "", "main", "agent:main:none"},
		{"anonymous takes main", anonymous(), "", "agent:main:main", "", "forbidden"},
		{"operator default", operator, "", "", "main", "agent:main:main"},
		{"operator main", operator, "", "main", "main", "agent:main:main"},
		{"operator agent", operator, "builder", "", "builder", "agent:builder:main"},
		{"operator name", operator, "builder", "web", "builder", "agent:builder:web"},
		{"operator qualified", operator, "", "agent:builder:cd34:web", "builder", "agent:builder:cd34:web"},
		{"operator mismatch", operator, "main", "agent:builder:main", "", "invalid_request"},
		{"operator bad agent", operator, "a b", "", "", "invalid_request"},
		{"operator bad agent in key", operator, "", "agent:../etc:x", "", "invalid_request"},
		{"control characters", plain, "", "a\nb", "", "invalid_request"},
		{"too long", plain, "", string(make([]byte, 300)), "", "invalid_request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tt.who.caller(tt.agent, tt.key, "http")
			if tt.wantAgent == "" {
				if err == nil || err.Type != protocol.ErrorType(tt.wantKey) {
					t.Fatalf("caller %+v, error %v", c, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Agent != tt.wantAgent || c.SessionKey != tt.wantKey || c.Operator != tt.who.operator || c.Credential != tt.who.credential() {
				t.Errorf("caller %+v", c)
			}
		})
	}
}

func TestC6_RightsHoldOverHTTP(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	for body, want := range map[string]int{
		`{"tool":"exec"}`:                                     http.StatusOK,
		`{"tool":"exec","agentId":"main"}`:                    http.StatusOK,
		`{"tool":"exec","agentId":"other"}`:                   http.StatusForbidden,
		`{"tool":"exec","sessionKey":"agent:main:main"}`:      http.StatusForbidden,
		`{"tool":"exec","sessionKey":"agent:main:default:x"}`: http.StatusOK,
		`{"tool":"exec","agentId":"main","agentId":"other"}`:  http.StatusForbidden,
		`{"tool":"exec","AGENTID":"other"}`:                   http.StatusForbidden,
		`{"tool":"exec","agentId":7}`:                         http.StatusBadRequest,
	} {
		if a, _ := h.invoke(h.agent, body); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	// Headers change nothing.
	a := h.do("POST", "/tools/invoke", h.agent, `{"tool":"exec"}`, "X-Openclaw-Scopes", "operator.admin", "X-Openclaw-Agent-Id", "other",
		"X-Openclaw-Session-Key", "agent:main:main", "X-Openclaw-Message-Channel", "telegram")
	_, plain := h.invoke(h.agent, `{"tool":"exec"}`)
	if want, _ := encode(plain); a.status != http.StatusOK || !strings.Contains(a.body, string(want)) {
		t.Errorf("with headers: %s", a.body)
	}
}
