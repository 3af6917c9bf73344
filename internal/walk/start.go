package walk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"openclaw/internal/proc"
	"openclaw/internal/shell"
)

// ready is a program that was checked and is to be started at once. Close lets go of what
// was checked.
type ready struct {
	path string // of the checked file
	argv []string
	env  []string
	dir  string // of the checked directory
	pins []closer
}

type closer interface{ Close() error }

func (r *ready) close() {
	for _, p := range r.pins {
		_ = p.Close() // read only
	}
}

// ready checks a start once more and puts its words together. It is the one way to a
// program: an error that is a *proc.ChangedError says that something is not what was
// judged, and then nothing more of the plan may run.
func (s *scope) ready(st *shell.Start) (*ready, error) {
	argv, err := s.words(st)
	if err != nil {
		return nil, err
	}
	r := &ready{argv: argv}
	dir, err := proc.PinDir(s.dir, st.Dir)
	if err != nil {
		return nil, err
	}
	r.pins, r.dir = append(r.pins, dir), dir.Path()
	program, err := proc.PinProgram(st.Path, proc.FileID(st.ID))
	if err != nil {
		r.close()
		return nil, err
	}
	r.pins, r.path = append(r.pins, program), program.Path()
	for i := range st.Inner {
		in := &st.Inner[i]
		if in.Arg <= 0 || in.Arg >= len(argv) || !filepath.IsAbs(in.Path) {
			r.close()
			return nil, errors.New("the plan is damaged: a wrapper's program is not among its words")
		}
		// What a wrapper starts it opens itself: between this look and its own lies a
		// moment that nothing can close (P-34).
		inner, err := proc.PinProgram(in.Path, proc.FileID(in.ID))
		if err != nil {
			r.close()
			return nil, err
		}
		r.pins, argv[in.Arg] = append(r.pins, inner), in.Path
	}
	r.env = s.env
	if len(st.Assigns) > 0 {
		r.env = append([]string(nil), s.env...)
		for _, a := range st.Assigns {
			r.env = setEnv(r.env, a.Name, a.Value)
		}
	}
	return r, nil
}

// words expands the words of a start (P-24, P-56). Those up to the last wrapper's program
// are literal, so that they keep their places.
func (s *scope) words(st *shell.Start) ([]string, error) {
	last := 0
	for _, in := range st.Inner {
		last = max(last, in.Arg)
	}
	for i := range st.Argv {
		if !st.Argv[i].Lit && (st.Literal || i <= last) {
			return nil, fmt.Errorf("the plan is damaged: %s has to be literal", st.Argv[i].Text)
		}
	}
	argv, err := shell.Expand(st.Argv, s.dir, s.lookup, os.ReadDir)
	if err == nil && len(argv) == 0 {
		err = errors.New("the plan is damaged: a command without words")
	}
	return argv, err
}
