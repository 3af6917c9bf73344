package approval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

// paper is a document in a state directory of its own.
type paper struct {
	t   *testing.T
	dir string
	*File
}

func newPaper(t *testing.T, text string) *paper {
	t.Helper()
	p := &paper{t: t, dir: t.TempDir()}
	p.File = NewFile(p.dir)
	if text != "" {
		p.put(text)
	}
	return p
}

// put writes the document as an editor does.
func (p *paper) put(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.Path()+".new", []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(p.Path()+".new", p.Path()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *paper) text() string {
	p.t.Helper()
	data, err := os.ReadFile(p.Path())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *paper) hash() string {
	p.t.Helper()
	_, hash, _, err := p.Read()
	if err != nil {
		p.t.Fatal(err)
	}
	return hash
}

func (p *paper) add(agent, pattern string) string {
	p.t.Helper()
	id, _, err := p.Add(p.t.Context(), agent, policy.Entry{Pattern: pattern})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

var uuid = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)

// squeezed is a document without layout, with ID for ids that were made.
func squeezed(text string) string {
	return regexp.MustCompile(`\s`).ReplaceAllString(uuid.ReplaceAllString(text, "ID"), "")
}

func TestA2_WrittenStrictly(t *testing.T) {
	const x = `{"id":ID,"pattern":"x"}`
	for _, c := range []struct{ name, before, after string }{
		{"missing", ``, `{"version":1,"agents":{"main":{"allowlist":[` + x + `]}}}`},
		{
			"JSON5", `{agents: {main: {ask: 'off', /* why */}}, n: .5, h: 0xffffffffffffffff,}`,
			`{"version":1,"agents":{"main":{"ask":"off","allowlist":[` + x + `]}},"n":0.5,"h":18446744073709551615}`,
		},
		{
			"unknown keys", `{version: 1, later: {a: [1, null]}, agents: {main: {later: 1, allowlist: [{id: "1", pattern: "y", later: {}}, 7]}}}`,
			`{"version":1,"later":{"a":[1,null]},"agents":{"main":{"later":1,"allowlist":[{"id":"1","pattern":"y","later":{}},7,` + x + `]}}}`,
		},
		{
			"legacy strings and nulls", `{socket: null, agents: {work: null, main: {ask: null, allowlist: ["y", null, {pattern: "z", argPattern: null}]}}}`,
			`{"version":1,"agents":{"main":{"allowlist":[{"id":ID,"pattern":"y"},{"id":ID,"pattern":"z"},` + x + `]}}}`,
		},
		{
			"ids that are none", `{agents: {main: {allowlist: [{pattern: "y", id: 5}, {pattern: "z", id: ""}]}}}`,
			`{"version":1,"agents":{"main":{"allowlist":[{"id":ID,"pattern":"y"},{"id":ID,"pattern":"z"},` + x + `]}}}`,
		},
		{
			"default", `{agents: {Default: {security: "deny", allowlist: ["y"]}}}`,
			`{"version":1,"agents":{"main":{"security":"deny","allowlist":[{"id":ID,"pattern":"y"},` + x + `]}}}`,
		},
		{
			"default and main", `{agents: {default: {security: "deny", ask: "off", autoAllowSkills: true, allowlist: ["y"]}, MAIN: {security: "full", ask: "always", autoAllowSkills: false, allowlist: ["z"]}}}`,
			`{"version":1,"agents":{"MAIN":{"security":"deny","ask":"always","autoAllowSkills":false,"allowlist":[{"id":ID,"pattern":"y"},{"id":ID,"pattern":"z"},` + x + `]}}}`,
		},
		{
			"entries that match nothing", `{agents: {main: {allowlist: [{id: "1", pattern: "=node-command:1"}, {id: "2", pattern: "y", argPattern: "("}]}}}`,
			`{"version":1,"agents":{"main":{"allowlist":[{"id":"1","pattern":"=node-command:1"},{"id":"2","pattern":"y","argPattern":"("},` + x + `]}}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaper(t, c.before)
			p.add("main", "x")
			if got := squeezed(p.text()); got != c.after {
				t.Errorf("got  %s\nwant %s", got, c.after)
			}
			info, err := os.Stat(p.Path())
			if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if was, err := exists(filepath.Join(p.dir, SeenName)); !was || err != nil {
				t.Errorf("marker %v, %v", was, err)
			}
		})
	}
}

func TestA2_UnusableEntriesMatchNothing(t *testing.T) {
	p := newPaper(t, `{agents: {main: {allowlist: [{id: "1", pattern: "=node-command:1"}, {id: "2", pattern: "y", argPattern: "("}, {id: "3", pattern: "z"}]}}}`)
	h, err := NewReader(p.dir, "/home/u").For("main")
	if err != nil || h.List.Len() != 1 || len(h.List.Useless()) != 2 {
		t.Errorf("%+v %v", h, err)
	}
}

func TestA2_CommentsAreKeptBeside(t *testing.T) {
	const before = "{ // because\n agents: {main: {allowlist: ['y']}} }"
	p := newPaper(t, before)
	p.add("main", "x")
	p.add("main", "z")
	if strings.Contains(p.text(), "because") {
		t.Error("the document is not strict")
	}
	if bak, err := os.ReadFile(p.Path() + ".bak"); err != nil || string(bak) != before {
		t.Errorf("kept %q, %v", bak, err)
	}
}

// spoilt are documents that cannot be relied on.
func spoilt(t *testing.T) map[string]*paper {
	link := newPaper(t, "")
	if err := os.Symlink(filepath.Join(link.dir, "nowhere"), link.Path()); err != nil {
		t.Fatal(err)
	}
	folder := newPaper(t, "")
	if err := os.Mkdir(folder.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	all := map[string]*paper{
		"syntax error": newPaper(t, `{"version": 1, "agents": {"main": {"allowlist": [{"pattern": "x"}}}`),
		"empty":        newPaper(t, " "),
		"word":         newPaper(t, `{defaults: {security: "Deny"}}`),
		"newer":        newPaper(t, `{version: 2}`),
		"cut":          newPaper(t, "{\"version\": 1,\x00\x00\x00"),
		"no number":    newPaper(t, `{later: NaN}`),
		"dead link":    link,
		"folder":       folder,
	}
	if runtime.GOOS != "windows" {
		open := newPaper(t, `{}`)
		if err := os.Chmod(open.Path(), 0o622); err != nil {
			t.Fatal(err)
		}
		all["open to others"] = open
	}
	if os.Geteuid() == 0 {
		foreign := newPaper(t, `{}`)
		if err := os.Chown(foreign.Path(), 12345, -1); err != nil {
			t.Fatal(err)
		}
		all["somebody else's"] = foreign
	}
	return all
}

func TestA2_DamagedIsNeverReplaced(t *testing.T) {
	ctx := t.Context()
	for name, p := range spoilt(t) {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(p.Path())
			_, _, err := p.Add(ctx, "main", policy.Entry{Pattern: "x"})
			_, removeErr := p.Remove(ctx, "main", "x")
			_, setErr := p.Replace(ctx, "", []byte(`{}`), false)
			_, _, _, readErr := p.Read()
			_, _, _, viewErr := p.View()
			for what, err := range map[string]error{
				"add": err, "remove": removeErr, "replace": setErr, "read": readErr, "view": viewErr,
				"words":  p.SetWords(ctx, "", Words{Security: "full"}),
				"always": p.AddAlways(ctx, "main", []policy.StoredEntry{{Pattern: "/x"}}, "x"),
			} {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("%s: %v, want damaged", what, err)
				}
			}
			if name != "no number" { // the judge has no use for that number
				if _, err := NewReader(p.dir, "").For("main"); !errors.Is(err, ErrDamaged) {
					t.Errorf("judged: %v, want damaged", err)
				}
			}
			if after, _ := os.ReadFile(p.Path()); string(after) != string(before) {
				t.Errorf("it was changed to %q", after)
			}
			for range 2 { // what was kept first stays
				if _, err := p.Replace(ctx, "", []byte(`{defaults: {security: "deny"}}`), true); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := filepath.Glob(p.Path() + ".damaged-*")
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept %q, %v", kept, err)
			}
			if was, _ := os.ReadFile(kept[0]); string(was) != string(before) {
				t.Errorf("kept %q", was)
			}
			if h, err := NewReader(p.dir, "").For("main"); err != nil || h.Policy.Security != policy.Deny {
				t.Errorf("after force: %+v %v", h, err)
			}
		})
	}
}

func TestA2_Gone(t *testing.T) {
	ctx := t.Context()
	for _, seenBy := range []string{"reader", "writer"} {
		p := newPaper(t, "")
		if seenBy == "reader" {
			p.put(`{}`)
			if _, err := NewReader(p.dir, "").For("main"); err != nil {
				t.Fatal(err)
			}
		} else {
			p.add("main", "x")
		}
		if err := os.Remove(p.Path()); err != nil {
			t.Fatal(err)
		}
		if _, err := NewReader(p.dir, "").For("main"); !errors.Is(err, ErrDamaged) {
			t.Errorf("judged: %v, want damaged", err)
		}
		if _, _, err := p.Add(ctx, "main", policy.Entry{Pattern: "x"}); !errors.Is(err, ErrDamaged) {
			t.Errorf("add: %v, want damaged", err)
		}
		if _, err := p.Replace(ctx, "an older hash", []byte(`{}`), false); !errors.Is(err, ErrStale) {
			t.Errorf("replace by a hash that nothing has: %v", err)
		}
		if _, err := p.Replace(ctx, "", []byte(`{}`), false); err != nil {
			t.Errorf("replace: %v", err)
		}
		if _, err := NewReader(p.dir, "").For("main"); err != nil {
			t.Errorf("after replace: %v", err)
		}
	}
}

func TestA2_MarkerThatCannotBeLookedAt(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		dir := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := mayBeMissing(dir); runtime.GOOS != "windows" && !errors.Is(err, ErrDamaged) {
			t.Errorf("below a file: %v, want damaged", err)
		}
		return
	}
	p := newPaper(t, "")
	if err := os.Chmod(p.dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(p.dir, 0o700) //nolint:errcheck,gosec // for the cleanup
	if err := mayBeMissing(p.dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want damaged", err)
	}
}

func TestA2_Elsewhere(t *testing.T) {
	p := newPaper(t, "")
	other := filepath.Join(p.dir, "state", "openclaw.sqlite")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(other), "exec.db"), nil, 0o600); err != nil { // ours
		t.Fatal(err)
	}
	r := NewReader(p.dir, "")
	if _, err := r.For("main"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("SQLite format 3\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := r.For("main")
	_, _, addErr := p.Add(t.Context(), "main", policy.Entry{Pattern: "x"})
	for what, err := range map[string]error{"judged": err, "add": addErr} {
		if !errors.Is(err, ErrElsewhere) || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "openclaw approvals import") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Lstat(p.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a document was made: %v", err)
	}
	if _, err := p.Replace(t.Context(), "", []byte(`{}`), false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.For("main"); err != nil {
		t.Errorf("a document stands: %v", err)
	}
}

func TestA60_Replace(t *testing.T) {
	ctx := t.Context()
	const first = `{socket: {path: "/s", token: "secret"}, agents: {main: {allowlist: ["x"]}}}`
	p := newPaper(t, "")
	if _, err := p.Replace(ctx, missingHash, []byte(first), false); err != nil {
		t.Fatal(err)
	}
	hash := p.hash()
	for _, c := range []struct {
		name, hash, text string
		force            bool
		want             error
	}{
		{"no hash", "", `{}`, false, ErrNeedsHash},
		{"an older hash", strings.Repeat("0", 64), `{}`, false, ErrStale},
		{"an older hash by force", strings.Repeat("0", 64), `{}`, true, ErrStale},
		{"none was there", missingHash, `{}`, false, ErrStale},
		{"damaged text", hash, `{agents: {main: {security: "no"}}}`, false, ErrDamaged},
		{"damaged text by force", "", `{`, true, ErrDamaged},
	} {
		before := p.text()
		if _, err := p.Replace(ctx, c.hash, []byte(c.text), c.force); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if p.text() != before {
			t.Errorf("%s: the document was changed", c.name)
		}
	}
	now, err := p.Replace(ctx, hash, []byte(`// mine
		{socket: {path: "/t"}, defaults: {ask: 'always'}}`), false)
	if err != nil || now != p.hash() {
		t.Fatalf("%s, %v; it has %s", now, err, p.hash())
	}
	const want = `{"version":1,"socket":{"path":"/t","token":"secret"},"defaults":{"ask":"always"}}`
	if got := squeezed(p.text()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := p.Replace(ctx, hash, []byte(`{}`), false); !errors.Is(err, ErrStale) {
		t.Errorf("the first hash again: %v", err)
	}
}
