package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"openclaw/internal/shell"
)

// want is one start that a judgement names: the program, and what wrappers start within it.
type want struct {
	steps []step // outermost first; the last is no wrapper
	dir   string // "" = not judged
	loop  bool   // it may happen more than once
	start *shell.Start
}

// step is one program with its words. When exact is not set argv are only the first ones.
type step struct {
	exe   string // as the kernel names it: without links; of a script its interpreter
	real  string // the judged file
	path  string // as it was found
	argv  []string
	exact bool
}

// wants are the starts that a plan names, in the order of the text.
func wants(plan *shell.Plan) []want {
	var list []want
	var visit func(p *shell.Plan, st *shell.Stmt, loop bool)
	visit = func(p *shell.Plan, st *shell.Stmt, loop bool) {
		if st == nil {
			return
		}
		switch st.Kind {
		case shell.KindCall:
			if st.Call < 0 || st.Call >= len(p.Starts) {
				return
			}
			s := &p.Starts[st.Call]
			switch {
			case s.Shell != nil:
				visit(s.Shell, s.Shell.Root, loop)
			case s.Path != "":
				list = append(list, want{steps: steps(s), dir: s.Dir, loop: loop, start: s})
			}
			return
		case shell.KindFor, shell.KindWhile, shell.KindUntil:
			loop = true
		}
		for _, kid := range st.Kids {
			visit(p, kid, loop)
		}
	}
	visit(plan, plan.Root, false)
	return list
}

func steps(s *shell.Start) []step {
	var argv []string
	exact := true
	for _, w := range s.Argv {
		if exact = w.Lit; !exact {
			break
		}
		argv = append(argv, w.Text)
	}
	for _, in := range s.Inner {
		if in.Arg > 0 && in.Arg < len(argv) {
			argv[in.Arg] = in.Path
		}
	}
	list := []step{asKernel(s.Real, s.Path, argv, exact)}
	for _, in := range s.Inner {
		list = append(list, asKernel(in.Real, in.Path, argv[min(in.Arg, len(argv)):], exact))
	}
	return list
}

// asKernel is how the kernel starts a file: of a script the interpreter is what runs.
func asKernel(real, path string, argv []string, exact bool) step {
	s := step{exe: real, real: real, path: path, argv: argv, exact: exact}
	line, script := firstLine(real)
	if !script || len(argv) == 0 {
		return s
	}
	interp, arg, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	s.exe, _ = filepath.EvalSymlinks(interp) // "" is what nothing is
	s.argv = []string{interp}
	if arg = strings.Trim(arg, " \t"); arg != "" {
		s.argv = append(s.argv, arg)
	}
	s.argv = append(append(s.argv, path), argv[1:]...)
	return s
}

// firstLine is what stands behind the #! of a script.
func firstLine(path string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	buf := make([]byte, 256)
	n, _ := f.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.CutPrefix(line, "#!")
}

// line is what a process ran, up to this start and without the walker.
func (s *started) line(walker *started) []*started {
	var list []*started
	for ; s != nil && s != walker; s = s.before {
		list = append(list, s)
	}
	slices.Reverse(list)
	return list
}

// misfit says what of a start is not as wanted, "" = nothing.
func (w *want) misfit(line []*started) string {
	if len(line) > len(w.steps) {
		return "it was started by " + line[len(line)-2].exe + ", which is no wrapper here"
	}
	for i, s := range line {
		st := &w.steps[i]
		switch {
		case s.exe != st.exe:
			return "it is not " + st.exe
		case st.exact && !slices.Equal(s.argv, st.argv), !st.exact && (len(s.argv) < len(st.argv) || !slices.Equal(s.argv[:len(st.argv)], st.argv)):
			return "its words are " + quote(s.argv) + ", judged were " + quote(st.argv)
		case w.dir != "" && s.cwd != w.dir:
			return "its directory is " + s.cwd + ", judged was " + w.dir
		}
	}
	return ""
}

func (w *want) exact() bool { return w.steps[len(w.steps)-1].exact }

func quote(argv []string) string {
	var b strings.Builder
	for i, a := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("`" + a + "`")
	}
	return b.String()
}
