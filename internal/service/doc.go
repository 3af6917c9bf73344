// Package service keeps the daemon running through the service manager of the user's
// own session: systemd on Linux, launchd on macOS. It writes one definition file, asks
// the manager to load, start, stop and restart it, and says how it stands.
//
// It starts nothing itself: commands run through a function it is given, as lists of
// arguments and never as shell text. It needs no root and touches no system-wide
// service. No secret is ever written into a definition, which other programs of the
// user read. It changes no file that it did not write, unless it is told to.
package service

import "errors"

// Errors that callers branch on; all of them come wrapped.
var (
	// ErrUnreachable: there is no service manager here, or it does not answer.
	ErrUnreachable = errors.New("no service manager can be reached")
	// ErrForeign: the file at the definition's place was not written by this package.
	ErrForeign = errors.New("was not written by openclaw gateway install")
	// ErrDiffers: the definition that is there says something else than the new one.
	ErrDiffers = errors.New("is there already and differs")
)
