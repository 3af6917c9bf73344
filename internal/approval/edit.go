package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/redact"
)

// Words are the policy words of one scope; "" is not set.
type Words struct {
	Security, Ask, AskFallback string
	AutoAllowSkills            *bool
}

// Add puts an entry on an agent's list and returns its id. One with the same pattern and
// argPattern is there once: then added is false and the id is the one it has.
func (f *File) Add(ctx context.Context, agent string, e policy.Entry) (id string, added bool, err error) {
	if e.Pattern == "" {
		return "", false, errors.New("an entry needs a pattern")
	}
	if err := ownsList(agent); err != nil {
		return "", false, err
	}
	if useless := policy.Compile([]policy.Entry{e}, "/").Useless(); len(useless) > 0 {
		return "", false, fmt.Errorf("the entry would match nothing: %s", useless[0])
	}
	err = f.edit(ctx, func(root *object) (bool, error) {
		id, added = addTo(scopeOf(root, agent), e)
		return added, nil
	})
	return id, added, err
}

// ownsList refuses names under which a list would be somebody else's or nobody's.
func ownsList(agent string) error {
	switch strings.ToLower(agent) {
	case "":
		return errors.New("an entry needs an agent; * is all agents")
	case olderMain:
		return notOwn(agent)
	}
	return nil
}

func notOwn(agent string) error {
	return fmt.Errorf("the approvals document cannot hold anything for an agent named %q: that is its older name for %s; name the agent otherwise", agent, mainAgent)
}

func addTo(scope *object, e policy.Entry) (id string, added bool) {
	list, _ := scope.get("allowlist").([]any)
	for _, have := range list {
		if o, ok := have.(*object); ok && o.text("pattern") == e.Pattern && o.text("argPattern") == e.ArgPattern {
			return o.text("id"), false
		}
	}
	o := entryObject(newUUID(), e.Pattern)
	if e.ArgPattern != "" {
		o.set("argPattern", e.ArgPattern)
	}
	if e.Source != "" {
		o.set("source", e.Source)
	}
	scope.set("allowlist", append(list, o))
	return o.text("id"), true
}

// AddAlways stores what an answer allow-always promised; entries that are there
// already are not doubled. The command is kept for people, with secrets masked.
func (f *File) AddAlways(ctx context.Context, agent string, entries []policy.StoredEntry, command string) error {
	if len(entries) == 0 {
		return errors.New("there is nothing to store")
	}
	if err := ownsList(agent); err != nil {
		return err
	}
	err := f.edit(ctx, func(root *object) (bool, error) {
		scope := scopeOf(root, agent)
		changed := false
		for _, e := range entries {
			_, added := addTo(scope, policy.Entry{Pattern: e.Pattern, ArgPattern: e.ArgPattern, Source: "allow-always"})
			if !added {
				continue
			}
			changed = true
			list, _ := scope.get("allowlist").([]any)
			if o, ok := list[len(list)-1].(*object); ok {
				o.set("commandText", shortCommand(command))
				o.set("lastUsedAt", json.Number(fmt.Sprint(time.Now().UnixMilli())))
				o.set("lastResolvedPath", e.Pattern)
			}
		}
		return changed, nil
	})
	return err
}

// maxCommand bounds a command that is kept with an entry for people, in bytes: the document
// is read by every call, and an agent must not be able to fill it.
const maxCommand = 1000

// shortCommand is a command as an entry keeps it: secrets masked, and a long one cut.
func shortCommand(command string) string {
	const cut = " ... (cut)"
	text := strings.ToValidUTF8(redact.Text(command), "\uFFFD")
	if len(text) <= maxCommand {
		return text
	}
	return strings.ToValidUTF8(text[:maxCommand-len(cut)], "") + cut
}

// Remove takes the entries with that id or pattern off an agent's list and returns them.
func (f *File) Remove(ctx context.Context, agent, idOrPattern string) (removed []policy.Entry, err error) {
	err = f.edit(ctx, func(root *object) (bool, error) {
		scope := scopeOf(root, agent)
		list, _ := scope.get("allowlist").([]any)
		kept := make([]any, 0, len(list))
		for _, e := range list {
			o, ok := e.(*object)
			if ok && (o.text("id") == idOrPattern || o.text("pattern") == idOrPattern) {
				removed = append(removed, policy.Entry{ID: o.text("id"), Pattern: o.text("pattern"), ArgPattern: o.text("argPattern"), Source: o.text("source"), Agent: agent})
				continue
			}
			kept = append(kept, e)
		}
		scope.set("allowlist", kept)
		return len(removed) > 0, nil
	})
	return removed, err
}

// SetWords sets the policy words of an agent, "" = the defaults; "-" takes a word away.
func (f *File) SetWords(ctx context.Context, agent string, w Words) error {
	if strings.EqualFold(agent, olderMain) {
		return notOwn(agent)
	}
	err := f.edit(ctx, func(root *object) (bool, error) {
		scope := scopeOf(root, agent)
		for key, word := range map[string]string{"security": w.Security, "ask": w.Ask, "askFallback": w.AskFallback} {
			switch word {
			case "":
			case "-":
				scope.drop(key)
			default:
				scope.set(key, word)
			}
		}
		if w.AutoAllowSkills != nil {
			scope.set("autoAllowSkills", *w.AutoAllowSkills)
		}
		return true, nil
	})
	return err
}

// Agents lists the agents the document names.
func (f *File) Agents() ([]string, error) {
	root, _, err := f.load()
	if err != nil {
		return nil, err
	}
	return agentIDs(root), nil
}
