package approval

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

func TestA1_Layers(t *testing.T) {
	d, err := Parse([]byte(`// JSON5 is read too
	{ version: 1, unknown: {},
	  defaults: { security: "deny", ask: "on-miss", askFallback: "deny" },
	  agents: {
	    "*": { security: "allowlist", allowlist: ["/usr/bin/ls", {pattern: "rg"}] },
	    Main: { ask: "off", autoAllowSkills: true, allowlist: [{id: "1", pattern: "~/bin/*", argPattern: "^a$", source: "x", lastUsedAt: 1}], ask2: 3 },
	    other: null,
	  } }`))
	if err != nil {
		t.Fatal(err)
	}
	h, entries := d.For("main")
	if h.Security != policy.Allowlist || h.Ask != policy.AskOff || h.AskFallback != policy.Deny || !h.AutoAllowSkills {
		t.Errorf("policy %+v", h)
	}
	if h.SecuritySource != `exec-approvals.json: agents["*"].security` || h.AskSource != "exec-approvals.json: agents.Main.ask" {
		t.Errorf("sources %q %q", h.SecuritySource, h.AskSource)
	}
	want := []policy.Entry{
		{Pattern: "/usr/bin/ls", Agent: "*"},
		{Pattern: "rg", Agent: "*"},
		{ID: "1", Pattern: "~/bin/*", ArgPattern: "^a$", Source: "x", Agent: "main"},
	}
	if len(entries) != len(want) {
		t.Fatalf("entries %+v", entries)
	}
	for i := range want {
		if entries[i] != want[i] {
			t.Errorf("entry %+v, want %+v", entries[i], want[i])
		}
	}
	if h, entries := d.For("nobody"); h.Ask != policy.AskOnMiss || len(entries) != 2 {
		t.Errorf("an agent that is not named: %+v %d", h, len(entries))
	}
}

func TestA2_Damaged(t *testing.T) {
	for _, src := range []string{
		``, `[]`, `{`, `{version: 2}`, `{version: "1"}`, `{version: 0}`, `{defaults: 1}`, `{defaults: {security: "ful"}}`, `{defaults: {security: 1}}`,
		`{defaults: {ask: "Always"}}`, `{defaults: {askFallback: "ask"}}`, `{agents: []}`, `{agents: {main: 1}}`, `{agents: {main: {allowlist: {}}}}`,
		`{agents: {main: {}, MAIN: {}}}`, `{agents: {main: {security: "deny", security: "full"}}}`,
	} {
		if _, err := Parse([]byte(src)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want damaged", src, err)
		}
	}
}

func TestA2_NeverLooser(t *testing.T) {
	d, err := Parse([]byte(`{agents: {default: {security: "deny", allowlist: ["/a"]}, main: {security: "full", ask: null, allowlist: [
		null, 7, "", {}, {pattern: 5}, {pattern: "/b", argPattern: 5}, {pattern: "/b", argpattern: "^x$"}, {pattern: "/b", argPattern: ""}, {pattern: "/c", argPattern: null}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	h, entries := d.For("main")
	if h.Security != policy.Deny {
		t.Errorf("security %s of two keys for one agent, want the stricter", h.Security)
	}
	var patterns []string
	for _, e := range entries {
		patterns = append(patterns, e.Pattern)
	}
	if got := strings.Join(patterns, " "); got != "/a /c" {
		t.Errorf("entries %q", got)
	}
}

func TestA3_Reader(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	r := NewReader(dir, "/home/u")
	if h, err := r.For("main"); err != nil || h.Exists {
		t.Fatalf("no document: %+v %v", h, err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(`{agents: {main: {allowlist: ["/usr/bin/ls"]}}}`)
	first, err := r.For("main")
	if err != nil || first.List.Len() != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	if again, _ := r.For("main"); again != first {
		t.Error("it was read again without a change")
	}
	write(`{agents: {main: {allowlist: ["/usr/bin/ls", "/usr/bin/id"]}}}`)
	if h, err := r.For("main"); err != nil || h.List.Len() != 2 {
		t.Errorf("after an edit: %+v %v", h, err)
	}
	write(`{`)
	if _, err := r.For("main"); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, SeenName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.For("main"); !errors.Is(err, ErrDamaged) {
		t.Errorf("gone: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{version: 1, defaults: {security: "deny"}, agents: {"*": {allowlist: ["/a", {pattern: "b"}]}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Parse(src)
		if err != nil {
			return
		}
		h, _ := d.For("main")
		if h.Security != "" && !h.Security.Valid() || h.Ask != "" && !h.Ask.Valid() || h.AskFallback != "" && !h.AskFallback.Valid() {
			t.Errorf("a word that nobody knows: %+v", h)
		}
	})
}
