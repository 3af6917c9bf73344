//go:build !linux

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Starter starts processes. On this system only the process group of a command is
// known: children that made a session of their own are not found again.
type Starter struct {
	null *os.File
	bufs *buffers
}

// NewStarter opens what every start needs. Its owner calls Close.
func NewStarter() (*Starter, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	return &Starter{null: null, bufs: newBuffers()}, nil
}

// Close releases what NewStarter opened.
func (s *Starter) Close() error { return s.null.Close() }

// Process is one started process. Wait is called by one goroutine; the other methods
// by any.
type Process struct {
	ref  Ref
	proc *os.Process

	Out *Output // standard output, or both, or the terminal
	Err *Output // standard error with Spec.Split, else nil
	In  *Input  // nil when standard input is /dev/null

	terminal *os.File

	mu     sync.Mutex // guards reaped
	reaped bool
}

// Ref identifies the process. It carries no boot id here, so Lost finds nothing by it.
func (p *Process) Ref() Ref { return p.ref }

// Start starts what spec says, as leader of a process group of its own.
func (s *Starter) Start(spec Spec) (*Process, error) {
	f, err := s.open(spec)
	if err != nil {
		return nil, err
	}
	if spec.Extra != nil {
		f.child = append(f.child, spec.Extra)
	}
	child, err := os.StartProcess(spec.Path, spec.Argv, &os.ProcAttr{
		Dir: spec.Dir, Env: markedEnv(spec), Files: f.child, Sys: groupAttr(spec.PTY != nil),
	})
	for _, c := range f.toClose {
		c.Close()
	}
	if err != nil {
		for _, o := range f.ours {
			o.Close()
		}
		return nil, fmt.Errorf("start %s in %s: %w", spec.Path, spec.Dir, err)
	}
	p := &Process{proc: child, terminal: f.terminal, ref: Ref{Pid: child.Pid, Marker: spec.Marker}}
	p.Out, err = newOutput(f.out, s.bufs)
	if err == nil && f.err != nil {
		p.Err, err = newOutput(f.err, s.bufs)
	}
	if err != nil {
		p.End(context.Background(), 0)
		p.Wait()
		return nil, err
	}
	if f.in != nil {
		p.In = &Input{file: f.in, pty: f.terminal != nil}
	}
	return p, nil
}

// Begin is Start: this system has no short way.
func (s *Starter) Begin(spec Spec) (*Process, error) { return s.Start(spec) }

// Quick reports false: the caller waits as for any program.
func (p *Process) Quick(time.Duration, func(stream int, b []byte)) (ended bool, err error) {
	return false, nil
}

// files are the descriptors of one start.
type files struct {
	child, toClose, ours []*os.File
	in, out, err         *os.File
	terminal             *os.File
}

func (s *Starter) open(spec Spec) (*files, error) {
	f := &files{}
	if spec.PTY != nil {
		if err := spec.PTY.check(); err != nil {
			return nil, err
		}
		return f, f.openTerminal(*spec.PTY)
	}
	stdin := s.null
	if spec.Stdin {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		stdin, f.in = r, w
		f.toClose, f.ours = append(f.toClose, r), append(f.ours, w)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.out = r
	f.toClose, f.ours = append(f.toClose, w), append(f.ours, r)
	f.child = []*os.File{stdin, w, w}
	if spec.Split {
		er, ew, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		f.err, f.child[2] = er, ew
		f.toClose, f.ours = append(f.toClose, ew), append(f.ours, er)
	}
	return f, nil
}

// Wait waits until the process has ended and returns how; what it left in its process
// group is ended.
func (p *Process) Wait() (exit Exit, group bool) {
	state, err := p.proc.Wait()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	endGroup(p.ref.Pid, p.proc, false)
	if p.In != nil {
		p.In.release()
	}
	if err != nil {
		return Exit{Code: -1}, false
	}
	return exitOf(state), false
}

// End ends the process group: politely first, by force after grace.
func (p *Process) End(ctx context.Context, grace time.Duration) []Left {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	endGroup(p.ref.Pid, p.proc, grace == 0)
	if grace > 0 {
		time.AfterFunc(grace, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.reaped {
				endGroup(p.ref.Pid, p.proc, true)
			}
		})
	}
	return nil
}

// EndGroup does nothing: Wait has ended the process group.
func (p *Process) EndGroup(context.Context, time.Duration) []Left { return nil }

// Leftovers returns nothing: this system gives no way to find them.
func (p *Process) Leftovers() []Left { return nil }

// Lost finds nothing on this system.
func Lost(context.Context, []Ref, func(marker string) bool, time.Duration) (found int, left []Left) {
	return 0, nil
}

// Signal sends a signal, by name, to the process group.
func (p *Process) Signal(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return errors.New("the process has ended")
	}
	return signalGroup(p.ref.Pid, p.proc, name)
}
