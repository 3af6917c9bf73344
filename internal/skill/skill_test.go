package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestP36_Declared: the forms in which skills declare programs, and what is not read.
func TestP36_Declared(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, c := range map[string]struct{ text, want string }{
		"one line":       {"---\nname: a\nmetadata: {\"openclaw\":{\"emoji\":\"x\",\"requires\":{\"bins\":[\"gh\",\"rg\"],\"env\":[\"K\"]}}}\n---\n# A\n", "gh rg"},
		"any of":         {"---\nmetadata: {\"openclaw\":{\"requires\":{\"anyBins\":[\"a\"],\"bins\":[\"b\"]}}}\n---\n", "b a"},
		"several lines":  {"---\nmetadata:\n  {\n    \"openclaw\":\n      { \"requires\": { \"bins\": [\"gh\",], }, },\n  }\nx: y\n---\n", "gh"},
		"windows lines":  {"\ufeff---\r\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\r\n---\r\n", "gh"},
		"keys":           {"---\nmetadata:\n  openclaw:\n    emoji: \"x\"\n    requires:\n      env:\n        - K\n      bins:\n        - gh # the client\n        - 'rg'\n      anyBins: [a, \"b\"]\n    install:\n      - id: brew\n        bins: [no]\n---\n", "gh rg a b"},
		"list at key":    {"---\nmetadata:\n openclaw:\n  requires:\n   bins:\n   - gh\n   - rg\n---\n", "gh rg"},
		"no program":     {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"../gh\",\"-x\",\"\",\"a b\",\"*\",\"a/b\",\"gh\"]}}}\n---\n", "gh !../gh !-x ! !a b !* !a/b"},
		"none":           {"---\nname: a\n---\n", ""},
		"no requires":    {"---\nmetadata: {\"openclaw\":{}}\n---\n", ""},
		"another's":      {"---\nmetadata: {\"other\":{\"requires\":{\"bins\":[\"gh\"]}}}\n---\n", ""},
		"no matter":      {"# A\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n", ""},
		"in the text":    {"---\nname: a\n---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n", ""},
		"below another":  {"---\nother:\n  metadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n---\n", ""},
		"in an item":     {"---\nmetadata:\n  openclaw:\n    requires:\n      - bins: [gh]\n        anyBins: [rg]\n---\n", ""},
		"empty":          {"", ""},
		"empty list":     {"---\nmetadata:\n  openclaw:\n    requires:\n      bins: []\n---\n", ""},
		"no end":         {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n", "error"},
		"twice":          {"---\nmetadata: {}\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n---\n", "error"},
		"key twice":      {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"],\"bins\":[\"rg\"]}}}\n---\n", "error"},
		"yaml key twice": {"---\nmetadata:\n  openclaw:\n    requires:\n      bins: [a]\n      bins: [b]\n---\n", "error"},
		"a string":       {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":\"gh\"}}}\n---\n", "error"},
		"a number":       {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\",7]}}}\n---\n", "error"},
		"a word":         {"---\nmetadata:\n  openclaw:\n    requires:\n      bins: gh\n---\n", "error"},
		"quoted JSON":    {"---\nmetadata: '{\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}'\n---\n", "error"},
		"an alias":       {"---\nmetadata:\n  openclaw: *x\n---\n", "error"},
		"a block":        {"---\nmetadata:\n  openclaw: |\n    requires:\n      bins: [gh]\n---\n", "error"},
		"a tab":          {"---\nmetadata:\n\topenclaw:\n---\n", "error"},
		"more behind":    {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}} x\n---\n", "error"},
		"NUL":            {"---\nmetadata: {}\x00\n---\n", "error"},
		"no text":        {"---\nmetadata: {}\xff\n---\n", "error"},
		"too long":       {"---\nname: " + long + "\n---\n", "error"},
		"too many":       {"---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[" + strings.Repeat("\"a\",", 65) + "]}}}\n---\n", "error"},
	} {
		names, refused, err := declared([]byte(c.text))
		got := strings.Join(names, " ")
		for _, r := range refused {
			got = strings.TrimSpace(got + " !" + r)
		}
		if err != nil {
			got = "error"
		}
		if strings.ReplaceAll(got, "  ", " ") != strings.ReplaceAll(c.want, "  ", " ") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// nobody is a machine on which only this user and root can write.
func nobody(string) string { return "" }

func write(t *testing.T, path string, bins ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"" + strings.Join(bins, `","`) + "\"]}}}\n---\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(l *List) string {
	var out []string
	for _, p := range l.Programs {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

// TestP36_Folders: which folders count.
func TestP36_Folders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/skills/one/SKILL.md", "zz", "gh")
	write(t, dir+"/skills/two/SKILL.md", "gh", "rg")
	write(t, dir+"/skills/deep/er/SKILL.md", "deep")
	write(t, dir+"/skills/SKILL.md", "top")
	write(t, dir+"/skills/bad/SKILL.md", "$x")
	write(t, dir+"/work/skills/w/SKILL.md", "work")
	write(t, dir+"/skills/loose/SKILL.md", "loose")
	write(t, dir+"/elsewhere/SKILL.md", "linked")
	for link, to := range map[string]string{"/skills/link": "/elsewhere", "/skills/into": "/work/skills/w"} {
		if err := os.Symlink(dir+to, dir+link); err != nil {
			t.Skip("needs symbolic links:", err)
		}
	}
	if err := os.MkdirAll(dir+"/skills/file", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"/work/skills/w/SKILL.md", dir+"/skills/file/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	others := func(path string) string {
		if strings.Contains(path, "loose") {
			return path + " can be written by everybody"
		}
		return ""
	}
	l := Read(Options{
		Dirs:       []string{dir + "/skills", dir + "/work/skills", dir + "/none"},
		Workspaces: []string{dir + "/work", dir + "/not-there"}, Others: others,
	})
	if got := names(l); got != "gh linked rg zz" {
		t.Errorf("%s", got)
	}
	if l.Programs[0].Skill != filepath.Join(dir, "skills/one/SKILL.md") {
		t.Errorf("%+v", l.Programs[0])
	}
	told := strings.Join(l.Ignored, "\n")
	for _, want := range []string{
		"skills/into: it is inside of a workspace", "skills/file: it is inside", "work/skills/w: it is inside", "loose: ", `"$x" is no program's name`, "none: it is not there",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	// A workspace above or at the skills keeps all of them out.
	for _, w := range []string{dir, dir + "/skills"} {
		if l := Read(Options{Dirs: []string{dir + "/skills"}, Workspaces: []string{w}, Others: nobody}); names(l) != "" {
			t.Errorf("inside of %s: %s", w, names(l))
		}
	}
	if err := os.Chmod(dir+"/elsewhere/SKILL.md", 0o666); err != nil {
		t.Fatal(err)
	}
	if l := Read(Options{Dirs: []string{dir + "/skills"}, Others: nobody}); strings.Contains(names(l), "linked") {
		t.Error("a file that everybody can write")
	}
}

// TestP36_Changed: any change that could matter is seen.
func TestP36_Changed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/s/one/SKILL.md", "gh")
	if err := os.MkdirAll(dir+"/s/two", 0o755); err != nil {
		t.Fatal(err)
	}
	opt := Options{Dirs: []string{dir + "/s", dir + "/later"}, Others: nobody}
	old := time.Now().Add(-time.Hour)
	for i, change := range []func() error{
		func() error { return os.WriteFile(dir+"/s/one/SKILL.md", []byte("---\n---\n"), 0o600) },
		func() error { return os.Chmod(dir+"/s/one", 0o700) },
		func() error { return os.Chtimes(dir+"/s/one/SKILL.md", old, old) },
		func() error { return os.WriteFile(dir+"/s/two/SKILL.md", []byte("x"), 0o600) },
		func() error { return os.RemoveAll(dir + "/s/two") },
		func() error { return os.Mkdir(dir+"/s/three", 0o755) },
		func() error { return os.Mkdir(dir+"/later", 0o755) },
		func() error { return os.Rename(dir+"/s", dir+"/gone") },
	} {
		l := Read(opt)
		if l.Changed() {
			t.Errorf("%d: changed by itself", i)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if !l.Changed() {
			t.Errorf("%d: not seen", i)
		}
	}
	if (&List{}).Changed() {
		t.Error("nothing changes in nothing")
	}
}

// TestP36_Bounds: a folder with too much in it is read up to the limit.
func TestP36_Bounds(t *testing.T) {
	dir := t.TempDir()
	for i := range maxSkills + 5 {
		write(t, fmt.Sprintf("%s/s%04d/SKILL.md", dir, i), fmt.Sprintf("p%04d", i))
	}
	l := Read(Options{Dirs: []string{dir}, Others: nobody})
	if len(l.Programs) != maxSkills || len(l.Ignored) != 1 {
		t.Errorf("%d programs, %v", len(l.Programs), l.Ignored)
	}
	big := filepath.Join(t.TempDir(), "a", fileName)
	write(t, big, "gh")
	if err := os.Truncate(big, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if l := Read(Options{Dirs: []string{filepath.Dir(filepath.Dir(big))}, Others: nobody}); len(l.Programs) != 0 || len(l.Ignored) != 1 {
		t.Errorf("%+v", l)
	}
}

// TestInside: folders are compared as the system does.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/b/c", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"/l": dir + "/a", "/a/out": "../b", "/turn": "turn"} {
		if err := os.Symlink(to, dir+link); err != nil {
			t.Skip("needs symbolic links:", err)
		}
	}
	for _, c := range []struct {
		path, folder string
		want         bool
	}{
		{"/a/b", "/a", true},
		{"/a", "/a", true},
		{"/l/b", "/a", true},
		{"/a/b", "/l", true},
		{"/a", "/a/b", false},
		{"/a/b", "/none", false},
		{"/a/out/c", "/a", true},    // a link in it that leads elsewhere
		{"/l/out/../b", "/b", true}, // on the way
		{"/none", "/b", true},       // cannot be followed
		{"/turn", "/b", true},
	} {
		if got := Inside(dir+c.path, []string{dir + c.folder}); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.folder, got)
		}
	}
	if Inside(dir, nil) {
		t.Error("in no folder")
	}
}

// FuzzDeclared: no text crashes the reader, gives a name that is none, or is read in two
// ways.
func FuzzDeclared(f *testing.F) {
	f.Add("---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]}}}\n---\n")
	f.Add("---\nmetadata:\n  openclaw:\n    requires:\n      bins:\n      - gh\n      anyBins: [a, b]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := declared([]byte(text))
		again, _, _ := declared([]byte(text))
		if !slices.Equal(got, again) || err != nil && got != nil || len(got) > maxNames {
			t.Errorf("%q, then %q, %v", got, again, err)
		}
		for _, name := range got {
			if !isProgramName(name) || strings.ContainsAny(name, "/ -*$") && name[0] == '-' {
				t.Errorf("%q", name)
			}
		}
	})
}
