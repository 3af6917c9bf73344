package approval

import (
	"slices"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

// meaning is what a document says for some agents, without what a write may change: ids,
// key paths, and the order of entries.
func meaning(t *testing.T, text []byte) string {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatalf("what was written cannot be used: %v\n%s", err, text)
	}
	agents := []string{"main", "other", everybody, olderMain}
	for id := range d.agents {
		agents = append(agents, id)
	}
	slices.Sort(agents)
	var b strings.Builder
	for _, agent := range slices.Compact(agents) {
		h, entries := d.For(agent)
		var list []string
		for _, e := range entries {
			list = append(list, strings.Join([]string{e.Agent, e.Pattern, e.ArgPattern, e.Source}, "\x00"))
		}
		slices.Sort(list)
		skills := "no skills"
		if h.AutoAllowSkills {
			skills = "skills"
		}
		b.WriteString(strings.Join([]string{agent, string(h.Security), string(h.Ask), string(h.AskFallback), skills, strings.Join(list, "\n")}, " ") + "\n")
	}
	return b.String()
}

// FuzzEdit reads a document as an edit does, writes it strictly, and wants the same meaning
// and hash; then it adds an entry and takes it away again.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{version: 1, defaults: {security: "deny"}, agents: {"*": {allowlist: ["/a", {pattern: "b"}]}}}`,
		`{agents: {Default: {ask: "off", autoAllowSkills: true, allowlist: ["/a"]}, MAIN: {ask: null, autoAllowSkills: false, allowlist: null, n: 0x10}}, x: -Infinity}`,
		"// c\n{agents: {main: {allowlist: [null, 7, '', {pattern: 'x', argPattern: ''}, {pattern: 'x', argpattern: 'y'}, {id: 5, pattern: 'x', source: 1}]}}, s: '\\u2028\u2029'}",
		`{agents: {default: null, main: {security: "allowlist"}, "Ünï": {}}, socket: {token: "t"}, n: [.5, 5., +1e3, 1e999, -0]}`,
		`{agents: {default: {allowlist: null, ask: "always", autoAllowSkills: 1}, main: {allowlist: ["/b"], ask: "off"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, err := understand(src)
		if err != nil {
			return
		}
		before, err := hashOf(root)
		if err != nil {
			t.Fatal(err)
		}
		want := meaning(t, src)
		normalise(root, newUUID)
		strict := mustWrite(t, root)
		if got := meaning(t, strict); got != want {
			t.Fatalf("before %q\nafter  %q\n%s", want, got, strict)
		}
		again, err := understand(strict)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := hashOf(again); err != nil || after != before && before != missingHash {
			t.Fatalf("hash %s, then %s, %v\n%s", before, after, err, strict)
		}
		if normalise(again, newUUID); string(mustWrite(t, again)) != string(strict) {
			t.Fatalf("written twice:\n%s\n%s", strict, mustWrite(t, again))
		}
		addAndTell(t, again, strict)
	})
}

// addAndTell adds an entry that was not there, which then is there, and changes nothing else.
func addAndTell(t *testing.T, root *object, strict []byte) {
	t.Helper()
	const pattern = "/an/entry/that/is/new"
	if strings.Contains(string(strict), pattern) {
		return
	}
	if _, added := addTo(scopeOf(root, "main"), policy.Entry{Pattern: pattern}); !added {
		t.Fatal("it is there already")
	}
	text := mustWrite(t, root)
	old, err := Parse(strict)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	_, was := old.For("main")
	_, is := d.For("main")
	if len(is) != len(was)+1 || is[len(is)-1].Pattern != pattern || !slices.Equal(is[:len(was)], was) {
		t.Fatalf("entries %+v, then %+v", was, is)
	}
}

func mustWrite(t *testing.T, root *object) []byte {
	t.Helper()
	text, err := root.write()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
