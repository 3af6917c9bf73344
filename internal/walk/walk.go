package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"openclaw/internal/proc"
	"openclaw/internal/shell"
)

// Exit codes of a shell.
const (
	codeRefused  = 126 // found but not started
	codeNotFound = 127
)

// errRefused ends a walk: something was not what was judged, or the plan is damaged.
var errRefused = errors.New("refused")

// errPipe ends the shell that wrote to a pipe nobody reads, as SIGPIPE would: a part of a
// pipeline, a subshell, the text of a shell or the whole walk.
var errPipe = errors.New("broken pipe")

// codePipe is the exit code of what SIGPIPE ended.
const codePipe = 128 + int(syscall.SIGPIPE)

// alone runs what a shell would run in a process of its own, for which alone errPipe is the
// end.
func alone(code int, err error) (int, error) {
	if errors.Is(err, errPipe) {
		return codePipe, nil
	}
	return code, err
}

// walker goes through one plan. It is for one goroutine but for the parts of a pipeline.
type walker struct {
	ctx  context.Context // ends with SIGINT
	null *os.File
}

// run walks a statement and returns its exit code. An error ends the whole walk.
func (w *walker) run(s *scope, st *shell.Stmt) (int, error) {
	if st == nil {
		return 0, nil
	}
	if err := w.ctx.Err(); err != nil {
		return 0, context.Cause(w.ctx)
	}
	if len(st.Redirs) > 0 {
		outer := s.files
		s.redirect(st.Redirs, w.null)
		defer func() { s.files = outer }()
	}
	timer := startTimer(st.Time)
	code, err := w.kind(s, st)
	if err != nil {
		return code, err
	}
	timer.report(s.files[2])
	if st.Not {
		code = 1 - min(code, 1)
	}
	s.status = code
	return code, nil
}

func (w *walker) kind(s *scope, st *shell.Stmt) (int, error) {
	switch st.Kind {
	case shell.KindCall:
		return w.call(s, st)
	case shell.KindPipe:
		return w.pipe(s, st)
	case shell.KindAnd, shell.KindOr:
		return w.chain(s, st)
	case shell.KindSeq, shell.KindGroup:
		return w.all(s, st.Kids)
	case shell.KindSubshell:
		return alone(w.all(s.sub(), st.Kids))
	case shell.KindIf:
		return w.conditional(s, st)
	case shell.KindWhile, shell.KindUntil:
		return w.loop(s, st)
	case shell.KindFor:
		return w.each(s, st)
	}
	return damaged(s, "a node of kind "+string(st.Kind))
}

func damaged(s *scope, what string) (int, error) {
	return s.complain(codeRefused, "the plan is damaged: %s", what), errRefused
}

func (w *walker) all(s *scope, kids []*shell.Stmt) (code int, err error) {
	for _, kid := range kids {
		if code, err = w.run(s, kid); err != nil {
			return code, err
		}
	}
	return code, nil
}

func (w *walker) chain(s *scope, st *shell.Stmt) (int, error) {
	if len(st.Kids) != 2 {
		return damaged(s, "a chain that has not two parts")
	}
	code, err := w.run(s, st.Kids[0])
	if err != nil || (code == 0) != (st.Kind == shell.KindAnd) {
		return code, err
	}
	return w.run(s, st.Kids[1])
}

func (w *walker) conditional(s *scope, st *shell.Stmt) (int, error) {
	if len(st.Kids) < 2 || len(st.Kids) > 3 {
		return damaged(s, "an if that has not two or three parts")
	}
	code, err := w.run(s, st.Kids[0])
	switch {
	case err != nil:
		return code, err
	case code == 0:
		return w.run(s, st.Kids[1])
	case len(st.Kids) == 3:
		return w.run(s, st.Kids[2])
	}
	return 0, nil
}

func (w *walker) loop(s *scope, st *shell.Stmt) (last int, err error) {
	if len(st.Kids) != 2 {
		return damaged(s, "a loop that has not two parts")
	}
	for {
		code, err := w.run(s, st.Kids[0])
		if err != nil {
			return code, err
		}
		if (code == 0) != (st.Kind == shell.KindWhile) {
			return last, nil
		}
		if last, err = w.run(s, st.Kids[1]); err != nil {
			return last, err
		}
	}
}

