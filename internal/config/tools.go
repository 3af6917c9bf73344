package config

import (
	"regexp"
	"slices"
	"strings"
)

// toolScope is one tools section, of the file or of an agent.
type toolScope struct {
	rules    toolRules
	sandbox  toolRules // tools.sandbox.tools
	elevated *Elevated // nil = the section has none
	exec     value     // read by readExec, together with its older form
}

// toolRules is one layer of tool policy (C-20).
type toolRules struct {
	path                   string // of the section, to name the deciding key
	profile                string // "" = none
	allow, alsoAllow, deny []string
}

// Elevated is one gate in front of a break-glass run (H-31).
type Elevated struct {
	Path      string              // key path, to name the gate that refused
	Enabled   bool                // default true; AllowFrom decides who
	AllowFrom map[string][]string // senders by channel; nil = not given
}

// ElevatedGates gives the gates of H-31 for an agent, the global one first; all must
// pass. In the global gate an AllowFrom that is not given admits nobody, in an agent's
// it does not narrow.
func (c *Config) ElevatedGates(agentID string) []Elevated {
	gates := []Elevated{{Path: "tools.elevated", Enabled: true}}
	if c.tools.elevated != nil {
		gates[0] = *c.tools.elevated
	}
	if a := c.agent(agentID); a != nil && a.tools.elevated != nil {
		gates = append(gates, *a.tools.elevated)
	}
	return gates
}

const notApplied = "is not applied here: it restricts nothing; use allow and deny"

func readTools(v value, path string) toolScope {
	scope := toolScope{}
	scope.rules.path, scope.sandbox.path = path, path+".sandbox.tools"
	fields := append(scope.rules.fields(),
		field{key: "profile", read: word(&scope.rules.profile, "minimal", "coding", "messaging", "full")},
		field{key: "exec", read: keep(&scope.exec)},
		field{key: "elevated", read: func(v value) { scope.elevated = readElevated(v) }},
		field{key: "sandbox", read: func(v value) {
			v.section(strict, nil, []field{{key: "tools", read: func(v value) {
				v.section(strict, nil, scope.sandbox.fields())
				scope.sandbox.check(v)
			}}})
		}},
		field{key: "byProvider", note: notApplied},
		field{key: "toolsBySender", note: notApplied},
		field{key: "bash", note: "has no effect: this section is now called tools.exec"},
		field{key: "fs"},
	)
	v.section(lenient, nil, fields)
	scope.rules.check(v)
	return scope
}

func (r *toolRules) fields() []field {
	return []field{
		{key: "allow", read: toolNames(&r.allow, false)},
		{key: "alsoAllow", read: toolNames(&r.alsoAllow, false)},
		{key: "deny", read: toolNames(&r.deny, true)},
	}
}

func (r *toolRules) check(v value) {
	if len(r.allow) > 0 && len(r.alsoAllow) > 0 {
		v.fail("cannot have both allow and alsoAllow; put the names into allow")
	}
}

func readElevated(v value) *Elevated {
	e := &Elevated{Path: v.path, Enabled: true}
	v.section(strict, nil, []field{
		{key: "enabled", read: flag(&e.Enabled)},
		{key: "allowFrom", read: func(v value) {
			e.AllowFrom = map[string][]string{}
			v.each(func(channel string, v value) {
				var senders []string
				ids(&senders)(v)
				e.AllowFrom[channel] = senders
			})
		}},
	})
	return e
}

// toolName is what a tool or a group can be called, with "*" for patterns. Anything else
// names no tool, such as the rest of a shell's patterns, and would deny nothing.
var toolName = regexp.MustCompile(`^[a-z0-9_*./@-]+$`)

// toolNames reads a list of tool names, groups and globs. A group that nobody knows is
// an error in a deny list, where it would let something through, and a warning in an
// allow list, where it admits nothing.
func toolNames(dst *[]string, denying bool) reader {
	return func(v value) {
		got := []string{}
		v.items("an array of tool names", func(item value) {
			s, ok := item.str("a tool name")
			if !ok {
				return
			}
			name := canonicalTool(s)
			group, isGroup := strings.CutPrefix(name, "group:")
			if !toolName.MatchString(group) {
				item.fail("expected a tool name, group:NAME or a pattern in which * stands for any characters; nothing else is special")
				return
			}
			known := func(name string) bool { return glob(group, name) }
			if isGroup && !slices.ContainsFunc(knownGroups, known) {
				if denying {
					item.failAt(item.node.Start, "unknown tool group", groupName(nearest(group, knownGroups)))
				} else {
					item.warn("unknown tool group, admits nothing")
				}
			}
			got = append(got, name)
		})
		*dst = got
	}
}

func groupName(name string) string {
	if name == "" {
		return ""
	}
	return "group:" + name
}
