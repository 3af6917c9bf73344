package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

// Binding is what an approval is bound to beside the command's text: the directory,
// each program, and the script files that interpreters are given. It is plain data.
type Binding struct {
	Dir   string        `json:"dir"` // all links resolved
	DirID policy.FileID `json:"dirId"`
	Path  string        `json:"path"` // PATH that bare names were looked up in
	Files []Bound       `json:"files,omitempty"`
}

// Bound is one file.
type Bound struct {
	Word   string        `json:"word,omitempty"` // bare name that PATH found it by
	Path   string        `json:"path"`           // as it was found
	Real   string        `json:"real"`
	ID     policy.FileID `json:"id"`
	SHA256 string        `json:"sha256,omitempty"` // of what the user can write, in hex
	Script bool          `json:"script,omitempty"` // an interpreter reads it
	Gone   bool          `json:"gone,omitempty"`   // it was not there
}

// UnboundError says why a command cannot be bound, so that no approval may be given.
type UnboundError struct{ Why string }

// Error says why.
func (e *UnboundError) Error() string {
	return "it would run files that cannot all be named: " + e.Why
}

// ChangedError says that something is not what was approved.
type ChangedError struct{ Path string }

// Error names it.
func (e *ChangedError) Error() string { return "changed after approval: " + e.Path }

// maxHashed bounds the size of a file that is bound by its content, in bytes.
const maxHashed = 1 << 30

// Bind looks at all that a plan would run. A nil plan is text for a shell: only the
// directory is bound. dir is absolute; path is the PATH the plan was judged with. An
// *UnboundError refuses the command.
func Bind(plan *shell.Plan, dir, path string) (*Binding, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("bind the directory: %w", plainError(err))
	}
	id, err := statDir(real)
	if err != nil {
		return nil, fmt.Errorf("bind the directory: %w", plainError(err))
	}
	b := &Binding{Dir: real, DirID: id, Path: path}
	if plan == nil {
		return b, nil
	}
	return b, b.plan(plan)
}

func (b *Binding) plan(plan *shell.Plan) error {
	for i := range plan.Starts {
		st := &plan.Starts[i]
		if st.Shell != nil {
			if err := b.plan(st.Shell); err != nil {
				return err
			}
			continue
		}
		if st.Path == "" {
			continue
		}
		if err := b.program(st.Argv, 0, st.Path, st.Real, st.ID, st.Dir); err != nil {
			return err
		}
		last := 0
		for _, in := range st.Inner {
			if err := b.program(st.Argv, in.Arg, in.Path, in.Real, in.ID, st.Dir); err != nil {
				return err
			}
			last = in.Arg
		}
		if err := b.carried(st.Argv[last:], st.Dir); err != nil {
			return err
		}
	}
	return nil
}

// program binds the program at argv[at] and what it is given to run.
func (b *Binding) program(argv []shell.Word, at int, path, real string, id policy.FileID, dir string) error {
	f := Bound{Path: path, Real: real, ID: id}
	if word := argv[at].Text; !strings.Contains(word, "/") {
		f.Word = word
	}
	if err := f.hash(); err != nil {
		return err
	}
	b.add(f)
	words := argv[at:]
	for _, name := range []string{filepath.Base(words[0].Text), filepath.Base(real)} {
		if kind, arg := shell.PackageRunner(name, words); kind != shell.NoRunner {
			return b.runner(kind, words, arg, dir)
		}
		scripts, why := shell.ScriptFiles(name, words)
		if why != "" {
			return &UnboundError{name + ": " + why}
		}
		for _, script := range scripts {
			if err := b.script(script, dir); err != nil {
				return err
			}
			if err := b.completed(name, script, dir); err != nil {
				return err
			}
		}
		if len(scripts) > 0 {
			return nil
		}
	}
	return nil
}

// carried binds what a program starts that the judge did not look through: the inner program
// of a wrapper where it can be told, else every file that an argument names.
func (b *Binding) carried(words []shell.Word, dir string) error {
	name := filepath.Base(words[0].Text)
	w, wrapper := shell.Unwrap(name, words)
	if !wrapper && shell.Carrier(name, words).Why == "" || dir == "" {
		return nil
	}
	path := slices.ContainsFunc(w.Assigns, func(a shell.Assign) bool { return a.Name == "PATH" })
	if wrapper && w.Why == "" && !path {
		inner, m := words[w.Inner].Text, NewMachine(nil)
		at := inner
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		find := func() (*policy.File, error) { return m.At(at) }
		if !strings.Contains(inner, "/") {
			find = func() (*policy.File, error) { return m.InPath(inner, b.Path, dir) }
		}
		if f, err := find(); err == nil {
			if err := b.program(words, w.Inner, f.Path, f.Real, f.ID, dir); err != nil {
				return err
			}
			return b.carried(words[w.Inner:], dir)
		}
	}
	for _, word := range words[1:] {
		path := word.Text
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); !word.Lit || word.Text == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := b.script(path, dir); err != nil {
			return err
		}
	}
	return nil
}

