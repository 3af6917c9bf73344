package cli

import (
	"errors"
	"fmt"

	"openclaw/internal/protocol"
)

// Exit codes of C-30. All codes that this program makes up stand here; exec passes on
// every other one from its command.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitPending  = 75  // exec: waits for an approval
	exitTimedOut = 124 // exec: the time-out ended the command
	exitOurs     = 125 // exec: could not run anything for our own reasons
	exitRefused  = 126 // exec: policy refused the command
	exitSignal   = 128 // plus the number of the signal that ended the command
)

// exitError ends the program with a code. Err is printed, unless it is nil: then
// everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a command line that makes no sense: exit code 2 and a pointer to help.
type usageError struct {
	err  error
	hint string // "" = the command's --help
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// codeOf is the exit code for what a command returned.
func codeOf(err error) int {
	var exit *exitError
	var bad *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &bad):
		return exitUsage
	}
	return exitFailed
}

// execCode is the exit code of exec for a result (C-30). A time-out comes before the
// signal that carried it out.
func execCode(res *protocol.ExecResult) int {
	switch {
	case res.Status == protocol.StatusDenied:
		return exitRefused
	case res.Status == protocol.StatusApprovalPending:
		return exitPending
	case res.Status == protocol.StatusRunning:
		return exitOK // handed to the background, as asked
	case res.TimedOut:
		return exitTimedOut
	case res.Signal != "":
		return signalCode(res.Signal)
	case res.Status == protocol.StatusCancelled:
		return signalCode("SIGTERM")
	case res.ExitCode != nil:
		return *res.ExitCode
	}
	return exitOurs
}

// execFailure is the exit of exec when the call itself failed. A tool that policy takes
// away is a refusal (C-20).
func execFailure(err error) error {
	var wire *protocol.Error
	if errors.As(err, &wire) && (wire.Type == protocol.ErrForbidden || wire.Type == protocol.ErrNotFound) {
		return &exitError{code: exitRefused, err: err}
	}
	return &exitError{code: exitOurs, err: err}
}

// signalCode is 128 plus the signal's number. An unknown name still says "a signal".
func signalCode(name string) int {
	if n := signalNumber(name); n > 0 {
		return exitSignal + n
	}
	return exitSignal
}
