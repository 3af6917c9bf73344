package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestP6_PolicyPerScope: what the agent's words make of the global ones.
func TestP6_PolicyPerScope(t *testing.T) {
	tests := []struct{ global, agent, want string }{
		{``, ``, `mode= security= ask=`},
		{`mode:'deny'`, ``, `mode=deny security=deny ask=off`},
		{`mode:'allowlist'`, ``, `mode=allowlist security=allowlist ask=off`},
		{`mode:'ask'`, ``, `mode=ask security=allowlist ask=on-miss`},
		{`mode:'auto'`, ``, `mode=auto security=allowlist ask=on-miss`},
		{`mode:'full'`, ``, `mode=full security=full ask=off`},
		{`security:'deny'`, ``, `mode= security=deny ask=`},
		{`security:'deny',ask:'always'`, `mode:'full'`, `mode=full security=full ask=off`},
		{`mode:'full'`, `mode:'deny'`, `mode=deny security=deny ask=off`},
		{`mode:'full'`, `ask:'always'`, `mode= security=full ask=always`},
		{`mode:'full'`, `security:'allowlist'`, `mode= security=allowlist ask=off`},
		{`mode:'auto'`, `security:'allowlist'`, `mode= security=allowlist ask=on-miss`},
		{`mode:'auto'`, `node:'n'`, `mode=auto security=allowlist ask=on-miss`},
		{`security:'full',ask:'off'`, `security:'deny'`, `mode= security=deny ask=off`},
		{`ask:'on-miss'`, `security:'allowlist'`, `mode= security=allowlist ask=on-miss`},
	}
	for _, tt := range tests {
		for _, form := range []string{`entries: {a: {tools: {exec: {%s}}}}`, `list: [{id: 'a', tools: {exec: {%s}}}]`} {
			c := mustParse(t, `{tools: {exec: {`+tt.global+`}}, agents: {`+fmt.Sprintf(form, tt.agent)+`}}`)
			e := c.Exec("a")
			if got := "mode=" + e.Mode + " security=" + e.Security + " ask=" + e.Ask; got != tt.want {
				t.Errorf("global {%s}, agent {%s}: %s, want %s", tt.global, tt.agent, got, tt.want)
			}
		}
	}
}

func TestP12_KeysThatDecided(t *testing.T) {
	c := mustParse(t, `{tools: {exec: {mode: 'full'}}, agents: {list: [{id: 'a', tools: {exec: {ask: 'always'}}}]}}`)
	e := c.Exec("A")
	if e.SecurityKey != "tools.exec.mode" || e.AskKey != "agents.list[0].tools.exec.ask" {
		t.Errorf("SecurityKey %q, AskKey %q", e.SecurityKey, e.AskKey)
	}
}

func TestExecPerAgentOverGlobal(t *testing.T) {
	c := mustParse(t, `{
		tools: {exec: {node: 'g', timeoutSec: 5, safeBins: ['wc'], pathPrepend: ['/g'],
			applyPatch: {workspaceOnly: false}, log: {maxBytes: 70000},
			safeBinProfiles: {x: {maxPositional: 1}, y: {maxPositional: 2}}}},
		agents: {entries: {
			a: {tools: {exec: {node: 'a', safeBins: [], applyPatch: {enabled: false}, log: {totalBytes: 80000},
				safeBinProfiles: {y: {maxPositional: 3}}}}},
			b: {},
		}},
	}`)
	a, b := c.Exec("a"), c.Exec("b")
	if a.Node != "a" || a.TimeoutSec != 5 || a.PathPrepend[0] != "/g" || a.SafeBins == nil || len(a.SafeBins) != 0 {
		t.Errorf("a = %+v", a)
	}
	if a.ApplyPatch.Enabled || a.ApplyPatch.WorkspaceOnly || a.LogMaxBytes != 70000 || a.LogTotalBytes != 80000 {
		t.Errorf("a = %+v", a)
	}
	if a.SafeBinProfiles["x"].MaxPositional != 1 || a.SafeBinProfiles["y"].MaxPositional != 3 {
		t.Errorf("profiles of a = %+v", a.SafeBinProfiles)
	}
	if b.SafeBinProfiles["y"].MaxPositional != 2 || b.Node != "g" || !b.ApplyPatch.Enabled {
		t.Errorf("b = %+v", b)
	}
	// A result may be changed without an effect on the next one.
	a.SafeBinProfiles["x"], a.PathPrepend[0] = SafeBinProfile{}, "/changed"
	if again := c.Exec("a"); again.SafeBinProfiles["x"].MaxPositional != 1 || again.PathPrepend[0] != "/g" {
		t.Error("Exec shares its result")
	}
	if other := c.Exec("unknown"); !reflect.DeepEqual(other, b) {
		t.Errorf("an unnamed agent has %+v", other)
	}
}

