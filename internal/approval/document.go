package approval

import (
	"fmt"
	"strings"

	"openclaw/internal/json5"
	"openclaw/internal/policy"
)

// newest is the newest version of the document that is known.
const newest = 1

// Keys of the object agents.
const (
	everybody = "*"       // what holds for all agents
	mainAgent = "main"    // the agent that is there without being configured
	olderMain = "default" // its older name
)

// Document is a document as it was read. It is not changed once made.
type Document struct {
	defaults scope
	agents   map[string]*scope // by id in lower case
}

// scope is one object with policy words.
type scope struct {
	path        string // key path, for explanations
	security    policy.Security
	ask         policy.Ask
	askFallback policy.Security
	skills      *bool
	entries     []policy.Entry
}

// Parse reads a document. An error wraps ErrDamaged and says where and why. What is
// only unknown is skipped; what cannot be understood is never read as looser than meant.
func Parse(src []byte) (*Document, error) {
	root, err := json5.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d, err := parse(root)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return d, nil
}

func parse(root *json5.Node) (*Document, error) {
	if root.Kind != json5.Object {
		return nil, misplaced(root, "", "an object")
	}
	if m := present(root, "version"); m != nil {
		version, ok := m.Int()
		if !ok || version < 1 {
			return nil, misplaced(m, "version", "a number from 1")
		}
		if version > newest {
			return nil, fmt.Errorf("it has version %d and this program knows %d; use a newer program", version, newest)
		}
	}
	d := &Document{agents: map[string]*scope{}}
	if m := present(root, "defaults"); m != nil {
		if err := d.defaults.read(m, "defaults", ""); err != nil {
			return nil, err
		}
	}
	m := present(root, "agents")
	if m == nil {
		return d, nil
	}
	if m.Kind != json5.Object {
		return nil, misplaced(m, "agents", "an object")
	}
	return d, d.readAgents(m)
}

func (d *Document) readAgents(m *json5.Node) error {
	keys := map[string]bool{}
	for _, member := range m.Members {
		if member.Value.Kind == json5.Null {
			continue
		}
		id := strings.ToLower(member.Key)
		if keys[id] {
			return fmt.Errorf("agents has %q twice in different case", member.Key)
		}
		keys[id] = true
		if id == olderMain {
			id = mainAgent
		}
		s := d.agents[id]
		if s == nil {
			s = &scope{}
			d.agents[id] = s
		}
		if err := s.read(member.Value, json5.PathKey("agents", member.Key), id); err != nil {
			return err
		}
	}
	return nil
}

// present gives a member's value, nil when it is missing or null.
func present(n *json5.Node, key string) *json5.Node {
	if m := n.Get(key); m != nil && m.Value.Kind != json5.Null {
		return m.Value
	}
	return nil
}

func misplaced(n *json5.Node, path, want string) error {
	line, column := n.Position(n.Start)
	if path == "" {
		path = "the document"
	}
	return fmt.Errorf("line %d, column %d: %s has to be %s, not %s", line, column, path, want, n.Kind)
}

// read reads one scope. Where two keys name one agent, a word that both set is the
// stricter of the two.
func (s *scope) read(n *json5.Node, path, agent string) error {
	if n.Kind != json5.Object {
		return misplaced(n, path, "an object")
	}
	s.path = path
	var w struct{ security, ask, fallback string }
	for _, f := range []struct {
		key  string
		dst  *string
		want string
	}{
		{"security", &w.security, "deny allowlist full"},
		{"ask", &w.ask, "off on-miss always"},
		{"askFallback", &w.fallback, "deny allowlist full"},
	} {
		if err := readWord(n, path, f.key, f.want, f.dst); err != nil {
			return err
		}
	}
	if w.security != "" {
		s.security = stricter(s.security, policy.Security(w.security))
	}
	if w.ask != "" && (s.ask == "" || policy.StricterAsk(s.ask, policy.Ask(w.ask)) != s.ask) {
		s.ask = policy.Ask(w.ask)
	}
	if w.fallback != "" {
		s.askFallback = stricter(s.askFallback, policy.Security(w.fallback))
	}
	if m := present(n, "autoAllowSkills"); m != nil {
		on := m.Kind == json5.Bool && m.Bool() && (s.skills == nil || *s.skills)
		s.skills = &on
	}
	list := present(n, "allowlist")
	if list == nil {
		return nil
	}
	if list.Kind != json5.Array {
		return misplaced(list, path+".allowlist", "an array")
	}
	for _, e := range list.Elements {
		if entry, ok := readEntry(e); ok {
			entry.Agent = agent
			s.entries = append(s.entries, entry)
		}
	}
	return nil
}

func stricter(a, b policy.Security) policy.Security {
	if a == "" {
		return b
	}
	return policy.StricterSecurity(a, b)
}

func readWord(n *json5.Node, path, key, want string, dst *string) error {
	m := present(n, key)
	if m == nil {
		return nil
	}
	full := json5.PathKey(path, key)
	if m.Kind != json5.String {
		return misplaced(m, full, "one of "+want)
	}
	for word := range strings.FieldsSeq(want) {
		if m.Text() == word {
			*dst = word
			return nil
		}
	}
	line, column := m.Position(m.Start)
	return fmt.Errorf("line %d, column %d: %s is %q, which is none of %s", line, column, full, m.Text(), want)
}

// readEntry reads one entry; one that cannot be understood is none, since without the part
// that is wrong it would allow more than meant.
func readEntry(n *json5.Node) (policy.Entry, bool) {
	if n.Kind == json5.String { // older form
		return policy.Entry{Pattern: n.Text()}, n.Text() != ""
	}
	if n.Kind != json5.Object {
		return policy.Entry{}, false
	}
	var e policy.Entry
	for _, m := range n.Members {
		if m.Key != "argPattern" && strings.EqualFold(m.Key, "argPattern") {
			return policy.Entry{}, false
		}
	}
	for key, dst := range map[string]*string{"id": &e.ID, "pattern": &e.Pattern, "argPattern": &e.ArgPattern, "source": &e.Source} {
		m := present(n, key)
		switch {
		case m == nil:
		case m.Kind == json5.String:
			*dst = m.Text()
		case key == "pattern" || key == "argPattern":
			return policy.Entry{}, false
		}
	}
	if m := present(n, "argPattern"); m != nil && m.Text() == "" {
		return policy.Entry{}, false // an empty pattern says nothing; it was not left out
	}
	return e, e.Pattern != ""
}

// For puts together what holds for an agent: defaults, then everybody's, then its own,
// field by field; the lists add up (P-3).
func (d *Document) For(agent string) (policy.HostPolicy, []policy.Entry) {
	var h policy.HostPolicy
	var entries []policy.Entry
	if d == nil {
		return h, nil
	}
	d.defaults.apply(&h)
	for _, id := range []string{everybody, strings.ToLower(agent)} {
		if s := d.agents[id]; s != nil {
			s.apply(&h)
			entries = append(entries, s.entries...)
		}
	}
	return h, entries
}

func (s *scope) apply(h *policy.HostPolicy) {
	if s.security != "" {
		h.Security, h.SecuritySource = s.security, FileName+": "+s.path+".security"
	}
	if s.ask != "" {
		h.Ask, h.AskSource = s.ask, FileName+": "+s.path+".ask"
	}
	if s.askFallback != "" {
		h.AskFallback, h.AskFallbackSource = s.askFallback, FileName+": "+s.path+".askFallback"
	}
	if s.skills != nil {
		h.AutoAllowSkills = *s.skills
	}
}