// completed binds the files that node takes in place of a script that is not there.
func (b *Binding) completed(name, script, dir string) error {
	if !shell.CompletesNames(name) || !b.Files[len(b.Files)-1].Gone {
		return nil
	}
	for _, end := range []string{".js", ".json", ".node"} {
		if err := b.script(script+end, dir); err != nil {
			return err
		}
	}
	return nil
}

// runner binds what a package runner runs: one local file, or nothing can be bound.
func (b *Binding) runner(kind shell.Runner, words []shell.Word, at int, dir string) error {
	name := filepath.Base(words[0].Text)
	switch {
	case kind == shell.RunnerScript:
		return &UnboundError{name + " runs the scripts that a package file names"}
	case at == 0 || !words[at].Lit:
		return &UnboundError{name + " names nothing that could be bound"}
	case kind == shell.RunnerFile:
		return b.script(words[at].Text, dir)
	}
	tool := words[at].Text
	if strings.ContainsAny(tool, "/@") || dir == "" {
		return &UnboundError{name + " would fetch " + tool + " or choose among versions of it"}
	}
	for up := dir; ; up = filepath.Dir(up) {
		path := filepath.Join(up, "node_modules", ".bin", tool)
		if _, err := os.Stat(path); err == nil {
			return b.script(path, dir)
		}
		if up == filepath.Dir(up) {
			return &UnboundError{name + " would fetch " + tool + ", which is not installed here"}
		}
	}
}

// script binds a file that an interpreter reads.
func (b *Binding) script(name, dir string) error {
	path := name
	if !filepath.IsAbs(path) {
		if dir == "" {
			return &UnboundError{"the directory of " + name + " is not known"}
		}
		path = filepath.Join(dir, path)
	}
	f := Bound{Path: path, Script: true}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		f.Gone = true
		b.add(f)
		return nil
	}
	if err != nil {
		return &UnboundError{plainError(err).Error()}
	}
	f.Real = real
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return &UnboundError{plainError(err).Error()}
	case info.IsDir():
		return &UnboundError{name + " is a directory"}
	case !info.Mode().IsRegular():
		return &UnboundError{name + " is not a regular file"}
	}
	if f.ID, err = statID(real); err != nil {
		return &UnboundError{plainError(err).Error()}
	}
	if err := f.sum(); err != nil { // always: who may write it does not matter to a script
		return err
	}
	b.add(f)
	return nil
}

func (b *Binding) add(f Bound) {
	for _, have := range b.Files {
		if have == f {
			return
		}
	}
	b.Files = append(b.Files, f)
}

// hash binds the content of a program that the user can write.
func (f *Bound) hash() error {
	if !mayWrite(f.Real) && !mayWrite(filepath.Dir(f.Real)) {
		return nil
	}
	return f.sum()
}

// sum reads the content. A file that changes while it is read is seen by its times.
func (f *Bound) sum() error {
	sum, err := fileSum(f.Real)
	if err != nil {
		return &UnboundError{err.Error()}
	}
	if now, err := statID(f.Real); err != nil || now != f.ID {
		return &ChangedError{f.Path}
	}
	f.SHA256 = sum
	return nil
}

func fileSum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", plainError(err)
	}
	defer file.Close() // read only
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, maxHashed+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if n > maxHashed {
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxHashed)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Verify looks at everything again, right before the start. A *ChangedError names what is
// not what was approved.
func (b *Binding) Verify() error {
	real, err := filepath.EvalSymlinks(b.Dir)
	if err != nil || real != b.Dir {
		return &ChangedError{b.Dir}
	}
	if id, err := statDir(real); err != nil || id != b.DirID {
		return &ChangedError{b.Dir}
	}
	m := NewMachine(nil) // nothing from before the approval is believed
	for i := range b.Files {
		if err := b.Files[i].verify(m, b.Path, b.Dir); err != nil {
			return err
		}
	}
	return nil
}

func (f *Bound) verify(m *Machine, path, dir string) error {
	if f.Script {
		return f.verifyScript()
	}
	var now *policy.File
	var err error
	if f.Word != "" {
		if now, err = m.InPath(f.Word, path, dir); err == nil && now.Path != f.Path {
			return &ChangedError{f.Path + " (PATH now finds " + now.Path + ")"}
		}
	} else {
		now, err = m.At(f.Path)
	}
	if err != nil || now.Real != f.Real || now.ID != f.ID {
		return &ChangedError{f.Path}
	}
	return f.same()
}

func (f *Bound) verifyScript() error {
	real, err := filepath.EvalSymlinks(f.Path)
	if f.Gone {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return &ChangedError{f.Path}
	}
	if err != nil || real != f.Real {
		return &ChangedError{f.Path}
	}
	if id, err := statID(real); err != nil || id != f.ID {
		return &ChangedError{f.Path}
	}
	return f.same()
}

// same compares the content.
func (f *Bound) same() error {
	if f.SHA256 == "" {
		return nil
	}
	if sum, err := fileSum(f.Real); err != nil || sum != f.SHA256 {
		return &ChangedError{f.Path}
	}
	return nil
}
