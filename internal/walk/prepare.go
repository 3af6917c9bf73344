package walk

import (
	"fmt"
	"io"
	"os"

	"openclaw/internal/proc"
	"openclaw/internal/shell"
)

// Launch is how a plan begins: what to start, checked a moment ago. Its owner calls Close
// once it has started.
type Launch struct {
	Path string
	Argv []string
	Env  []string
	Dir  string
	// Plan is to be descriptor 3 of what is started; nil when that is the plan's only
	// program.
	Plan *os.File

	ready *ready
}

// Close lets go of what was checked.
func (l *Launch) Close() {
	if l.ready != nil {
		l.ready.close()
	}
	if l.Plan != nil {
		l.Plan.Close()
	}
}

// Prepare makes the launch of a plan in a directory (as it is written) with an
// environment. Command is what people see of it in a list of processes. Merged says that
// standard output and error are one stream. A *proc.ChangedError says that something is
// not what was judged: then nothing may be started.
func Prepare(plan *shell.Plan, command, dir string, env []string, merged bool) (*Launch, error) {
	s := &scope{plan: plan, dir: dir, env: setEnv(append([]string(nil), env...), "PWD", dir), vars: map[string]string{}}
	one := s.sub()
	if start := one.only(plan.Root, merged); start != nil {
		r, err := one.ready(start)
		if err != nil {
			return nil, err
		}
		return &Launch{Path: r.path, Argv: r.argv, Env: r.env, Dir: r.dir, ready: r}, nil
	}
	if err := check(plan); err != nil {
		return nil, err
	}
	home, err := proc.PinDir(dir, plan.Dir)
	if err != nil {
		return nil, err
	}
	self, err := proc.Self()
	if err != nil {
		home.Close()
		return nil, fmt.Errorf("walk a judged plan: %w", err)
	}
	l := &Launch{Path: self, Argv: []string{"openclaw", Role, command}, Env: s.env, Dir: home.Path(), ready: &ready{pins: []closer{home}}}
	if l.Plan, err = proc.MemoryFile("plan"); err == nil {
		_, err = l.Plan.Write(plan.Encode())
	}
	if err == nil {
		_, err = l.Plan.Seek(0, io.SeekStart)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("hand the plan to its walker: %w", err)
	}
	return l, nil
}

// check looks at all programs of a plan before the first of them starts: better nothing
// runs than half of it.
func check(plan *shell.Plan) error {
	for i := range plan.Starts {
		st := &plan.Starts[i]
		if st.Shell != nil {
			if err := check(st.Shell); err != nil {
				return err
			}
		}
		if st.Path == "" {
			continue
		}
		if err := checkOne(st.Path, st.ID); err != nil {
			return err
		}
		for _, in := range st.Inner {
			if err := checkOne(in.Path, in.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOne(path string, id shell.FileID) error {
	pin, err := proc.PinProgram(path, proc.FileID(id))
	if err != nil {
		return err
	}
	return pin.Close()
}

// only is the start of a plan that is one program, perhaps after changes of directory,
// which s then has made; nil = it is more. Starting it directly is the same and costs less.
func (s *scope) only(st *shell.Stmt, merged bool) *shell.Start {
	if st == nil || st.Not || st.Time != "" || !needless(st.Redirs, merged) {
		return nil
	}
	switch st.Kind {
	case shell.KindCall:
		start := s.start(st)
		if start == nil || start.Path == "" || start.Builtin != "" || start.Shell != nil || !needless(start.Redirs, merged) {
			return nil
		}
		return start
	case shell.KindSeq, shell.KindGroup, shell.KindAnd:
		last := len(st.Kids) - 1
		if last < 0 {
			return nil
		}
		for _, kid := range st.Kids[:last] {
			if !s.quietly(kid) {
				return nil
			}
		}
		return s.only(st.Kids[last], merged)
	}
	return nil
}

// needless says if redirections change nothing.
func needless(list []shell.Redir, merged bool) bool {
	for _, r := range list {
		if r.Null || !merged || r.Fd == 0 || r.Dup == 0 {
			return false
		}
	}
	return true
}

// quietly runs a cd to one literal directory. It reports false, and s is of no use, when
// the statement is something else, or goes wrong and has something to say.
func (s *scope) quietly(st *shell.Stmt) bool {
	if st.Kind == shell.KindAnd || st.Kind == shell.KindSeq {
		for _, kid := range st.Kids {
			if !s.quietly(kid) {
				return false
			}
		}
		return len(st.Redirs) == 0 && !st.Not && st.Time == ""
	}
	start := s.start(st)
	if st.Kind != shell.KindCall || st.Not || st.Time != "" || len(st.Redirs) > 0 ||
		start == nil || start.Builtin != "cd" || len(start.Argv) != 2 || !start.Argv[1].Lit {
		return false
	}
	if to := start.Argv[1].Text; to == "" || to[0] == '-' || len(start.Redirs) > 0 {
		return false
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	s.files = [3]*os.File{null, null, null}
	return s.builtin(start) == 0
}
