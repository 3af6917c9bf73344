package cli

import "context"

// backgroundSessions counts the background sessions that go on without the daemon.
func (e *Env) backgroundSessions(context.Context) (running int, err error) { return 0, nil }

// endSessions ends the background sessions that go on without the daemon.
func (e *Env) endSessions(context.Context) (ended int, err error) { return 0, nil }
