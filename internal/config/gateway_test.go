package config

import (
	"reflect"
	"slices"
	"testing"
)

func TestGatewayBind(t *testing.T) {
	tests := []struct {
		src, host string
		loopback  bool
		warnings  int
	}{
		{`bind: 'loopback'`, "127.0.0.1", true, 0},
		{`bind: 'localhost'`, "127.0.0.1", true, 0},
		{`bind: 'lan'`, "0.0.0.0", false, 0},
		{`bind: '127.0.0.5'`, "127.0.0.5", true, 0},
		{`bind: '[::1]'`, "::1", true, 0},
		{`bind: '::ffff:127.0.0.1'`, "::ffff:127.0.0.1", true, 0},
		{`bind: '0.0.0.0'`, "0.0.0.0", false, 0},
		{`bind: 'custom', customBindHost: '10.0.0.1'`, "10.0.0.1", false, 0},
		{`bind: 'auto'`, "127.0.0.1", true, 1},
		{`bind: 'tailnet'`, "127.0.0.1", true, 1},
		{`bind: 'loopback', auth: {mode: 'none'}`, "127.0.0.1", true, 0},
	}
	for _, tt := range tests {
		c := mustParse(t, `{gateway: {`+tt.src+`}}`)
		if c.Gateway.ListenHost() != tt.host || c.Gateway.Loopback() != tt.loopback || len(c.Warnings) != tt.warnings {
			t.Errorf("%s: %s, loopback %v, %q", tt.src, c.Gateway.ListenHost(), c.Gateway.Loopback(), c.Warnings)
		}
	}
}

func TestGatewayAuthMode(t *testing.T) {
	for src, want := range map[string]string{
		``:                                 "token",
		`auth: {}`:                         "token",
		`auth: {token: 't'}`:               "token",
		`auth: {password: 'p'}`:            "password",
		`auth: {mode: 'none'}`:             "none",
		`auth: {mode: 'token'}`:            "token",
		`auth: {rateLimit: {windowMs: 5}}`: "token",
	} {
		if c := mustParse(t, `{gateway: {`+src+`}}`); c.Gateway.Auth.Mode != want {
			t.Errorf("%s: %s", src, c.Gateway.Auth.Mode)
		}
	}
}

func TestOlderNodeCommandNames(t *testing.T) {
	c := mustParse(t, `{gateway: {nodes: {denyCommands: ['a'], commands: {deny: ['b']}, allowCommands: ['c']}}}`)
	if !reflect.DeepEqual(c.Gateway.CommandsDeny, []string{"b", "a"}) || !reflect.DeepEqual(c.Gateway.CommandsAllow, []string{"c"}) {
		t.Errorf("CommandsDeny %q, CommandsAllow %q", c.Gateway.CommandsDeny, c.Gateway.CommandsAllow)
	}
}

func TestC3_RestartNeeded(t *testing.T) {
	running := mustParse(t, `{gateway: {auth: {token: 'a'}}, tools: {exec: {ask: 'off'}}}`)
	changed := mustParse(t, `{gateway: {port: 1, bind: 'lan', auth: {mode: 'password', token: 'b', password: 'p', rateLimit: {maxAttempts: 1}},
		tls: {enabled: true}, controlUi: {basePath: '/x', enabled: false, allowedOrigins: ['a']}}, tools: {exec: {ask: 'always'}}}`)
	want := []string{
		"gateway.port", "gateway.bind", "gateway.auth.mode", "gateway.auth.token", "gateway.auth.password",
		"gateway.auth.rateLimit", "gateway.tls", "gateway.controlUi.enabled", "gateway.controlUi.basePath",
	}
	if got := RestartNeeded(running, changed); !reflect.DeepEqual(got, want) {
		t.Errorf("RestartNeeded = %q", got)
	}
	live := mustParse(t, `{gateway: {auth: {token: 'a'}, tools: {deny: ['exec']}}, tools: {exec: {ask: 'always'}}}`)
	if got := RestartNeeded(running, live); got != nil {
		t.Errorf("RestartNeeded = %q", got)
	}
}

func TestC6_KeepAuth(t *testing.T) {
	running := mustParse(t, `{gateway: {auth: {token: 'a'}}}`)
	lost := mustParse(t, `{gateway: {port: 1}}`)
	if !lost.KeepAuth(running) || lost.Gateway.Auth.Token.Reveal() != "a" {
		t.Error("a lost gateway.auth is not kept")
	}
	again := mustParse(t, `{}`)
	if !again.KeepAuth(lost) || again.Gateway.Auth.Token.Reveal() != "a" {
		t.Error("a second reload forgets it")
	}
	other := mustParse(t, `{gateway: {auth: {token: 'b'}}}`)
	if other.KeepAuth(running) || other.Gateway.Auth.Token.Reveal() != "b" {
		t.Error("a new gateway.auth is overwritten")
	}
	if fresh := mustParse(t, `{}`); fresh.KeepAuth(mustParse(t, `{}`)) {
		t.Error("there was nothing to keep")
	}
	exposed := mustParse(t, `{gateway: {bind: 'lan'}}`)
	if exposed.KeepAuth(mustParse(t, `{gateway: {auth: {mode: 'none'}}}`)) || exposed.Gateway.Auth.Mode != "token" {
		t.Error("none is kept beyond loopback")
	}
}

// A token that can be guessed is the operator's decision, but not one made unawares.
func TestC6_ShortSecretsAreWarnedOf(t *testing.T) {
	const problem = "has fewer than 16 characters and can be guessed; use a longer one"
	for _, tt := range []struct {
		src, env string
		want     []string
	}{
		{`{gateway: {auth: {token: 'x'}}}`, "", []string{"/x/openclaw.json:1:26: gateway.auth.token: " + problem}},
		{`{gateway: {auth: {token: 'fifteen-letters'}}}`, "", []string{"/x/openclaw.json:1:26: gateway.auth.token: " + problem}},
		{`{gateway: {auth: {token: 'sixteen-letters!'}}}`, "x", nil},
		{`{gateway: {auth: {token: '${OPENCLAW_GATEWAY_TOKEN}'}}}`, "x", []string{"/x/openclaw.json:1:26: gateway.auth.token: " + problem}},
		{`{gateway: {auth: {password: 'x'}}}`, "", []string{"/x/openclaw.json:1:29: gateway.auth.password: " + problem}},
		{`{gateway: {auth: {password: 'a-pass-phrase-of-mine'}}}`, "x", nil}, // the variable does not count
		{`{}`, "x", []string{"OPENCLAW_GATEWAY_TOKEN " + problem}},
		{`{}`, "a-token-that-is-long-enough", nil},
		{`{}`, "", nil},
	} {
		c := mustParse(t, tt.src, "OPENCLAW_GATEWAY_TOKEN", tt.env)
		if !slices.Equal(c.Warnings, tt.want) {
			t.Errorf("%s with %q: %q", tt.src, tt.env, c.Warnings)
		}
	}
}
