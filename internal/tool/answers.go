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
	mu  sync.Mutex // guards m and every entry's expires
	m   map[answerKey]*answer
	now func() time.Time
}

type answerKey struct{ credential, agent, key string }

type answer struct {
	tool string
	args []byte
	done chan struct{} // closed when res and err are set
	res  *protocol.ToolResult
	err  error

	expires time.Time // zero while it runs
	caller  Caller
}

func newAnswers() *answers { return &answers{m: map[answerKey]*answer{}, now: time.Now} }

// once runs call unless the caller has used the key before. Another call with the same
// key waits for the first. An error is not remembered: nothing was started.
func (a *answers) once(ctx context.Context, c Caller, req protocol.ToolRequest, runs func(Caller, *protocol.ToolResult) bool, call func() (*protocol.ToolResult, error)) (*protocol.ToolResult, error) {
	key := answerKey{c.Credential, c.Agent, req.IdempotencyKey}
	args := canonical(req)
	if len(req.IdempotencyKey) > 200 {
		return nil, invalid("idempotencyKey is longer than 200 bytes")
	}
	a.mu.Lock()
	a.sweep(runs)
	if old := a.m[key]; old != nil {
		a.mu.Unlock()
		if old.tool != req.Tool || !bytes.Equal(old.args, args) {
			return nil, &protocol.Error{
				Type: protocol.ErrConflict, Message: "idempotencyKey was used before with other arguments",
				Hint: "use a new key for a new call",
			}
		}
		select {
		case <-old.done:
			return old.res, old.err
		case <-ctx.Done():
			return nil, wireError(ctx, ctx.Err())
		}
	}
	if len(a.m) >= answersMax {
		a.mu.Unlock()
		return nil, &protocol.Error{Type: protocol.ErrLimit, Message: "too many idempotency keys are in use", Hint: "retry in a few minutes"}
	}
	e := &answer{tool: req.Tool, args: args, done: make(chan struct{}), caller: c}
	a.m[key] = e
	a.mu.Unlock()

	e.res, e.err = call()
	a.mu.Lock()
	e.expires = a.now().Add(answerLife)
	if e.err != nil {
		delete(a.m, key)
	}
	a.mu.Unlock()
	close(e.done)
	return e.res, e.err
}

// sweep drops what is older than its life; a run that goes on in the background keeps
// its answer. Callers hold mu.
func (a *answers) sweep(runs func(Caller, *protocol.ToolResult) bool) {
	now := a.now()
	for k, e := range a.m {
		if e.expires.IsZero() || now.Before(e.expires) {
			continue
		}
		if runs(e.caller, e.res) {
			e.expires = now.Add(answerLife)
			continue
		}
		delete(a.m, k)
	}
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
