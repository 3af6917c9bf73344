package config

import "testing"

func TestC20_ToolAllowed(t *testing.T) {
	tests := []struct {
		name, tools, agent, tool string
		want                     bool
		key                      string
	}{
		{"nothing set", ``, ``, "exec", true, ""},
		{"deny", `deny: ['exec']`, ``, "exec", false, "tools.deny"},
		{"deny another", `deny: ['exec']`, ``, "process", true, ""},
		{"bash is exec", `deny: ['bash']`, ``, "exec", false, "tools.deny"},
		{"exec denied, bash asked", `deny: ['exec']`, ``, "Bash", false, "tools.deny"},
		{"case", `deny: [' ExEc ']`, ``, "EXEC", false, "tools.deny"},
		{"group runtime", `deny: ['group:runtime']`, ``, "process", false, "tools.deny"},
		{"group fs", `deny: ['group:fs']`, ``, "apply_patch", false, "tools.deny"},
		{"foreign group", `deny: ['group:web']`, ``, "exec", true, ""},
		{"all groups", `deny: ['group:*']`, ``, "exec", false, "tools.deny"},
		{"star", `deny: ['*']`, ``, "exec", false, "tools.deny"},
		{"glob", `deny: ['e*c']`, ``, "exec", false, "tools.deny"},
		{"glob in the middle", `deny: ['*pp*pat*']`, ``, "apply_patch", false, "tools.deny"},
		{"names of plugins", `deny: ['@scope/plug-in.v1', 'server__*', 'exec']`, ``, "exec", false, "tools.deny"},
		{"glob must not overlap", `deny: ['exec*c']`, ``, "exec", true, ""},
		{"denying glob catches the older name", `deny: ['ba*']`, ``, "exec", false, "tools.deny"},
		{"allowing glob does not", `allow: ['ba*']`, ``, "exec", false, "tools.allow"},
		{"allow", `allow: ['exec']`, ``, "exec", true, "tools.allow"},
		{"allow blocks the rest", `allow: ['exec']`, ``, "process", false, "tools.allow"},
		{"empty allow blocks nothing", `allow: []`, ``, "process", true, ""},
		{"deny wins over allow", `allow: ['exec'], deny: ['exec']`, ``, "exec", false, "tools.deny"},

		{"agent denies", ``, `deny: ['exec']`, "exec", false, "agents.entries.a.tools.deny"},
		{"agent allow blocks", ``, `allow: ['process']`, "exec", false, "agents.entries.a.tools.allow"},
		{"agent cannot lift a global deny", `deny: ['exec']`, `allow: ['exec']`, "exec", false, "tools.deny"},
		{"agent deny beats global allow", `allow: ['exec']`, `deny: ['*']`, "exec", false, "agents.entries.a.tools.deny"},
		{"both have to agree", `allow: ['process']`, `allow: ['exec', 'process']`, "exec", false, "tools.allow"},
		{"both agree", `allow: ['group:runtime']`, `allow: ['exec']`, "exec", true, "agents.entries.a.tools.allow"},

		{"D-2 allow write", `allow: ['write']`, ``, "apply_patch", true, "tools.allow"},
		{"D-2 deny write", `deny: ['write']`, ``, "apply_patch", true, ""},
		{"D-2 allow write, deny apply_patch", `allow: ['write'], deny: ['apply_patch']`, ``, "apply_patch", false, "tools.deny"},
		{"allow apply_patch is not write", `allow: ['apply_patch']`, ``, "write", false, "tools.allow"},
		{"allow read is not apply_patch", `allow: ['read']`, ``, "apply_patch", false, "tools.allow"},

		{"profile minimal", `profile: 'minimal'`, ``, "exec", false, "tools.profile"},
		{"profile minimal is not lifted by allow", `profile: 'minimal', allow: ['exec']`, ``, "exec", false, "tools.profile"},
		{"profile messaging", `profile: 'messaging'`, ``, "apply_patch", false, "tools.profile"},
		{"profile coding", `profile: 'coding'`, ``, "exec", true, ""},
		{"profile coding and deny", `profile: 'coding', deny: ['exec']`, ``, "exec", false, "tools.deny"},
		{"profile full", `profile: 'full'`, ``, "exec", true, ""},
		{"alsoAllow", `profile: 'minimal', alsoAllow: ['exec']`, ``, "exec", true, ""},
		{"agent's profile in place of the global", `profile: 'minimal'`, `profile: 'coding'`, "exec", true, ""},
		{"agent's narrower profile", `profile: 'coding'`, `profile: 'minimal'`, "exec", false, "agents.entries.a.tools.profile"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustParse(t, `{tools: {`+tt.tools+`}, agents: {entries: {a: {tools: {`+tt.agent+`}}}}}`)
			if ok, key := c.ToolAllowed("a", tt.tool); ok != tt.want || key != tt.key {
				t.Errorf("ToolAllowed = %v %q, want %v %q", ok, key, tt.want, tt.key)
			}
		})
	}
}

