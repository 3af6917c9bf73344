package approval

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"openclaw/internal/policy"
)

func TestA1_AddAndRemove(t *testing.T) {
	ctx := t.Context()
	p := newPaper(t, "")
	id := p.add("main", "git")
	again, added, err := p.Add(ctx, "MAIN", policy.Entry{Pattern: "git"})
	if err != nil || added || again != id {
		t.Errorf("the same once more: %q %v %v", again, added, err)
	}
	other, added, err := p.Add(ctx, "main", policy.Entry{Pattern: "git", ArgPattern: "^status$"})
	if err != nil || !added || other == id {
		t.Errorf("with arguments: %q %v %v", other, added, err)
	}
	p.add("*", "git")
	before := p.text()
	for _, c := range []struct {
		agent string
		e     policy.Entry
	}{
		{"main", policy.Entry{}},
		{"main", policy.Entry{Pattern: "=x"}},
		{"main", policy.Entry{Pattern: "x", ArgPattern: "("}},
		{"", policy.Entry{Pattern: "x"}},
		{"Default", policy.Entry{Pattern: "x"}},
	} {
		if _, _, err := p.Add(ctx, c.agent, c.e); err == nil {
			t.Errorf("%q %+v was added", c.agent, c.e)
		}
	}
	if err := p.AddAlways(ctx, "default", []policy.StoredEntry{{Pattern: "/x"}}, "x"); err == nil {
		t.Error("another agent's entry went to main")
	}
	if err := p.SetWords(ctx, "default", Words{Security: "full"}); err == nil {
		t.Error("another agent's word went to main")
	}
	if removed, err := p.Remove(ctx, "main", "nothing"); err != nil || len(removed) != 0 {
		t.Errorf("removed %+v %v", removed, err)
	}
	if p.text() != before {
		t.Error("a change that was none changed the document")
	}
	if removed, err := p.Remove(ctx, "main", other); err != nil || len(removed) != 1 || removed[0].ArgPattern != "^status$" {
		t.Errorf("by id: %+v %v", removed, err)
	}
	if removed, err := p.Remove(ctx, "main", "git"); err != nil || len(removed) != 1 || removed[0].ID != id {
		t.Errorf("by pattern: %+v %v", removed, err)
	}
	if agents, err := p.Agents(); err != nil || strings.Join(agents, " ") != "* main" {
		t.Errorf("agents %q %v", agents, err)
	}
	if h, err := NewReader(p.dir, "").For("main"); err != nil || h.List.Len() != 1 {
		t.Errorf("everybody's entry: %+v %v", h, err)
	}
}

func TestA1_Words(t *testing.T) {
	ctx := t.Context()
	yes := true
	p := newPaper(t, "")
	for _, c := range []struct {
		agent string
		w     Words
		want  string // "" = refused
	}{
		{"", Words{Security: "deny", Ask: "on-miss"}, "deny on-miss  false"},
		{"Main", Words{Security: "allowlist", AskFallback: "full", AutoAllowSkills: &yes}, "allowlist on-miss full true"},
		{"main", Words{Security: "Full"}, ""},
		{"main", Words{Ask: "never"}, ""},
		{"main", Words{Security: "-", AskFallback: "-"}, "deny on-miss  true"},
	} {
		err := p.SetWords(ctx, c.agent, c.w)
		if (err == nil) != (c.want != "") {
			t.Errorf("%+v: %v", c.w, err)
		}
		h, err := NewReader(p.dir, "").For("main")
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintln(h.Policy.Security, h.Policy.Ask, h.Policy.AskFallback, h.Policy.AutoAllowSkills)
		if c.want != "" && got != c.want+"\n" {
			t.Errorf("%+v: %s, want %s", c.w, got, c.want)
		}
	}
}

func TestA31_AddAlways(t *testing.T) {
	ctx := t.Context()
	p := newPaper(t, "")
	entries := []policy.StoredEntry{{Pattern: "/usr/bin/a", ArgPattern: "sha256:cwd-argv:v1:" + strings.Repeat("0", 64)}, {Pattern: "/usr/bin/b"}}
	command := "TOKEN=hunter2hunter2 a " + strings.Repeat("ä", maxCommand)
	for range 2 {
		if err := p.AddAlways(ctx, "main", entries, command); err != nil {
			t.Fatal(err)
		}
	}
	var d struct {
		Agents map[string]struct {
			Allowlist []struct{ ID, Pattern, Source, CommandText, LastResolvedPath string }
		}
	}
	if err := json.Unmarshal([]byte(p.text()), &d); err != nil {
		t.Fatal(err)
	}
	list := d.Agents["main"].Allowlist
	if len(list) != 2 {
		t.Fatalf("entries %+v", list)
	}
	for i, e := range list {
		if e.ID == "" || e.Pattern != entries[i].Pattern || e.Source != "allow-always" || e.LastResolvedPath != e.Pattern {
			t.Errorf("entry %+v", e)
		}
		if strings.Contains(e.CommandText, "hunter2") || len(e.CommandText) > maxCommand || !strings.HasSuffix(e.CommandText, "(cut)") {
			t.Errorf("command of %d bytes: %q", len(e.CommandText), e.CommandText)
		}
	}
	if err := p.AddAlways(ctx, "main", nil, command); err == nil {
		t.Error("nothing was stored without an error")
	}
}

func TestA1_TooLargeIsNotWritten(t *testing.T) {
	p := newPaper(t, `{later: "`+strings.Repeat("x", maxFile-200)+`"}`)
	before := p.text()
	if _, _, err := p.Add(t.Context(), "main", policy.Entry{Pattern: strings.Repeat("y", 300)}); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("%v", err)
	}
	if p.text() != before {
		t.Error("it was changed")
	}
}

// A document that is changed in place, with its size kept and within one step of the clock,
// is read as it is all the same.
func TestA3_SameSizeSameTick(t *testing.T) {
	p := newPaper(t, "")
	r := NewReader(p.dir, "")
	for i := range 300 {
		want := policy.AskOff
		if i%2 == 1 {
			want = "alw"
		}
		text := map[policy.Ask]string{policy.AskOff: `{defaults: {ask: "off"   }}`, "alw": `{defaults: {ask: "always"}}`}[want]
		if err := os.WriteFile(p.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := r.For("main")
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Policy.Ask; got[:3] != want[:3] {
			t.Fatalf("change %d: %s, want %s", i, got, want)
		}
	}
}

// After it has settled an unchanged document is not read again.
func TestA3_SettledIsNotRead(t *testing.T) {
	p := newPaper(t, `{agents: {main: {allowlist: ["x"]}}}`)
	r := NewReader(p.dir, "")
	time.Sleep(settling + 20*time.Millisecond)
	if _, err := r.For("main"); err != nil {
		t.Fatal(err)
	}
	if !r.settled {
		t.Fatal("it has not settled")
	}
	r.sum = [32]byte{} // would be seen if it were read
	if _, err := r.For("main"); err != nil || r.sum != [32]byte{} {
		t.Errorf("it was read again: %v", err)
	}
}

// A document that was just changed is read each time, since the next change may look alike.
func TestA3_FreshIsReadAgain(t *testing.T) {
	p := newPaper(t, `{agents: {main: {allowlist: ["x"]}}}`)
	r := NewReader(p.dir, "")
	first, err := r.For("main")
	if err != nil {
		t.Fatal(err)
	}
	r.settled = false // a slow machine may have taken longer than that
	r.sum = [32]byte{}
	if again, err := r.For("main"); err != nil || r.sum == [32]byte{} || again == first {
		t.Errorf("it was not read again: %v", err)
	}
}
