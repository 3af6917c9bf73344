package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"openclaw/internal/protocol"
)

// Options of a screen.
type Options struct {
	In     io.Reader
	Out    io.Writer
	Env    []string
	Colour bool
	Title  string // of the list
}

func (o Options) program(ctx context.Context, m *model) *tea.Program {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(20), tea.WithoutSignalHandler()}
	if o.Env != nil {
		opts = append(opts, tea.WithEnvironment(o.Env))
	}
	return tea.NewProgram(m, opts...)
}

// Watch shows all requests until the person leaves or ctx ends. A desk that is lost is tried again,
// unless it never was there.
func Watch(ctx context.Context, desk Desk, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{ctx: ctx, desk: desk, st: style{o.Colour}, now: time.Now, title: o.Title}
	return m.show(ctx, o)
}

// Ask shows one request and returns once it is decided, here or elsewhere. ErrLeft: the
// person went away without an answer.
func Ask(ctx context.Context, desk Desk, one protocol.ExecApproval, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{ctx: ctx, desk: desk, st: style{o.Colour}, now: time.Now, only: one.ID, items: []protocol.ExecApproval{one}}
	if err := m.show(ctx, o); err != nil {
		return err
	}
	if len(m.items) > 0 {
		return ErrLeft
	}
	return nil
}

// ErrLeft: the person has left the prompt without an answer.
var ErrLeft = errors.New("no answer was given")

const (
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
)

// listen brings the desk's events to the screen until ctx ends. A list that was there once
// is there again when the gateway is.
func (m *model) listen(ctx context.Context, p *tea.Program) {
	wait, there := retryFirst, false
	for {
		err := m.desk.Listen(ctx, func(e Event) {
			wait, there = retryFirst, true
			p.Send(eventMsg(e))
		})
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the connection ended")
		}
		again := there && m.only == ""
		p.Send(lostMsg{err, again})
		if !again {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, retryMost)
	}
}

// show runs the screen with the desk's events.
func (m *model) show(ctx context.Context, o Options) error {
	p := o.program(ctx, m)
	listen, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.listen(listen, p)
	}()
	_, err := p.Run()
	stop()
	<-done
	switch {
	case m.lost != nil:
		return fmt.Errorf("no more requests come: %w", m.lost)
	case ctx.Err() != nil, errors.Is(err, tea.ErrProgramKilled):
		return context.Cause(ctx)
	}
	return err
}