func (w *walker) each(s *scope, st *shell.Stmt) (code int, err error) {
	if len(st.Kids) != 1 {
		return damaged(s, "a for that has not one part")
	}
	values, err := shell.Expand(st.Values, s.dir, s.lookup, os.ReadDir)
	if err != nil {
		return s.complain(1, "%v", err), nil
	}
	for _, v := range values {
		s.set(st.Var, v)
		if code, err = w.run(s, st.Kids[0]); err != nil {
			return code, err
		}
	}
	return code, nil
}

// redirect applies the redirections that P-22 permits, in order.
func (s *scope) redirect(list []shell.Redir, null *os.File) {
	for _, r := range list {
		switch {
		case r.Fd < 0 || r.Fd > 2 || r.Dup < 0 || r.Dup > 2:
		case r.Null:
			s.files[r.Fd] = null
		default:
			s.files[r.Fd] = s.files[r.Dup]
		}
	}
}

// start finds the start of a call.
func (s *scope) start(st *shell.Stmt) *shell.Start {
	if st.Call < 0 || st.Call >= len(s.plan.Starts) {
		return nil
	}
	return &s.plan.Starts[st.Call]
}

// call runs a simple command to its end.
func (w *walker) call(s *scope, st *shell.Stmt) (int, error) {
	start := s.start(st)
	if start == nil {
		return damaged(s, "a command without a start")
	}
	if len(start.Redirs) > 0 {
		outer := s.files
		s.redirect(start.Redirs, w.null)
		defer func() { s.files = outer }()
	}
	switch {
	case start.Builtin != "":
		code := s.builtin(start)
		if code == codePipe {
			return code, errPipe
		}
		return code, nil
	case start.Shell != nil:
		return w.text(s, start)
	case start.Path == "":
		return damaged(s, "a start without a program")
	}
	child, code, err := w.begin(s, start)
	if child == nil {
		return code, err
	}
	code, err = w.wait(child)
	if err == nil && code == codePipe && len(start.Inner) == 0 && start.Argv[0].Lit && shell.Builtin(start.Argv[0].Text) == shell.BuiltinProgram {
		return code, errPipe // bash has it built in and ends with it
	}
	return code, err
}

// text walks the text of sh -c in the shell's place (P-34).
func (w *walker) text(s *scope, start *shell.Start) (int, error) {
	inner := s.sub()
	inner.plan = start.Shell
	for _, a := range start.Assigns {
		inner.env = setEnv(inner.env, a.Name, a.Value)
	}
	return alone(w.run(inner, start.Shell.Root))
}

// begin starts a program. Without a child the code says why there is none.
func (w *walker) begin(s *scope, start *shell.Start) (*os.Process, int, error) {
	r, err := s.ready(start)
	if err != nil {
		if errors.Is(err, proc.ErrChanged) {
			return nil, s.complain(codeRefused, "not started: %v (P-60)", err), errRefused
		}
		return nil, s.complain(codeRefused, "%v", err), nil
	}
	defer r.close()
	child, err := os.StartProcess(r.path, r.argv, &os.ProcAttr{Dir: r.dir, Env: r.env, Files: s.files[:]})
	if err != nil {
		code := codeRefused
		if errors.Is(err, os.ErrNotExist) {
			code = codeNotFound
		}
		return nil, s.complain(code, "%s: %v", start.Path, cause(err)), nil
	}
	return child, 0, nil
}

func cause(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// wait returns a program's exit code, 128 and more for a signal's. A program that SIGINT
// ended ends the walk, as it does a shell's.
func (w *walker) wait(child *os.Process) (int, error) {
	state, err := child.Wait()
	if err != nil {
		return codeRefused, fmt.Errorf("wait for pid %d: %w", child.Pid, err)
	}
	sig := signalOf(state)
	if sig == 0 {
		return state.ExitCode(), nil
	}
	code := 128 + int(sig)
	if sig == syscall.SIGINT {
		return code, errInterrupt
	}
	return code, nil
}
