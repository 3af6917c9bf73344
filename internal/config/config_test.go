package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// env makes a getenv from pairs; HOME is /home/u unless given.
func env(pairs ...string) func(string) string {
	vars := map[string]string{"HOME": "/home/u"}
	for i := 0; i < len(pairs); i += 2 {
		vars[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return vars[name] }
}

func mustParse(t *testing.T, src string, pairs ...string) *Config {
	t.Helper()
	c, err := Parse("/x/openclaw.json", []byte(src), env(pairs...))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c
}

func TestC1_MissingFileIsDefaults(t *testing.T) {
	c, err := Load(filepath.Join(t.TempDir(), "none", "openclaw.json"), env())
	if err != nil {
		t.Fatal(err)
	}
	if c.Exists || len(c.Warnings)+len(c.Ignored) != 0 {
		t.Errorf("Exists %v, Warnings %q, Ignored %q", c.Exists, c.Warnings, c.Ignored)
	}
	want := Exec{
		Host: "auto", TimeoutSec: 1800, YieldMs: 10000, CleanupMs: 1800000,
		ApprovalRunningNoticeMs: 10000, NotifyOnExit: true, NodeFromSandbox: true,
		SafeBinTrustedDirs: []string{"/bin", "/usr/bin"},
		ApplyPatch:         ApplyPatch{Enabled: true, WorkspaceOnly: true},
		Reviewer:           Reviewer{TimeoutMs: 30000},
		LogMaxBytes:        64 << 20, LogTotalBytes: 2 << 30, MaxSessions: 200,
		Leftovers: "keep", OnSupervisorDeath: "kill",
		MaxOutputChars: 200000, PendingMaxOutputChars: 200000, InputWaitIdleMs: 15000,
	}
	if got := c.Exec("main"); !reflect.DeepEqual(got, want) {
		t.Errorf("Exec = %+v\nwant %+v", got, want)
	}
	g := c.Gateway
	if g.Port != 18789 || g.ListenHost() != "127.0.0.1" || !g.Loopback() || g.Auth.Mode != "token" || g.Auth.Token.IsSet() {
		t.Errorf("Gateway = %+v", g)
	}
	if c.Approvals.HistoryDays != 30 || c.Approvals.Elicitation != "off" || c.Approvals.Exec.Mode != "session" || c.Approvals.Exec.Enabled {
		t.Errorf("Approvals = %+v", c.Approvals)
	}
	if c.SandboxMode("main") != "off" || c.Workspace("main") != "/home/u/.openclaw/workspace" {
		t.Errorf("sandbox %s, workspace %s", c.SandboxMode("main"), c.Workspace("main"))
	}
	if got := c.AgentIDs(); !reflect.DeepEqual(got, []string{"main"}) {
		t.Errorf("AgentIDs = %q", got)
	}
}

const noToolName = "expected a tool name, group:NAME or a pattern in which * stands for any characters; nothing else is special"

// TestC1_Errors pins the whole text of what a person reads.
func TestC1_Errors(t *testing.T) {
	const f = "/x/openclaw.json:"
	tests := []struct{ name, src, want string }{
		{"unknown exec key", "{\n  tools: {exec: {timeoutSeconds2: 1}}}", f + "2:18: tools.exec.timeoutSeconds2: unknown key; did you mean timeoutSec?"},
		{"unknown key, nothing near", `{tools: {exec: {frobnicate: 1}}}`, f + "1:17: tools.exec.frobnicate: unknown key"},
		{"unknown gateway key", `{gateway: {prot: 1}}`, f + "1:12: gateway.prot: unknown key; did you mean port?"},
		{"unknown approvals key", `{approvals: {exec: {enable: true}}}`, f + "1:21: approvals.exec.enable: unknown key; did you mean enabled?"},
		{"unknown elevated key", `{tools: {elevated: {allow: {}}}}`, f + "1:21: tools.elevated.allow: unknown key"},
		{"unknown sandbox key", `{agents: {defaults: {sandbox: {mod: 'all'}}}}`, f + "1:32: agents.defaults.sandbox.mod: unknown key; did you mean mode?"},
		{"unknown sandbox key of an agent", `{agents: {entries: {a: {sandbox: {docker: {iamge: 'x'}}}}}}`, f + "1:44: agents.entries.a.sandbox.docker.iamge: unknown key; did you mean image?"},
		{"index path", `{agents: {list: [{id: 'a', tools: {exec: {node: 5}}}]}}`, f + "1:49: agents.list[0].tools.exec.node: expected a string, found a number"},
		{"quoted path", `{channels: {"a.b": {enabled: 1}}}`, f + `1:30: channels["a.b"].enabled: expected true or false, found a number`},
		{"root", `[]`, f + "1:1: expected an object, found an array"},
		{"syntax", "{tools: {\n exec: {ask: }}}", f + `2:14: tools.exec.ask: expected a value, found "}"`},
		{"duplicate", "{tools: {}, tools: {}}", f + `1:13: tools: expected each key once, found "tools" again (first on line 1)`},
		{"wrong section type", `{tools: {exec: 'full'}}`, f + "1:16: tools.exec: expected an object, found a string"},
		{"null", `{tools: {exec: {node: null}}}`, f + "1:23: tools.exec.node: expected a string, found null"},
		{"word", `{tools: {exec: {security: 'alowlist'}}}`, f + `1:27: tools.exec.security: expected one of deny, allowlist, full, found "alowlist"; did you mean allowlist?`},
		{"range", `{tools: {exec: {timeoutSec: -1}}}`, f + "1:29: tools.exec.timeoutSec: expected a whole number from 0 to 31622400, found -1"},
		{"fraction", `{tools: {exec: {timeoutSec: 1.5}}}`, f + "1:29: tools.exec.timeoutSec: expected a whole number from 0 to 31622400, found 1.5"},
		{"not a number", `{tools: {exec: {backgroundMs: NaN}}}`, f + "1:31: tools.exec.backgroundMs: expected a whole number from 0 to 86400000, found NaN"},
		{"small log", `{tools: {exec: {log: {maxBytes: 100}}}}`, f + "1:33: tools.exec.log.maxBytes: expected a whole number from 65536 to 1125899906842624, found 100"},
		{"sessions", `{tools: {exec: {maxSessions: 2001}}}`, f + "1:30: tools.exec.maxSessions: expected a whole number from 1 to 2000, found 2001"},
		{"list item", `{tools: {exec: {safeBins: ['wc', 1]}}}`, f + "1:34: tools.exec.safeBins[1]: expected a string, found a number"},

		{"P-6 mode and ask", `{tools: {exec: {ask: 'off', mode: 'full'}}}`, f + "1:35: tools.exec.mode: cannot stand beside tools.exec.ask: the mode sets both security and ask; keep one form"},
		{"P-6 across old and new form", "{exec: {security: 'full'},\n tools: {exec: {mode: 'full'}}}", f + "2:23: tools.exec.mode: cannot stand beside exec.security: the mode sets both security and ask; keep one form"},
		{"P-6 in an agent", `{agents: {entries: {a: {tools: {exec: {mode: 'ask', security: 'deny'}}}}}}`, f + "1:46: agents.entries.a.tools.exec.mode: cannot stand beside agents.entries.a.tools.exec.security: the mode sets both security and ask; keep one form"},
		{"C-2 old and new form", `{tools: {exec: {ask: 'off'}}, exec: {ask: 'always'}}`, f + "1:38: exec.ask: the same setting is also given as tools.exec.ask; keep one"},
		{"alias twice", `{tools: {exec: {timeoutSec: 1, timeoutSeconds: 2}}}`, f + "1:32: tools.exec.timeoutSeconds: the same setting is also given as tools.exec.timeoutSec; keep one"},
		{"agent twice", `{agents: {entries: {work: {}}, list: [{id: 'Work'}]}}`, f + "1:39: agents.list[0]: agent work is already given as agents.entries.work; keep one"},
		{"agent without id", `{agents: {list: [{workspace: '/w'}]}}`, f + "1:18: agents.list[0]: expected an id in each agent of the list"},
		{"agent id", `{agents: {entries: {"a:b": {}}}}`, f + `1:28: agents.entries["a:b"]: expected an agent id of at most 64 letters, digits, dots, hyphens and underscores`},
		{"workspace", `{agents: {defaults: {workspace: 'work'}}}`, f + "1:33: agents.defaults.workspace: expected an absolute path, or one that begins with ~/"},
		{"allow and alsoAllow", `{tools: {allow: ['a'], alsoAllow: ['b']}}`, f + "1:9: tools: cannot have both allow and alsoAllow; put the names into allow"},
		{"unknown group in deny", `{tools: {deny: ['group:runtim']}}`, f + "1:17: tools.deny[0]: unknown tool group; did you mean group:runtime?"},
		{"pattern of a shell in deny", `{tools: {deny: ['ex?c']}}`, f + "1:17: tools.deny[0]: " + noToolName},
		{"pattern of a shell in allow", `{tools: {allow: ['exec', '[e]xec']}}`, f + "1:26: tools.allow[1]: " + noToolName},
		{"pattern of a shell in alsoAllow", `{tools: {alsoAllow: ['{exec,process}']}}`, f + "1:22: tools.alsoAllow[0]: " + noToolName},
		{"two names in one", `{gateway: {tools: {deny: ['exec, process']}}}`, f + "1:27: gateway.tools.deny[0]: " + noToolName},
		{"negation", `{tools: {sandbox: {tools: {deny: ['!exec']}}}}`, f + "1:35: tools.sandbox.tools.deny[0]: " + noToolName},
		{"look-alike letter", `{agents: {entries: {a: {tools: {deny: ['еxec']}}}}}`, f + "1:40: agents.entries.a.tools.deny[0]: " + noToolName},
		{"no name", `{tools: {deny: ['']}}`, f + "1:17: tools.deny[0]: " + noToolName},
		{"misspelt group prefix", `{tools: {deny: ['groups:runtime']}}`, f + "1:17: tools.deny[0]: " + noToolName},
		{"group pattern of a shell", `{tools: {deny: ['group:runtim?']}}`, f + "1:17: tools.deny[0]: " + noToolName},
		{"group pattern without a group", `{tools: {deny: ['group:runtimes*']}}`, f + "1:17: tools.deny[0]: unknown tool group; did you mean group:runtime?"},
		{"profile", `{tools: {profile: 'codin'}}`, f + `1:19: tools.profile: expected one of minimal, coding, messaging, full, found "codin"; did you mean coding?`},

		{"port", `{gateway: {port: 70000}}`, f + "1:18: gateway.port: expected a whole number from 0 to 65535, found 70000"},
		{"bind", `{gateway: {bind: 'everywhere'}}`, f + "1:18: gateway.bind: expected loopback, lan or an IP address"},
		{"C-6 none beyond loopback", `{gateway: {auth: {mode: 'none'}, bind: 'lan'}}`, f + `1:25: gateway.auth.mode: "none" is refused when gateway.bind reaches beyond this machine; use token or password`},
		{"auth mode", `{gateway: {auth: {mode: 'trusted-proxy'}}}`, f + `1:25: gateway.auth.mode: expected one of token, password, none, found "trusted-proxy"`},
		{"password missing", `{gateway: {auth: {mode: 'password'}}}`, f + "1:18: gateway.auth: mode password needs a password"},
		{"token and password", `{gateway: {auth: {token: 'a', password: 'b'}}}`, f + "1:41: gateway.auth.password: both token and password are given: say which counts with mode"},
		{"half of tls", `{gateway: {tls: {certPath: '/c'}}}`, f + "1:17: gateway.tls: certPath and keyPath belong together: give both or none"},
		{"cidr", `{gateway: {nodes: {pairing: {autoApproveCidrs: ['10.0.0.1']}}}}`, f + "1:49: gateway.nodes.pairing.autoApproveCidrs[0]: expected a network such as 192.168.1.0/24"},
		{"target", `{approvals: {exec: {targets: [{to: 5}]}}}`, f + "1:31: approvals.exec.targets[0]: expected the key channel"},
		{"environment", `{tools: {exec: {node: '${NODE_X}'}}}`, f + "1:23: tools.exec.node: environment variable NODE_X is not set; write $${NODE_X} if the text is meant"},
		{"several, in order of the file", "{gateway: {port: 'x'},\ntools: {exec: {a1: 1, host: 'moon'}}}", f + "1:18: gateway.port: expected a whole number from 0 to 65535, found a string\n" +
			f + "2:16: tools.exec.a1: unknown key\n" +
			f + `2:29: tools.exec.host: expected one of auto, sandbox, gateway, node, found "moon"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("/x/openclaw.json", []byte(tt.src), env())
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
			var one *Error
			if !errors.As(err, &one) || one.File != "/x/openclaw.json" || one.Line < 1 || one.Column < 1 {
				t.Errorf("errors.As gives %+v", one)
			}
		})
	}
}

// Policy in another file must not become the default without a word.
func TestC2_IncludesAreRefused(t *testing.T) {
	const f, problem = "/x/openclaw.json:", ": $include is not supported by this version; put the content into this file"
	for _, tt := range []struct{ src, want string }{
		{`{$include: './t.json5'}`, f + "1:2: $include" + problem},
		{`{tools: {$include: './t.json5'}}`, f + "1:10: tools.$include" + problem},
		{"{tools: {\n  exec: {$include: ['a', 'b']}}}", f + "2:10: tools.exec.$include" + problem},
		{`{agents: {"$include": 't'}}`, f + "1:11: agents.$include" + problem},
		{`{agents: {list: [{id: 'a', tools: {$include: 't'}}]}}`, f + "1:36: agents.list[0].tools.$include" + problem},
		{`{agents: {list: [[{$include: 't'}]]}}`, f + "1:20: agents.list[0][0].$include" + problem},
		{`{models: {a: {$INCLUDE: 't'}}}`, f + "1:15: models.a.$INCLUDE" + problem},
		{
			`{$include: 'a', tools: {$include: 'b', exec: {frobnicate: 1}}}`,
			f + "1:2: $include" + problem + "\n" + f + "1:25: tools.$include" + problem,
		},
	} {
		if _, err := Parse("/x/openclaw.json", []byte(tt.src), env()); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.src, err, tt.want)
		}
	}
	mustParse(t, `{models: {a: '$include'}}`) // a value is none
}

func TestErrorsAreBounded(t *testing.T) {
	src := `{tools: {exec: {`
	for i := range 100 {
		src += "zzz" + strings.Repeat("y", i) + ": 1,"
	}
	_, err := Parse("f", []byte(src+"}}}"), env())
	var list Errors
	if !errors.As(err, &list) || len(list) != maxErrors {
		t.Errorf("%d errors", len(list))
	}
}

func TestWarningsAreBounded(t *testing.T) {
	c := mustParse(t, `{tools: {exec: {pathPrepend: [`+strings.Repeat(`'relative',`, 5000)+`]}}}`)
	if len(c.Warnings) != maxWarnings {
		t.Errorf("%d warnings", len(c.Warnings))
	}
}

func TestC2_KeysOutsideOurScope(t *testing.T) {
	c := mustParse(t, `{
		$schema: "x", models: {a: 1},
		gateway: {mode: 'local', remote: {token: 'secret'}, controlUi: {root: 'dist'}},
		agents: {defaults: {model: 'm'}, entries: {main: {model: 'm'}}},
		tools: {web: {}, byProvider: {}, exce: {ask: 'always'}},
		gatewy: {},
	}`)
	want := []string{
		"$schema", "models", "gateway.mode", "gateway.remote", "gateway.controlUi.root", "gatewy",
		"tools.web", "tools.byProvider", "tools.exce", "agents.defaults.model", "agents.entries.main.model",
	}
	if !reflect.DeepEqual(c.Ignored, want) {
		t.Errorf("Ignored = %q\nwant %q", c.Ignored, want)
	}
	warnings := []string{
		"/x/openclaw.json:6:11: gatewy: unknown key, without effect; did you mean gateway?",
		"/x/openclaw.json:5:32: tools.byProvider: is not applied here: it restricts nothing; use allow and deny",
		"/x/openclaw.json:5:42: tools.exce: unknown key, without effect; did you mean exec?",
	}
	if !reflect.DeepEqual(c.Warnings, warnings) {
		t.Errorf("Warnings = %q", c.Warnings)
	}
}

// TestAllKeys reads one file with every key of the spec and looks at what arrives.
func TestAllKeys(t *testing.T) {
	src, err := os.ReadFile("testdata/all.json5")
	if err != nil {
		t.Fatal(err)
	}
	c := mustParse(t, string(src), "GW_TOKEN", "from-the-environment")
	if len(c.Ignored)+len(c.Warnings) != 0 {
		t.Errorf("Ignored %q, Warnings %q", c.Ignored, c.Warnings)
	}
	want := Exec{
		Host: "node", Node: "mac-1", Mode: "auto", Security: "allowlist", Ask: "on-miss",
		SecurityKey: "tools.exec.mode", AskKey: "tools.exec.mode",
		TimeoutSec: 60, YieldMs: 500, CleanupMs: 120000, ApprovalRunningNoticeMs: 0,
		NotifyOnExit: false, NotifyOnExitEmptySuccess: true, StrictInlineEval: true,
		CommandHighlighting: true, AllowStreamRedirects: true, NodeFromSandbox: false,
		PathPrepend: []string{"/home/u/bin", "/opt/x"}, SafeBins: []string{"wc", "mybin"},
		SafeBinTrustedDirs: []string{"/bin", "/usr/bin", "/opt/bin"},
		SafeBinProfiles:    map[string]SafeBinProfile{"mybin": {1, 2, []string{"-n"}, []string{"-f"}}},
		ApplyPatch:         ApplyPatch{false, false, []string{"gpt-5.6"}},
		Reviewer:           Reviewer{"openai/gpt-5.6", 5000},
		LogMaxBytes:        65536, LogTotalBytes: 1048576, MaxSessions: 5,
		Leftovers: "end", OnSupervisorDeath: "keep",
		MaxOutputChars: 200000, PendingMaxOutputChars: 200000, InputWaitIdleMs: 15000,
	}
	if got := c.Exec("main"); !reflect.DeepEqual(got, want) {
		t.Errorf("Exec =\n%+v\nwant\n%+v", got, want)
	}
	if a := c.Approvals; a.HistoryDays != 7 || a.Elicitation != "stdio" || !a.Exec.Enabled || a.Exec.Mode != "both" ||
		!reflect.DeepEqual(a.Exec.Targets, []Target{{"telegram", "-100123", "acc", "42"}}) ||
		!reflect.DeepEqual(a.Plugin.SessionFilter, []string{"^agent:main"}) {
		t.Errorf("Approvals = %+v", a)
	}
	g := c.Gateway
	if g.Port != 0 || g.ListenHost() != "192.168.1.5" || g.Loopback() || g.Auth.Token.Reveal() != "from-the-environment" ||
		g.Auth.RateLimit.MaxAttempts != 3 || !g.TLS.Enabled || g.TLS.KeyPath != "/k" ||
		g.Pairing.AutoApproveCIDRs[0].String() != "10.0.0.0/8" || g.CommandsDeny[0] != "system.run" ||
		g.ControlUI.BasePath != "/ui" || g.ControlUI.AllowedOrigins[0] != "https://x" {
		t.Errorf("Gateway = %+v", g)
	}
	s := c.Sandbox("main")
	if s.Mode != "all" || s.Backend != "docker" || s.WorkspaceRoot != "/home/u/sbx" || s.IdleHours != 1 || s.MaxAgeDays != 7 ||
		s.Docker.Memory != "1g" || s.Docker.CPUs != "1.5" || s.Docker.SetupCommand != "a\nb" || s.Docker.ReadOnlyRoot ||
		s.Docker.Ulimits["nproc"] != (Ulimit{256, 256}) || s.Docker.Ulimits["nofile"] != (Ulimit{1, 2}) ||
		s.Docker.Env["LANG"] != "C" || !s.Docker.AllowExternalBindSources {
		t.Errorf("Sandbox = %+v", s)
	}
	ch := c.Channels["telegram"]
	if !ch.Enabled || ch.AllowFrom[0] != "123456789012345678" || ch.Secrets["botToken"].Reveal() != "bot" ||
		ch.ExecApprovals.Enabled != "auto" || ch.ExecApprovals.Target != "both" {
		t.Errorf("Channel = %+v", ch)
	}
	if c.Commands.UseAccessGroups || c.Commands.OwnerAllowFrom[0] != "7" || c.SkillDirs[0] != "/home/u/skills" ||
		c.ElevatedDefault != "ask" || c.AgentTimeoutSec != 600 || c.Workspace("main") != "/home/u/work" {
		t.Errorf("Config = %+v", c)
	}
	if gates := c.ElevatedGates("main"); len(gates) != 1 || !reflect.DeepEqual(gates[0].AllowFrom, map[string][]string{"telegram": {"5", "name:x"}}) {
		t.Errorf("ElevatedGates = %+v", gates)
	}
}
