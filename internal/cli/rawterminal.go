package cli

import (
	"sync"

	"golang.org/x/term"
)

// rawTerminal is the terminal of standard input, which can pass keys on as they are and
// be given back. One that never entered needs no restoring.
type rawTerminal struct {
	mu    sync.Mutex  // guards state
	fd    int         // of state
	state *term.State // nil = as it was found
}

// enter makes the terminal pass keys on as they are.
func (r *rawTerminal) enter(env *Env) {
	fd, ok := terminal(env.Stdin)
	if !ok {
		return
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		env.say("warning", "the terminal cannot pass keys on as they are: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fd, r.state = fd, state
}

// restore gives the terminal back as it was; more than once does no harm.
func (r *rawTerminal) restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != nil {
		_ = term.Restore(r.fd, r.state) // a terminal that has gone needs nothing
		r.state = nil
	}
}

// restoreOnPanic is deferred by goroutines beside the terminal, so that a fault of ours
// leaves a terminal that shows it.
func (r *rawTerminal) restoreOnPanic() {
	if p := recover(); p != nil {
		r.restore()
		panic(p)
	}
}

// windowSize is the size of the terminal that shows the command.
func windowSize(env *Env) (cols, rows int, ok bool) {
	for _, stream := range []any{env.Stdout, env.Stdin} {
		fd, is := terminal(stream)
		if !is {
			continue
		}
		cols, rows, err := term.GetSize(fd)
		if err == nil && cols > 0 && rows > 0 {
			return cols, rows, true
		}
	}
	return 0, 0, false
}
