package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"openclaw/internal/client"
)

const (
	controlTimeout = 20 * time.Second      // for a daemon to end, or to come back
	controlPoll    = 25 * time.Millisecond // between two looks
	quietFor       = time.Second           // then a person is told what is waited for
)

// hold is a running daemon whose process is held, so that a signal reaches it or nobody:
// on Linux a pidfd, elsewhere as far as the system can.
type hold struct {
	client.Endpoint
	process *os.Process
}

func (h *hold) release() { _ = h.process.Release() } // only an odd second call can fail

// errUnsettled: three looks, three daemons.
var errUnsettled = errors.New("the gateway starts and ends while it is looked at; try again")

// holdDaemon takes hold of the daemon of a state directory; nil when none runs. What the
// daemon wrote names a pid, and a pid can be somebody else's by the time it is used. So
// the process is held first and then the lock and the file are read again: while they
// say the same, the process that is held is the one that holds the lock.
func holdDaemon(stateDir string) (*hold, error) {
	for range 3 {
		before, found, err := client.Find(stateDir)
		if err != nil || !found {
			return nil, err
		}
		if before.PID <= 1 { // a signal to 0 or below would reach a whole group
			return nil, fmt.Errorf("the gateway at %s wrote down pid %d, which cannot be its own", before.URL, before.PID)
		}
		process, err := os.FindProcess(before.PID)
		if err != nil {
			return nil, fmt.Errorf("take hold of the gateway (pid %d): %w", before.PID, err)
		}
		after, found, err := client.Find(stateDir)
		if err == nil && found && after.PID == before.PID && after.StartedAt.Equal(before.StartedAt) {
			return &hold{Endpoint: after, process: process}, nil
		}
		_ = process.Release()
		if err != nil {
			return nil, err
		}
	}
	return nil, errUnsettled
}

// settledDaemon is holdDaemon, but waits for a daemon that starts or ends at this very
// moment: it holds the lock and has written nothing yet, or nothing any more.
func (e *Env) settledDaemon(ctx context.Context, stateDir string) (*hold, error) {
	var h *hold
	err := e.until(ctx, "a gateway that starts or ends", func() (bool, error) {
		var err error
		if h, err = holdDaemon(stateDir); err != nil || h != nil {
			return true, err
		}
		held, err := client.Held(stateDir)
		return !held, err
	})
	if errors.Is(err, errTooLong) {
		return nil, hint("fuser "+quote(stateDir+"/gateway.lock")+" names it",
			"some program has held %s/gateway.lock for %s and is no gateway that answers", stateDir, controlTimeout)
	}
	return h, err
}

// errTooLong is the end of a wait of controlTimeout.
var errTooLong = errors.New("it takes too long")

// until looks again and again until ok says true or fails, at most controlTimeout long;
// then the error is errTooLong. A person at a terminal is told what is waited for.
func (e *Env) until(ctx context.Context, what string, ok func() (bool, error)) error {
	deadline := time.NewTimer(controlTimeout)
	defer deadline.Stop()
	tell := time.NewTimer(quietFor)
	defer tell.Stop()
	look := time.NewTicker(controlPoll)
	defer look.Stop()
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			return errTooLong
		case <-tell.C:
			if _, watched := terminal(e.Stderr); watched {
				e.say("note", "waiting for %s, at most %s", what, span(controlTimeout))
			}
		case <-look.C:
		}
	}
}
