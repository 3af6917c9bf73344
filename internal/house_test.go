// Package internal_test checks the house rules that no single package can check: who
// imports whom, who may touch what, and that what is written about the code is there.
package internal_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root         = ".."
	module       = "openclaw/"
	maxFileLines = 500
)

// source is one Go file that is no test, for whatever system it is.
type source struct {
	path  string // from the root, with slashes
	pkg   string // folder from the root, without internal/
	lines int
	ast   *ast.File
}

// imports lists the file's import paths.
func (s source) imports() []string {
	var list []string
	for _, spec := range s.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// readSources parses the product's files below the folders. All systems' files are
// read, which go list would do for one system at a time.
func readSources(t *testing.T, folders ...string) []source {
	t.Helper()
	var list []source
	for _, folder := range folders {
		top := filepath.Join(root, folder)
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments)
			if err != nil {
				t.Error(err) // the other files are looked at all the same
				return nil
			}
			rel, err := filepath.Rel(root, name)
			if err != nil || neverBuilt(file) {
				return err
			}
			rel = filepath.ToSlash(rel)
			list = append(list, source{
				path:  rel,
				pkg:   strings.TrimPrefix(path.Dir(rel), "internal/"),
				lines: bytes.Count(data, []byte("\n")),
				ast:   file,
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// neverBuilt says whether a file is marked //go:build ignore.
func neverBuilt(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && constraint.IsGoBuild(c.Text) && strings.Contains(c.Text, "ignore") {
				return true
			}
		}
	}
	return false
}

// TestImports compares internal/IMPORTS with the imports that there are.
func TestImports(t *testing.T) {
	edges := map[string]map[string]bool{}
	for _, s := range readSources(t, "cmd", "internal") {
		if edges[s.pkg] == nil {
			edges[s.pkg] = map[string]bool{}
		}
		for _, p := range s.imports() {
			if own, ok := strings.CutPrefix(p, module); ok {
				edges[s.pkg][strings.TrimPrefix(own, "internal/")] = true
			}
		}
	}
	want := map[string]string{}
	for pkg, deps := range edges {
		want[pkg] = importLine(pkg, slices.Sorted(maps.Keys(deps)))
	}
	got := readImportsFile(t)
	for _, pkg := range slices.Sorted(maps.Keys(want)) {
		if got[pkg] != want[pkg] {
			t.Errorf("internal/IMPORTS says %q; if the import is meant, write the line\n%s", got[pkg], want[pkg])
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(got)) {
		if want[pkg] == "" {
			t.Errorf("internal/IMPORTS: no package has this line, remove it\n%s", got[pkg])
		}
	}
}

func importLine(pkg string, deps []string) string {
	return strings.TrimRight(pkg+": "+strings.Join(deps, " "), " ")
}

// readImportsFile returns the file's lines by package; # begins a comment.
func readImportsFile(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("IMPORTS")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pkg, _, ok := strings.Cut(line, ":")
		if !ok || lines[pkg] != "" {
			t.Errorf("internal/IMPORTS: %q has no colon, or is there twice", line)
		}
		lines[pkg] = line
	}
	return lines
}

// TestFences: what belongs to one package stays in it, and policy cannot touch the
// machine.
func TestFences(t *testing.T) {
	owners := map[string][]string{
		"os/exec":                                {"proc", "bench"}, // bench measures the machine without us
		"github.com/creack/pty":                  {"proc"},
		"github.com/charmbracelet/x/vt":          {"terminal"},
		"github.com/modelcontextprotocol/go-sdk": {"mcp"},
		"github.com/spf13/cobra":                 {"cli"},
		"github.com/gofrs/flock":                 {"safefile"},
		"github.com/fsnotify/fsnotify":           {"config"},
		"mvdan.cc/sh":                            {"shell"},
		"github.com/dlclark/regexp2":             {"policy"},
		"modernc.org/sqlite":                     {"state"},
		"charm.land/bubbletea":                   {"inbox"},
		"github.com/coder/websocket":             {"gateway", "client", "bench"},
	}
	barred := map[string][]string{
		"policy": {"os", "os/exec", "net", "net/http"}, // look-ups come in as functions
		"shell":  {"os", "os/exec", "net", "net/http"}, // it reads text and nothing else
	}
	for _, s := range readSources(t, "cmd", "internal") {
		for _, p := range s.imports() {
			for dep, pkgs := range owners {
				if within(p, dep) && !slices.Contains(pkgs, s.pkg) {
					t.Errorf("%s imports %s, which only %s may", s.path, p, strings.Join(pkgs, " and "))
				}
			}
			if slices.Contains(barred[s.pkg], p) {
				t.Errorf("%s imports %s, which %s must not", s.path, p, s.pkg)
			}
		}
	}
}

// within says whether an import path is a dependency or a package of it.
func within(p, dep string) bool { return p == dep || strings.HasPrefix(p, dep+"/") }

// TestPackageDocs: each package has exactly one doc comment, in the usual form.
func TestPackageDocs(t *testing.T) {
	docs := map[string][]string{}
	for _, s := range readSources(t, "cmd", "internal", "scripts") {
		docs[s.pkg] = append(docs[s.pkg], nil...)
		if s.ast.Doc == nil {
			continue
		}
		docs[s.pkg] = append(docs[s.pkg], s.path)
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "Command " + path.Base(s.pkg) + " "
		}
		if !strings.HasPrefix(s.ast.Doc.Text(), want) {
			t.Errorf("%s: the package comment begins with %q", s.path, want)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(docs)) {
		if n := len(docs[pkg]); n != 1 {
			t.Errorf("package %s has %d doc comments, not one: %v", pkg, n, docs[pkg])
		}
	}
}

// TestFileSize: a file of more than 500 lines holds more than one idea.
func TestFileSize(t *testing.T) {
	for _, s := range readSources(t, "cmd", "internal", "scripts") {
		if s.lines > maxFileLines {
			t.Errorf("%s has %d lines, at most %d: split it by topic", s.path, s.lines, maxFileLines)
		}
	}
}

// TestExportedDocs: every exported name says what it is.
func TestExportedDocs(t *testing.T) {
	for _, s := range readSources(t, "internal") {
		for _, name := range undocumented(s.ast) {
			t.Errorf("%s: %s has no doc comment", s.path, name)
		}
	}
}

// undocumented lists a file's exported names without a comment. In a group of
// constants or variables, the group's comment or one on the same line will do.
func undocumented(file *ast.File) []string {
	var list []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if recv := receiver(d); d.Doc == nil && d.Name.IsExported() && (recv == "" || ast.IsExported(recv)) {
				list = append(list, strings.TrimPrefix(recv+"."+d.Name.Name, "."))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				list = append(list, undocumentedSpec(d, spec)...)
			}
		}
	}
	return list
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil || d.Doc != nil {
			return nil
		}
		var list []string
		for _, n := range s.Names {
			if n.IsExported() {
				list = append(list, n.Name)
			}
		}
		return list
	}
	return nil
}

