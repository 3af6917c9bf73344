package walk

import (
	"errors"
	"os"

	"openclaw/internal/shell"
)

// part is one command of a pipeline under way.
type part struct {
	child *os.Process // nil: done says how it ended
	done  chan outcome
}

type outcome struct {
	code int
	err  error
}

// pipe runs a pipeline: all parts at once, each in a scope of its own, connected by real
// pipes. Its code is the last part's.
func (w *walker) pipe(s *scope, st *shell.Stmt) (int, error) {
	if len(st.Kids) == 0 {
		return damaged(s, "an empty pipeline")
	}
	parts := make([]part, 0, len(st.Kids))
	var begin error
	in := s.files[0]
	for i, kid := range st.Kids {
		sub := s.sub()
		sub.files[0] = in
		var next, out *os.File
		if i < len(st.Kids)-1 {
			if next, out, begin = os.Pipe(); begin != nil {
				break
			}
			sub.files[1] = out
			if i < len(st.Merge) && st.Merge[i] {
				sub.files[2] = out
			}
		}
		var own []*os.File // this part's ends, ours to close once it has them
		for _, f := range []*os.File{in, out} {
			if f != nil && f != s.files[0] {
				own = append(own, f)
			}
		}
		var p part
		p, begin = w.part(sub, kid, own)
		parts = append(parts, p)
		in = next
		if begin != nil {
			break
		}
	}
	if begin != nil && in != nil && in != s.files[0] {
		in.Close() // nobody reads: the parts before it end
	}
	code, err := w.collect(parts)
	if begin != nil {
		return s.complain(codeRefused, "pipeline: %v", begin), errors.Join(errRefused, begin)
	}
	return code, err
}

// part begins one part. A program is started here, so that the parts start in order;
// anything else runs on a goroutine, for which collect waits.
func (w *walker) part(s *scope, st *shell.Stmt, own []*os.File) (part, error) {
	letGo := func() {
		for _, f := range own {
			f.Close()
		}
	}
	if start := s.plain(st); start != nil {
		s.redirect(start.Redirs, w.null)
		child, code, err := w.begin(s, start)
		letGo()
		if child != nil {
			return part{child: child}, nil
		}
		p := part{done: make(chan outcome, 1)}
		p.done <- outcome{code: code}
		return p, err
	}
	p := part{done: make(chan outcome, 1)}
	go func() {
		code, err := alone(w.run(s, st))
		letGo()
		p.done <- outcome{code, err}
	}()
	return p, nil
}

// plain is the start of a statement that is only a program; nil = it is more.
func (s *scope) plain(st *shell.Stmt) *shell.Start {
	if st.Kind != shell.KindCall || st.Not || st.Time != "" || len(st.Redirs) > 0 {
		return nil
	}
	start := s.start(st)
	if start == nil || start.Path == "" || start.Builtin != "" || start.Shell != nil {
		return nil
	}
	return start
}

// collect waits for all parts. The first error counts, but for that of an interrupt.
func (w *walker) collect(parts []part) (code int, err error) {
	for _, p := range parts {
		var one outcome
		if p.child != nil {
			one.code, one.err = w.wait(p.child)
		} else {
			one = <-p.done
		}
		code = one.code
		if one.err != nil && (err == nil || errors.Is(err, errInterrupt)) {
			err = one.err
		}
	}
	return code, err
}
