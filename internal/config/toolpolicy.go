package config

import (
	"slices"
	"strings"
)

// toolGroups are the groups that hold tools of ours (C-20).
var toolGroups = map[string][]string{
	"runtime": {"exec", "process"},
	"fs":      {"read", "write", "edit", "apply_patch"},
}

// knownGroups are all groups of OpenClaw; those not in toolGroups hold nothing of ours.
var knownGroups = []string{
	"runtime", "fs", "sessions", "memory", "web", "ui", "automation", "messaging",
	"nodes", "agents", "media", "openclaw", "plugins",
}

// profileGroups are the groups a profile starts from; "full" and no profile admit all.
var profileGroups = map[string][]string{
	"minimal":   nil,
	"messaging": nil,
	"coding":    {"runtime", "fs"},
}

// closedOverHTTP are tools of OpenClaw that the HTTP tool route does not offer unless
// gateway.tools.allow names them.
var closedOverHTTP = []string{
	"spawn", "shell", "fs_write", "fs_delete", "fs_move",
	"sessions_spawn", "sessions_send", "cron", "gateway", "nodes",
}

// ToolAllowed says whether an agent may see and call a tool, and the key that decided
// ("tools.deny", "agents.entries.main.tools.allow"); for an allowed tool that no key
// names the key is "" (C-20). Both layers, global and agent, have to agree: a deny in
// either wins, then a non-empty allow in either blocks what it does not name. The
// profile, the agent's in place of the global one, blocks likewise what neither it nor
// an alsoAllow names.
func (c *Config) ToolAllowed(agentID, tool string) (ok bool, key string) {
	layers := []toolRules{c.tools.rules}
	if a := c.agent(agentID); a != nil {
		layers = append(layers, a.tools.rules)
	}
	return judge(canonicalTool(tool), layers)
}

// SandboxToolAllowed is ToolAllowed for a call in a sandboxed session: the layers
// tools.sandbox.tools, global and agent, have to agree too (H-20).
func (c *Config) SandboxToolAllowed(agentID, tool string) (ok bool, key string) {
	if ok, key = c.ToolAllowed(agentID, tool); !ok {
		return ok, key
	}
	layers := []toolRules{c.tools.sandbox}
	if a := c.agent(agentID); a != nil {
		layers = append(layers, a.tools.sandbox)
	}
	if ok, inner := judge(canonicalTool(tool), layers); !ok || inner != "" {
		return ok, inner
	}
	return true, key
}

// GatewayToolAllowed says whether the gateway offers a tool, over the HTTP tool route as
// over MCP: gateway.tools.deny takes it away; gateway.tools.allow does not restrict, it opens
// what is closed there by default. Tool policy has to agree besides.
func (c *Config) GatewayToolAllowed(tool string) (ok bool, key string) {
	name := canonicalTool(tool)
	if matchAny(c.Gateway.ToolsDeny, name, true) {
		return false, "gateway.tools.deny"
	}
	if slices.Contains(closedOverHTTP, name) {
		return matchAny(c.Gateway.ToolsAllow, name, false), "gateway.tools.allow"
	}
	return true, ""
}

func judge(tool string, layers []toolRules) (ok bool, key string) {
	for _, layer := range layers {
		if matchAny(layer.deny, tool, true) {
			return false, layer.path + ".deny"
		}
	}
	for _, layer := range layers {
		if len(layer.allow) == 0 {
			continue
		}
		if !matchAny(layer.allow, tool, false) {
			return false, layer.path + ".allow"
		}
		key = layer.path + ".allow"
	}
	if blockedBy := profileBlocks(tool, layers); blockedBy != "" {
		return false, blockedBy
	}
	return true, key
}

// profileBlocks gives the key of the profile that does not admit the tool, or "".
func profileBlocks(tool string, layers []toolRules) string {
	profile, key := "", ""
	for _, layer := range layers {
		if layer.profile != "" {
			profile, key = layer.profile, layer.path+".profile"
		}
	}
	if profile == "" || profile == "full" {
		return ""
	}
	for _, group := range profileGroups[profile] {
		if slices.Contains(toolGroups[group], tool) {
			return ""
		}
	}
	for _, layer := range layers {
		if matchAny(layer.alsoAllow, tool, false) {
			return ""
		}
	}
	return key
}

// canonicalTool folds case and older names.
func canonicalTool(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "bash":
		return "exec"
	case "apply-patch":
		return "apply_patch"
	}
	return name
}

func matchAny(entries []string, tool string, denying bool) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return match(entry, tool, denying) })
}

// match compares one entry of a list with a tool, both canonical. Two readings are one
// way only, each to the safe side of what its writer can have meant: a glob in a deny
// list also catches exec by its older name bash, and "write" in an allow list admits
// apply_patch, while in a deny list it does not deny it (D-2).
func match(entry, tool string, denying bool) bool {
	if group, ok := strings.CutPrefix(entry, "group:"); ok {
		for name, tools := range toolGroups {
			if glob(group, name) && slices.Contains(tools, tool) {
				return true
			}
		}
		return false
	}
	if glob(entry, tool) {
		return true
	}
	if denying {
		return tool == "exec" && glob(entry, "bash")
	}
	return tool == "apply_patch" && entry == "write"
}

// glob matches the whole of s; "*" stands for any run of characters.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
