package config

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// MainAgent is the agent that is there without being configured.
const MainAgent = "main"

// agent is one entry of agents.entries or agents.list, read over the global sections.
type agent struct {
	path      string // where it stands, e.g. "agents.list[0]"
	workspace string // "" = not set
	exec      Exec
	tools     toolScope
	sandbox   Sandbox
}

// agentID keeps out what would break a session key (agent:ID:main) or a file name.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// fold makes ids equal that differ in case only, so that no spelling of an agent's id
// escapes the settings made for it.
func fold(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

func (c *Config) agent(id string) *agent { return c.agents[fold(id)] }

// AgentIDs lists the agents, "main" first, the others sorted, all in lower case.
// "main" is there even when the file does not name it.
func (c *Config) AgentIDs() []string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(c.agents)), func(id string) bool { return id == MainAgent })
	return append([]string{MainAgent}, others...)
}

// Workspace is the agent's working folder: its own, else agents.defaults.workspace,
// else StateDir/workspace. It is absolute and need not exist.
func (c *Config) Workspace(agentID string) string {
	if a := c.agent(agentID); a != nil && a.workspace != "" {
		return a.workspace
	}
	if c.workspace != "" {
		return c.workspace
	}
	return filepath.Join(c.StateDir, "workspace")
}

func (c *Config) readAgents(l *loader, agents value) {
	var entries, list value
	agents.section(lenient, nil, []field{
		{key: "defaults", read: func(v value) {
			v.section(lenient, nil, []field{
				{key: "workspace", read: folder(&c.workspace)},
				{key: "sandbox", read: c.sandbox.read},
				{key: "elevatedDefault", read: word(&c.ElevatedDefault, "off", "on", "ask", "full")},
				{key: "timeoutSeconds", read: whole(&c.AgentTimeoutSec, 0, maxSeconds)},
				{key: "tools", note: "has no effect: tool settings for all agents belong into the top-level tools section"},
			})
		}},
		{key: "entries", read: keep(&entries)},
		{key: "list", read: keep(&list)},
	})
	entries.each(func(id string, v value) { c.readAgent(id, v) })
	list.items("an array of agents", func(v value) {
		if v.kind() != kindObject {
			v.fail("expected an object, found " + v.kind().String())
			return
		}
		var id string
		if m := v.node.Get("id"); m != nil {
			text(&id)(value{l, m.Value, v.path + ".id"})
		} else {
			v.fail("expected an id in each agent of the list")
			return
		}
		c.readAgent(id, v)
	})
}

func (c *Config) readAgent(id string, v value) {
	if !agentID.MatchString(strings.TrimSpace(id)) {
		v.fail("expected an agent id of at most 64 letters, digits, dots, hyphens and underscores")
		return
	}
	if earlier := c.agent(id); earlier != nil {
		v.fail("agent " + fold(id) + " is already given as " + earlier.path + "; keep one")
		return
	}
	a := &agent{path: v.path, exec: c.exec, sandbox: c.sandbox.clone()}
	var tools, exec value
	v.section(lenient, nil, []field{
		{key: "id", read: keep(new(value))},
		{key: "workspace", read: folder(&a.workspace)},
		{key: "sandbox", read: a.sandbox.read},
		{key: "tools", read: keep(&tools)},
		{key: "exec", read: keep(&exec)}, // the older form, as at the top level
	})
	a.tools = readTools(tools, v.path+".tools")
	readExec(&a.exec, a.tools.exec, exec)
	c.agents[fold(id)] = a
}
