package tool

import (
	"context"
	"time"

	"openclaw/internal/session"
)

// Sessions is where commands run: a table in this process, or a supervisor that outlives
// it. The methods are session.Table's, which says what they do.
type Sessions interface {
	Run(ctx context.Context, req session.RunRequest, started func(session.State)) (session.Snapshot, error)
	Poll(ctx context.Context, agent, id string, wait time.Duration, limit int) (session.Snapshot, error)
	Log(ctx context.Context, agent, id string, offset, limit int64, maxChars int) (session.Page, error)
	Read(ctx context.Context, req session.ReadRequest) (session.Chunk, error)
	Get(ctx context.Context, agent, id string) (session.State, error)
	Tail(ctx context.Context, agent, id string, limit int) (string, error)
	List(ctx context.Context, agent string, tail int) ([]session.Listed, error)
	Counts(ctx context.Context) (session.Counts, error)
	Kill(ctx context.Context, agent, id string) (session.State, bool, error)
	Signal(ctx context.Context, agent, id, name string) error
	Write(ctx context.Context, agent, id string, in session.Input) (int, error)
	Resize(ctx context.Context, agent, id string, cols, rows int) error
	Screen(ctx context.Context, agent, id string) (session.Screen, error)
	Paint(ctx context.Context, agent, id string) (session.Paint, error)
	View(ctx context.Context, req session.ViewRequest) (session.State, error)
	Clear(ctx context.Context, agent, id string) error
	Remove(ctx context.Context, agent, id string) error

	Capture(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error)
	LimitLogs(total int64)
	Told(keys ...string)
	Stop() error  // ends what does not outlive this program; all Ends have been given when it returns
	Close() error // after Stop; lets go of the rest
}