func TestC20_KeyNamesTheListForm(t *testing.T) {
	c := mustParse(t, `{agents: {list: [{id: 'x'}, {id: 'My', tools: {deny: ['exec']}}]}}`)
	if ok, key := c.ToolAllowed("MY", "exec"); ok || key != "agents.list[1].tools.deny" {
		t.Errorf("ToolAllowed = %v %q", ok, key)
	}
	if ok, _ := c.ToolAllowed("x", "exec"); !ok {
		t.Error("another agent is denied too")
	}
}

func TestH20_SandboxLayer(t *testing.T) {
	c := mustParse(t, `{tools: {sandbox: {tools: {deny: ['process']}}},
		agents: {entries: {a: {tools: {sandbox: {tools: {allow: ['exec']}}, deny: ['read']}}}}}`)
	for _, tt := range []struct {
		tool string
		want bool
		key  string
	}{
		{"exec", true, "agents.entries.a.tools.sandbox.tools.allow"},
		{"process", false, "tools.sandbox.tools.deny"},
		{"write", false, "agents.entries.a.tools.sandbox.tools.allow"},
		{"read", false, "agents.entries.a.tools.deny"},
	} {
		if ok, key := c.SandboxToolAllowed("a", tt.tool); ok != tt.want || key != tt.key {
			t.Errorf("%s: %v %q", tt.tool, ok, key)
		}
	}
	if ok, _ := c.ToolAllowed("a", "process"); !ok {
		t.Error("the sandbox layer counts outside the sandbox")
	}
}

func TestGatewayToolAllowed(t *testing.T) {
	c := mustParse(t, `{gateway: {tools: {deny: ['bash'], allow: ['cron']}}}`)
	for _, tt := range []struct {
		tool string
		want bool
		key  string
	}{
		{"exec", false, "gateway.tools.deny"},
		{"process", true, ""},
		{"apply_patch", true, ""},
		{"cron", true, "gateway.tools.allow"},
		{"nodes", false, "gateway.tools.allow"},
	} {
		if ok, key := c.GatewayToolAllowed(tt.tool); ok != tt.want || key != tt.key {
			t.Errorf("%s: %v %q", tt.tool, ok, key)
		}
	}
}

func TestUnknownGroupInAllowIsAWarning(t *testing.T) {
	c := mustParse(t, `{tools: {allow: ['group:new', 'exec']}}`)
	if len(c.Warnings) != 1 {
		t.Errorf("Warnings = %q", c.Warnings)
	}
}

func TestH31_ElevatedGates(t *testing.T) {
	c := mustParse(t, `{agents: {entries: {a: {tools: {elevated: {enabled: false}}}}}}`)
	gates := c.ElevatedGates("a")
	if len(gates) != 2 || gates[0].AllowFrom != nil || gates[1].Enabled || gates[1].Path != "agents.entries.a.tools.elevated" {
		t.Errorf("ElevatedGates = %+v", gates)
	}
}