// receiver returns the name of a method's type, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

var (
	// repoPath is a word that can only mean a place in the repository.
	repoPath = regexp.MustCompile(`(?:^|[\s` + "`" + `'"(\[])((?:\./)?(?:cmd|internal|docs|scripts|tools|changelog|ui|\.ci)/[\w./-]*\w/?)`)
	// link is the target of a Markdown link.
	link = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)
)

// TestDocPaths: what the documents point at is there.
func TestDocPaths(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			files = append(files, name)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range deadPaths(string(data), filepath.Dir(name)) {
			t.Errorf("%s names %s, which is not there", strings.TrimPrefix(name, root+string(filepath.Separator)), problem)
		}
	}
}

// deadPaths lists the paths in a text of the folder dir that lead nowhere. Paths in
// running text count from the root, links from the folder.
func deadPaths(text, dir string) []string {
	var dead []string
	check := func(base, p string) {
		if _, err := os.Stat(filepath.Join(base, filepath.FromSlash(p))); err != nil {
			dead = append(dead, p)
		}
	}
	for _, m := range repoPath.FindAllStringSubmatch(text, -1) {
		check(root, m[1])
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], ":") && !strings.HasPrefix(m[1], "/") {
			check(dir, m[1])
		}
	}
	return dead
}

// TestHouseChecks checks the checks that would pass by finding nothing.
func TestHouseChecks(t *testing.T) {
	text := "see `internal/house_test.go`, internal/none.go and ./internal/IMPORTS, [a](LICENSE), [b](gone.md#x), [c](https://x.test/y), foo/internal/x"
	if got := fmt.Sprint(deadPaths(text, root)); got != "[internal/none.go gone.md]" {
		t.Errorf("dead paths: %s", got)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func F() {}
// G has one.
func G() {}
type T[K any] struct{}
func (*T[K]) M() {}
func (t u) M() {}
const (
	A = 1 // has one
	B = 2
)
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(undocumented(file)); got != "[F T T.M B]" {
		t.Errorf("undocumented: %s", got)
	}
	if !within("a/b/c", "a/b") || within("a/bc", "a/b") {
		t.Error("within")
	}
}
