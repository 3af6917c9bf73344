package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
)

// errRestarting is the cause of a context that a request to restart ended.
var errRestarting = errors.New("the gateway begins anew")

// restartable runs something until a signal ends its context. Again says that it was the
// signal to restart, which allow may refuse; a request to end counts over one to
// restart. A second request to end ends the program at once.
func restartable(parent context.Context, allow func(context.Context) bool, run func(context.Context) error) (again bool, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	ends, restarts := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, heard(endSignals)...)
	defer signal.Stop(ends)
	if len(restartSignals) > 0 { // Notify without a list means every signal
		signal.Notify(restarts, restartSignals...)
		defer signal.Stop(restarts)
	}
	done := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		var verdict chan bool // of the check that runs; nil = none does
		ending := false
		for {
			select {
			case <-done:
				return
			case s := <-ends:
				ending, again = true, false
				signal.Stop(ends)
				cancel(&signalled{sig: s})
			case <-restarts:
				if verdict != nil || again || ending {
					continue
				}
				asked := make(chan bool, 1)
				verdict = asked
				listening.Go(func() { asked <- allow(ctx) })
			case ok := <-verdict:
				verdict = nil
				if ok && !ending {
					again = true
					cancel(errRestarting)
				}
			}
		}
	})
	err = run(ctx)
	close(done)
	cancel(nil) // a check that still runs has nobody left to tell
	listening.Wait()
	signal.Stop(ends)
	select {
	case <-ends:
		again = false
	default:
	}
	var sig *signalled
	if err != nil && errors.As(context.Cause(ctx), &sig) {
		return false, &exitError{code: signalCode(sig.name())}
	}
	return again && err == nil, err
}
