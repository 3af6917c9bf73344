package tool

import (
	"context"
	"sync"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// followChunk is how many bytes one progress step carries at most.
const followChunk = 64 << 10

// follower brings the live output of a running command to a watcher. Its goroutines
// belong to the call: end waits for them.
type follower struct {
	table Sessions
	plan  session.Plan
	watch func(protocol.Progress)

	mu     sync.Mutex // one call of watch at a time
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newFollower(table Sessions, plan session.Plan, watch func(protocol.Progress)) *follower {
	return &follower{table: table, plan: plan, watch: watch}
}

// started is what is called when the command has started; nil when nobody watches, which
// spares a supervisor the telling.
func (f *follower) started() func(session.State) {
	if f.watch == nil {
		return nil
	}
	return f.begin
}

func (f *follower) begin(st session.State) {
	f.watch(protocol.Progress{SessionID: st.ID, Pid: st.Pid})
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if f.plan.Streams && !st.PTY {
		f.wg.Go(func() { f.stream("stdout") })
		f.wg.Go(func() { f.stream("stderr") })
		return
	}
	f.wg.Go(func() { f.stream("") })
}

// end returns when everything was delivered, or at once when the command goes on
// without its caller or the caller has gone.
func (f *follower) end(ctx context.Context, finished bool) {
	if f.cancel == nil {
		return
	}
	defer f.cancel()
	if !finished {
		f.cancel()
	}
	stop := context.AfterFunc(ctx, f.cancel)
	defer stop()
	f.wg.Wait()
}

func (f *follower) stream(name string) {
	var offset int64
	for {
		chunk, err := f.table.Read(f.ctx, session.ReadRequest{
			Agent: f.plan.Agent, ID: f.plan.ID, Stream: name, Offset: offset, Max: followChunk, Wait: time.Minute,
		})
		if err != nil {
			return
		}
		if len(chunk.Data) > 0 {
			f.mu.Lock()
			if f.ctx.Err() == nil {
				f.watch(protocol.Progress{Stream: name, Offset: chunk.Offset, Data: chunk.Data, Dropped: chunk.Offset - offset})
			}
			f.mu.Unlock()
			offset = chunk.Offset + int64(len(chunk.Data))
		}
		if chunk.End || f.ctx.Err() != nil {
			return
		}
	}
}
