package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrTooMuchOutput is returned by Capture when a helper prints more than its limit.
var ErrTooMuchOutput = errors.New("more output than expected")

// captureGrace is how long a helper and what it left may take to leave after SIGTERM.
const captureGrace = 200 * time.Millisecond

// Capture runs one of our own helpers (a login shell that prints its PATH, for
// example) to its end and returns its standard output, at most limit bytes. Standard
// input is /dev/null and standard error is dropped. When ctx ends, everything the
// helper started is ended and ctx's cause returned.
func (s *Starter) Capture(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
	p, err := s.Start(Spec{Path: argv[0], Argv: argv, Env: env, Dir: dir, Marker: helperMarker(), Split: true})
	if err != nil {
		return nil, err
	}
	defer p.Out.Close()
	defer p.Err.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	cut := make(chan struct{})
	context.AfterFunc(ctx, func() { // waited for below; also ends what the helper left
		defer close(cut)
		p.End(context.Background(), captureGrace)
	})
	defer func() {
		cancel(nil)
		<-cut
	}()
	errRead := make(chan struct{})
	go func() { // ends when standard error closes or is interrupted below
		defer close(errRead)
		for p.Err.Read(func([]byte) {}) == nil {
		}
	}()
	ended := make(chan Exit, 1)
	go func() { // ends with the process, which ctx bounds
		exit, _ := p.Wait()
		p.Out.Interrupt()
		p.Err.Interrupt()
		ended <- exit
	}()
	var out []byte
	sink := func(b []byte) { out = append(out, b[:min(len(b), limit+1-len(out))]...) }
	for {
		err := p.Out.Read(sink)
		if errors.Is(err, ErrInterrupted) || errors.Is(err, io.EOF) {
			break
		}
		if len(out) > limit {
			cancel(fmt.Errorf("%s: %w", argv[0], ErrTooMuchOutput))
		}
	}
	exit := <-ended
	<-errRead
	p.Out.Drain(sink)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case len(out) > limit:
		return nil, fmt.Errorf("%s: %w", argv[0], ErrTooMuchOutput)
	case exit.Signal != "":
		return out, fmt.Errorf("%s: ended by %s", argv[0], exit.Signal)
	case exit.Code != 0:
		return out, fmt.Errorf("%s: exit code %d", argv[0], exit.Code)
	}
	return out, nil
}
