package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/session"
	"openclaw/internal/supervisor"
	tty "openclaw/internal/terminal"
)

const (
	attachChunk = 64 << 10               // bytes of output in one piece
	fitWait     = 500 * time.Millisecond // for the session's terminal to take our size
	fitPause    = 10 * time.Millisecond
)

var errDetached = errors.New("detached")

// attachment shows one session in our terminal: output comes in a loop of reads, keys go
// out beside it, and a view for each size our window has had tells the session of us.
type attachment struct {
	env      *Env
	opt      attachOptions
	sessions *supervisor.Client
	agent    string

	ctx    context.Context // ends with the attachment
	cancel context.CancelCauseFunc
	side   sync.WaitGroup // keys, sizes and views
	raw    rawTerminal
	viewer string
	views  int // begun
}

// show returns when the session has ended, with its exit code, or when the person has
// detached.
func (a *attachment) show(ctx context.Context) error {
	a.viewer = rand.Text()
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	cols, rows, ok := windowSize(a.env)
	if !ok {
		return errors.New("the size of this terminal is not known; set it with stty cols 80 rows 24")
	}
	a.raw.enter(a.env)
	a.view(cols, rows)
	a.side.Go(a.followWindow)
	err := a.output(cols, rows)
	a.cancel(nil)
	a.side.Wait()
	_, _ = a.env.Stdout.Write(tty.Reset()) // a terminal that has gone needs nothing
	a.raw.restore()
	return a.explain(err)
}

// explain says why the attachment has ended.
func (a *attachment) explain(err error) error {
	var sig *signalled
	switch cause := context.Cause(a.ctx); {
	case errors.Is(cause, errDetached):
		a.env.say("note", "detached from %s, which goes on; openclaw process attach %s", a.opt.id, a.opt.id)
		return nil
	case errors.As(cause, &sig):
		return &exitError{code: signalCode(sig.name())}
	case err != nil:
		return err
	}
	st, err := a.sessions.Get(context.WithoutCancel(a.ctx), a.agent, a.opt.id)
	if err != nil {
		return err
	}
	a.env.say("note", "%s: %s", a.opt.id, runState(st.Status, st.ExitCode, st.Signal, st.TimedOut, false))
	return &exitError{code: execCode(&protocol.ExecResult{Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal, TimedOut: st.TimedOut})}
}

// output paints the screen as it is and then writes what comes.
func (a *attachment) output(cols, rows int) error {
	paint, err := a.fitted(cols, rows)
	if err != nil {
		return err
	}
	if err := a.write(paint.Data); err != nil {
		return err
	}
	a.side.Go(a.input)
	offset := paint.Offset
	for {
		chunk, err := a.sessions.Read(a.ctx, session.ReadRequest{
			Agent: a.agent, ID: a.opt.id, Offset: offset, Max: attachChunk, Wait: time.Minute,
		})
		if err != nil {
			return err
		}
		if err := a.write(chunk.Data); err != nil {
			return err
		}
		if offset = chunk.Offset + int64(len(chunk.Data)); chunk.End {
			return nil
		}
	}
}

// fitted is the screen once the session's terminal has our size, or a smaller one that
// suits another viewer.
func (a *attachment) fitted(cols, rows int) (session.Paint, error) {
	for begin := time.Now(); ; {
		p, err := a.sessions.Paint(a.ctx, a.agent, a.opt.id)
		if err != nil || p.Cols <= cols && p.Rows <= rows || time.Since(begin) > fitWait {
			return p, err
		}
		select {
		case <-time.After(fitPause):
		case <-a.ctx.Done():
			return p, context.Cause(a.ctx)
		}
	}
}

func (a *attachment) write(b []byte) error {
	if _, err := a.env.Stdout.Write(b); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// view tells the session of our size, until the attachment ends or the next view comes.
func (a *attachment) view(cols, rows int) {
	a.views++ // by show, then by followWindow alone
	req := session.ViewRequest{Agent: a.agent, ID: a.opt.id, Viewer: a.viewer, Seq: a.views, Cols: cols, Rows: rows}
	a.side.Go(func() {
		defer a.raw.restoreOnPanic()
		_, err := a.sessions.View(a.ctx, req)
		if err != nil && a.ctx.Err() == nil {
			a.cancel(err)
		}
	})
}

// followWindow begins a new view whenever our window has another size.
func (a *attachment) followWindow() {
	defer a.raw.restoreOnPanic()
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, windowSignals...)
	defer signal.Stop(arrived)
	for {
		select {
		case <-arrived:
			if cols, rows, ok := windowSize(a.env); ok {
				a.view(cols, rows)
			}
		case <-a.ctx.Done():
			return
		}
	}
}

// input sends what is typed until the detach key comes.
func (a *attachment) input() {
	defer a.raw.restoreOnPanic()
	defer interruptRead(a.env.Stdin)
	chunks := readInput(a.ctx, a.env.Stdin, &a.raw)
	for {
		select {
		case <-a.ctx.Done():
			return
		case data, ok := <-chunks:
			if !ok {
				a.cancel(errDetached)
				return
			}
			if i := bytes.Index(data, a.opt.key); len(a.opt.key) > 0 && i >= 0 {
				a.send(data[:i])
				a.cancel(errDetached)
				return
			}
			a.send(data)
		}
	}
}

// send sends keys; a program that does not read is tried until it does.
func (a *attachment) send(data []byte) {
	for len(data) > 0 && a.ctx.Err() == nil {
		n, err := a.sessions.Write(a.ctx, a.agent, a.opt.id, session.Input{Data: data})
		data = data[n:]
		switch {
		case err == nil:
		case errors.Is(err, proc.ErrInputFull):
			select {
			case <-time.After(fullPause):
			case <-a.ctx.Done():
			}
		default: // it has ended, or the supervisor has: the reading side says so
			return
		}
	}
}