func TestC2_OlderForm(t *testing.T) {
	c := mustParse(t, `{exec: {ask: 'always', timeoutSeconds: 7}, tools: {exec: {security: 'allowlist'}},
		agents: {entries: {a: {exec: {security: 'deny'}}}}}`)
	if e := c.Exec("main"); e.Ask != "always" || e.Security != "allowlist" || e.TimeoutSec != 7 || e.AskKey != "exec.ask" {
		t.Errorf("Exec = %+v", e)
	}
	if e := c.Exec("a"); e.Security != "deny" || e.Ask != "always" {
		t.Errorf("Exec(a) = %+v", e)
	}
	if len(c.Ignored) != 0 {
		t.Errorf("Ignored = %q", c.Ignored)
	}
}

func TestS5_CleanupIsBounded(t *testing.T) {
	for given, want := range map[string]int{"1": 60000, "60000": 60000, "99999999": 10800000, "-5": 60000} {
		c := mustParse(t, `{tools: {exec: {cleanupMs: `+given+`}}}`)
		if got := c.Exec("").CleanupMs; got != want {
			t.Errorf("cleanupMs %s gives %d", given, got)
		}
		if clamped := given != "60000"; clamped != (len(c.Warnings) == 1) {
			t.Errorf("cleanupMs %s: warnings %q", given, c.Warnings)
		}
	}
}

func TestS6_Knobs(t *testing.T) {
	c := mustParse(t, `{}`, "OPENCLAW_BASH_YIELD_MS", "20", "OPENCLAW_BASH_MAX_OUTPUT_CHARS", "5000",
		"OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS", " 6000 ", "OPENCLAW_BASH_JOB_TTL_MS", "5",
		"OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS", "100")
	e := c.Exec("main")
	if e.YieldMs != 20 || e.MaxOutputChars != 5000 || e.PendingMaxOutputChars != 6000 || e.CleanupMs != 60000 || e.InputWaitIdleMs != 100 {
		t.Errorf("Exec = %+v", e)
	}
	if want := []string{"environment: OPENCLAW_BASH_JOB_TTL_MS=5 is outside 60000 to 10800000; 60000 is used"}; !reflect.DeepEqual(c.Warnings, want) {
		t.Errorf("Warnings = %q", c.Warnings)
	}

	c = mustParse(t, `{tools: {exec: {backgroundMs: 30, cleanupMs: 70000}}}`, "OPENCLAW_BASH_YIELD_MS", "20", "OPENCLAW_BASH_JOB_TTL_MS", "80000")
	if e := c.Exec("main"); e.YieldMs != 30 || e.CleanupMs != 70000 {
		t.Errorf("env won over config: %+v", e)
	}

	for _, bad := range []string{"9", "120001", "x", "1e3", "-1", "99999999999999999999"} {
		c := mustParse(t, `{}`, "OPENCLAW_BASH_YIELD_MS", bad)
		if c.Exec("").YieldMs != 10000 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "is ignored: expected a whole number from 10 to 120000") {
			t.Errorf("%q: %d, %q", bad, c.Exec("").YieldMs, c.Warnings)
		}
	}
}

func TestX11_RelativeFoldersAreLeftOut(t *testing.T) {
	c := mustParse(t, `{tools: {exec: {pathPrepend: ['bin', '/ok', '~x'], safeBinTrustedDirs: ['.']}}}`)
	e := c.Exec("main")
	if !reflect.DeepEqual(e.PathPrepend, []string{"/ok"}) || len(e.SafeBinTrustedDirs) != 2 || len(c.Warnings) != 3 {
		t.Errorf("PathPrepend %q, SafeBinTrustedDirs %q, Warnings %q", e.PathPrepend, e.SafeBinTrustedDirs, c.Warnings)
	}
}

func TestAgents(t *testing.T) {
	c := mustParse(t, `{agents: {
		defaults: {workspace: '/d', sandbox: {mode: 'non-main', docker: {binds: ['/g:/g']}}},
		entries: {Zeta: {workspace: '~/z', sandbox: {mode: 'all', scope: 'shared', docker: {binds: ['/z:/z']}}}},
		list: [{id: 'beta', default: true, sandbox: {docker: {image: 'b'}}}],
	}}`)
	if got := c.AgentIDs(); !reflect.DeepEqual(got, []string{"main", "beta", "zeta"}) {
		t.Errorf("AgentIDs = %q", got)
	}
	for id, want := range map[string]string{"ZETA": "/home/u/z", " beta ": "/d", "main": "/d"} {
		if got := c.Workspace(id); got != want {
			t.Errorf("Workspace(%q) = %s", id, got)
		}
	}
	for id, want := range map[string]string{"zeta": "all", "beta": "non-main", "other": "non-main"} {
		if got := c.SandboxMode(id); got != want {
			t.Errorf("SandboxMode(%s) = %s", id, got)
		}
	}
	if s := c.Sandbox("beta"); s.Docker.Image != "b" || s.Docker.Binds[0] != "/g:/g" {
		t.Errorf("Sandbox(beta) = %+v", s)
	}
	if s := c.Sandbox("zeta"); s.Docker.Binds[0] != "/g:/g" {
		t.Errorf("H-18: a shared sandbox has the agent's binds: %q", s.Docker.Binds)
	}
}
