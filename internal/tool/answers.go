package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"openclaw/internal/protocol"
)

const (
	answerLife = 10 * time.Minute // after the run's end
	answersMax = 10000
)

// answers remembers the results of calls with an idempotency key, so that a repeated
// call never runs twice and gets the first answer (exec.md, Result).
type answers struct {
	running sync.WaitGroup // the runs, each on a goroutine that ends with it

	mu  sync.Mutex // guards m and every entry's expires and waiting
	m   map[answerKey]*answer
	now func() time.Time
}

type answerKey struct{ credential, agent, key string }

type answer struct {
	tool   string
	args   []byte
	cancel context.CancelCauseFunc // ends the run
	done   chan struct{}           // closed when res and err are set
	res    *protocol.ToolResult
	err    error

	waiting int // calls that want the result

	expires time.Time // zero while it runs
	caller  Caller
}

func newAnswers() *answers { return &answers{m: map[answerKey]*answer{}, now: time.Now} }

// once runs call unless the caller has used the key before. Another call with the same
// key waits for the first one's answer; the run is cancelled when nobody waits for it
// any more. An error is not remembered: nothing was started.
func (a *answers) once(ctx context.Context, c Caller, req protocol.ToolRequest, runs func(context.Context, Caller, *protocol.ToolResult) bool, call func(context.Context) (*protocol.ToolResult, error)) (*protocol.ToolResult, error) {
	key := answerKey{c.Credential, c.Agent, req.IdempotencyKey}
	args := canonical(req)
	if len(req.IdempotencyKey) > 200 {
		return nil, invalid("idempotencyKey is longer than 200 bytes")
	}
	a.sweep(ctx, runs)
	a.mu.Lock()
	e := a.m[key]
	switch {
	case e != nil && (e.tool != req.Tool || !bytes.Equal(e.args, args)):
		a.mu.Unlock()
		return nil, &protocol.Error{
			Type: protocol.ErrConflict, Message: "idempotencyKey was used before with other arguments",
			Hint: "use a new key for a new call",
		}
	case e == nil && len(a.m) >= answersMax:
		a.mu.Unlock()
		return nil, &protocol.Error{Type: protocol.ErrLimit, Message: "too many idempotency keys are in use", Hint: "retry in a few minutes"}
	case e == nil:
		e = &answer{tool: req.Tool, args: args, done: make(chan struct{}), caller: c}
		a.m[key] = e
		var run context.Context
		run, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		a.running.Go(func() { a.run(key, e, func() (*protocol.ToolResult, error) { return call(run) }) })
	}
	e.waiting++
	a.mu.Unlock()
	return a.wait(ctx, e)
}

// run makes the call and stores its answer.
func (a *answers) run(key answerKey, e *answer, call func() (*protocol.ToolResult, error)) {
	defer e.cancel(nil)
	e.res, e.err = call()
	a.mu.Lock()
	e.expires = a.now().Add(answerLife)
	if e.err != nil {
		delete(a.m, key)
	}
	a.mu.Unlock()
	close(e.done)
}

// wait returns the answer, or when ctx ends. The last one to go takes the run with it.
func (a *answers) wait(ctx context.Context, e *answer) (*protocol.ToolResult, error) {
	select {
	case <-e.done:
		return e.res, e.err
	case <-ctx.Done():
	}
	a.mu.Lock()
	e.waiting--
	last := e.waiting == 0
	a.mu.Unlock()
	if !last {
		return nil, WireError(ctx, ctx.Err())
	}
	e.cancel(context.Cause(ctx))
	<-e.done
	return e.res, e.err
}

// watcher passes progress on until its call has returned.
type watcher struct {
	mu    sync.Mutex // held while progress is passed on
	watch func(protocol.Progress)
}

func (w *watcher) progress(p protocol.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch != nil {
		w.watch(p)
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	w.watch = nil
	w.mu.Unlock()
}

// sweep drops what is older than its life; a run that goes on in the background keeps
// its answer.
func (a *answers) sweep(ctx context.Context, runs func(context.Context, Caller, *protocol.ToolResult) bool) {
	for k, e := range a.expired() {
		goesOn := runs(ctx, e.caller, e.res) // asks a supervisor: not under the lock
		a.mu.Lock()
		switch {
		case a.m[k] != e:
		case goesOn:
			e.expires = a.now().Add(answerLife)
		default:
			delete(a.m, k)
		}
		a.mu.Unlock()
	}
}

func (a *answers) expired() map[answerKey]*answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	old := map[answerKey]*answer{}
	for k, e := range a.m {
		if !e.expires.IsZero() && !now.Before(e.expires) {
			old[k] = e
		}
	}
	return old
}

// canonical makes the comparison independent of blanks and of the order of names.
func canonical(req protocol.ToolRequest) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(req.Args))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return append([]byte(nil), req.Args...)
	}
	out, err := json.Marshal([]any{v, req.DryRun, req.SessionKey})
	if err != nil {
		return append([]byte(nil), req.Args...)
	}
	return out
}
