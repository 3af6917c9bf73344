package approval

import (
	"encoding/json"
	"sort"
	"strings"

	"openclaw/internal/policy"
)

// newUUID makes a random identifier.
func newUUID() string {
	return NewID(KindExec)
}

// normalise brings a document into its strict form: version, agents.default moved to
// agents.main, entries as objects with ids, nothing set to null. What is not known stays.
func normalise(root *object, id func() string) {
	root.dropNulls()
	if root.get("version") == nil {
		root.members = append([]member{{"version", json.Number("1")}}, root.members...)
	}
	if d, ok := root.get("defaults").(*object); ok {
		normaliseScope(d, id)
	}
	agents, ok := root.get("agents").(*object)
	if !ok {
		return
	}
	agents.dropNulls()
	moveDefault(agents)
	for _, m := range agents.members {
		if scope, ok := m.value.(*object); ok {
			normaliseScope(scope, id)
		}
	}
}

func normaliseScope(scope *object, id func() string) {
	scope.dropNulls()
	list, ok := scope.get("allowlist").([]any)
	if !ok {
		return
	}
	kept := make([]any, 0, len(list))
	for _, e := range list {
		switch e := e.(type) {
		case nil:
			continue
		case string:
			kept = append(kept, entryObject(id(), e))
			continue
		case *object:
			e.dropNulls()
			if e.text("id") == "" {
				e.drop("id")
				e.members = append([]member{{"id", id()}}, e.members...)
			}
		}
		kept = append(kept, e)
	}
	scope.set("allowlist", kept)
}

func entryObject(id, pattern string) *object {
	return &object{members: []member{{"id", id}, {"pattern", pattern}}}
}

// moveDefault merges agents.default, an older name, into agents.main; a word that both set
// is the stricter of the two, as Parse reads it.
func moveDefault(agents *object) {
	old, key := memberFold(agents, olderMain)
	if old == nil {
		return
	}
	agents.drop(key)
	main, _ := memberFold(agents, mainAgent)
	if main == nil {
		agents.set(mainAgent, old)
		return
	}
	for _, m := range old.members {
		switch have := main.get(m.key); {
		case have == nil:
			main.set(m.key, m.value)
		case m.value == nil:
		case m.key == "allowlist":
			a, _ := have.([]any)
			b, _ := m.value.([]any)
			main.set(m.key, append(append([]any{}, b...), a...))
		case m.key == "security" || m.key == "askFallback":
			main.set(m.key, string(policy.StricterSecurity(policy.Security(textOf(have)), policy.Security(textOf(m.value)))))
		case m.key == "ask":
			main.set(m.key, string(policy.StricterAsk(policy.Ask(textOf(have)), policy.Ask(textOf(m.value)))))
		case m.key == "autoAllowSkills":
			main.set(m.key, have == true && m.value == true)
		}
	}
}

// memberFold gives the member that is an object and has the key in any case, nil when there
// is none, and the key as it stands. It compares as Parse does.
func memberFold(o *object, key string) (*object, string) {
	key = strings.ToLower(key) // EqualFold knows more pairs than Parse
	for _, m := range o.members {
		if strings.ToLower(m.key) != key {
			continue
		}
		if scope, ok := m.value.(*object); ok {
			return scope, m.key
		}
	}
	return nil, ""
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// eachEntry visits all allowlist entries that are objects.
func eachEntry(root *object, visit func(agent string, e *object)) {
	agents, ok := root.get("agents").(*object)
	if !ok {
		return
	}
	for _, m := range agents.members {
		scope, ok := m.value.(*object)
		if !ok {
			continue
		}
		list, _ := scope.get("allowlist").([]any)
		for _, e := range list {
			if o, ok := e.(*object); ok {
				visit(m.key, o)
			}
		}
	}
}

// scopeOf gives an agent's object, made if need be; "" is the defaults'. An agent is the
// same in any case.
func scopeOf(root *object, agent string) *object {
	if agent == "" {
		d, ok := root.get("defaults").(*object)
		if !ok {
			d = &object{}
			root.set("defaults", d)
		}
		return d
	}
	agents, ok := root.get("agents").(*object)
	if !ok {
		agents = &object{}
		root.set("agents", agents)
	}
	scope, _ := memberFold(agents, agent)
	if scope != nil {
		return scope
	}
	scope = &object{}
	agents.set(agent, scope)
	return scope
}

// agentIDs lists the agents of a document.
func agentIDs(root *object) []string {
	var ids []string
	if agents, ok := root.get("agents").(*object); ok {
		for _, m := range agents.members {
			ids = append(ids, m.key)
		}
	}
	sort.Strings(ids)
	return ids
}
