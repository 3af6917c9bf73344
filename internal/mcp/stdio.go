package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, one JSON message a line, until
// in ends, ctx does or out fails; then calls in flight are cancelled, get no answer
// and have returned when it returns. The end of in is no error. It closes in, and writes
// nothing but protocol messages to out. A line that is no message, or longer than 4 MiB,
// is answered with an error and disturbs nothing else.
func ServeStdio(ctx context.Context, c caller, opt Options, in io.ReadCloser, out io.Writer) error {
	opt.Log = opt.logger()
	s := &stdio{opt: opt, caller: c, out: newLineWriter(out), toSDK: make(chan jsonrpc.Message), closed: make(chan struct{})}
	// Not of ctx, because answers have to stop before calls see their end.
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	end := sync.OnceFunc(func() {
		s.flights.end()
		cancel(cmp.Or(context.Cause(ctx), errGone))
	})
	defer end()
	defer context.AfterFunc(ctx, end)() // also while a client that does not read holds up serve
	server := newServer(opt, func(call context.Context, _ sdk.Request) (context.Context, caller, func()) {
		call, leave := until(call, calls)
		return call, c, leave
	})
	session, err := server.Connect(ctx, s, nil)
	if err != nil {
		return fmt.Errorf("serve mcp on stdio: %w", err)
	}
	done := make(chan struct{})
	err = s.serve(calls, readLines(in, done))
	end()
	close(done)
	_ = s.Close()
	_ = session.Wait() // what went wrong, if anything, is err
	s.direct.Wait()
	_ = in.Close()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("serve mcp on stdio: %w", err)
}

// stdio is a session over a pair of streams. It stands in front of the SDK, as that
// ends the session at the first line it cannot read, and answers plain calls itself. For
// the SDK it is a transport and the one connection that comes of it.
type stdio struct {
	opt     Options
	caller  caller
	out     *lineWriter
	flights flights
	direct  sync.WaitGroup // calls that do not go through the SDK
	ready   atomic.Bool    // the session has begun, in a version that has sessions

	toSDK  chan jsonrpc.Message
	closed chan struct{} // the SDK gets and sends no more
	once   sync.Once     // closes it
}

// serve takes lines until there are no more, which is io.EOF, ctx ends or out fails.
func (s *stdio) serve(ctx context.Context, lines <-chan inputLine) error {
	for {
		var next inputLine
		select {
		case next = <-lines:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.out.failed:
			return s.out.fault()
		case <-s.closed:
			return cmp.Or(s.out.fault(), sdk.ErrConnectionClosed) // the SDK ends when it cannot write
		}
		if errors.Is(next.err, errLineTooLong) {
			s.refuse(nil, invalid(fmt.Sprintf("the line has more than %d bytes", lineMax)))
			continue
		}
		if next.err != nil {
			return next.err
		}
		if text := bytes.TrimSpace(next.text); len(text) > 0 {
			s.take(ctx, text)
		}
	}
}

// take handles one line.
func (s *stdio) take(ctx context.Context, text []byte) {
	m, refused := readMessage(text)
	if refused != nil {
		s.refuse(s.blamed(&m), refused)
		return
	}
	if s.ready.Load() {
		tc, plain := m.toolCall()
		if _, perRequest := tc.meta[sdk.MetaKeyProtocolVersion]; plain && !perRequest {
			s.call(ctx, &tc)
			return
		}
	}
	if m.method == nil && string(m.id) == "null" {
		return // the client refuses a message of ours; an answer would only go in circles
	}
	decoded, err := jsonrpc.DecodeMessage(text)
	if err != nil { // it nests too deep, say
		s.refuse(s.blamed(&m), invalid(err.Error()))
		return
	}
	if req, ok := decoded.(*jsonrpc.Request); ok && !s.admit(req) {
		return
	}
	select {
	case s.toSDK <- decoded:
	case <-s.closed:
	case <-ctx.Done():
	}
}

// admit notes a request before the SDK gets it and reports whether it does.
func (s *stdio) admit(req *jsonrpc.Request) bool {
	if req.Method == methodCancelled {
		raw, id, ok := cancelledID(req.Params)
		if !ok || !s.flights.cancel(id) {
			return req.IsCall() // the SDK says what is wrong with that
		}
		// With anything else in it the SDK might refuse it, and the call would go on.
		req.Params = append(append([]byte(`{"requestId":`), raw...), '}')
	}
	if req.IsCall() && !s.flights.enter(req.ID, flight{initialize: req.Method == "initialize"}) {
		s.refuse(nil, inUse(req.ID))
		return false
	}
	return true
}

// inUse goes out with the id in its text only: under the id, it would be taken for the
// answer to the request that is in flight.
func inUse(id jsonrpc.ID) *fault {
	return invalid(fmt.Sprintf("a request with the id %.64q is in flight", fmt.Sprint(id.Raw())))
}

// call makes a plain call.
func (s *stdio) call(ctx context.Context, tc *toolCall) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !s.flights.enter(tc.key, flight{cancel: cancel}) {
		cancel(nil)
		s.refuse(nil, inUse(tc.key))
		return
	}
	s.direct.Go(func() {
		defer cancel(nil)
		text, err := s.opt.answer(ctx, s.caller, tc, replyResult{})
		if _, send := s.flights.finish(tc.key); !send {
			return
		}
		if err != nil {
			s.opt.Log.Error("tool call", "tool", tc.name, "err", err)
			s.refuse(tc.id, &fault{jsonrpc.CodeInternalError, err.Error()})
			return
		}
		_ = s.out.write(text) // serve sees out fail
	})
}

// blamed gives the id under which a message may be refused: only that of a request, as
// a response's would name one of ours, and of none whose answer is still to come.
func (s *stdio) blamed(m *message) json.RawMessage {
	if m.method == nil || !m.key.IsValid() || s.flights.has(m.key) {
		return nil
	}
	return m.id
}

func (s *stdio) refuse(id json.RawMessage, why *fault) {
	text, err := encodeLine(refusal{Version: rpcVersion, ID: id, Error: refusalText{why.code, why.text}})
	if err != nil {
		s.opt.Log.Error("encode a refusal", "err", err)
		return
	}
	_ = s.out.write(text) // serve sees out fail
}

// until returns a context that ends with either of two, with the cause of whichever it
// was. The caller calls end.
func until(ctx, other context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}
