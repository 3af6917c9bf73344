// Package inbox shows approval requests in a terminal and takes a person's answers: the
// whole list (Watch), or the one request that a command waits for (Ask). It draws and reads
// keys; what is asked and what an answer does is the Desk's business.
package inbox

import (
	"context"

	"openclaw/internal/protocol"
)

// Desk is where requests come from and answers go.
type Desk interface {
	// Listen calls each for what is pending now and for everything that happens then, in
	// order and one at a time, until ctx ends (nil) or the desk is lost.
	Listen(ctx context.Context, each func(Event)) error
	// Resolve gives an answer. An error says why it was not taken, in words for people.
	Resolve(ctx context.Context, id, decision string) error
}

// Event is one of the two.
type Event struct {
	Requested *protocol.ExecApproval
	Resolved  *protocol.ExecApprovalResolved
}
