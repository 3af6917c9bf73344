package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, one JSON message a line, until
// in ends or ctx does; then calls in flight are cancelled and have returned when
// it returns. The end of in is no error. It closes in, and writes nothing but protocol
// messages to out.
func ServeStdio(ctx context.Context, c caller, opt Options, in io.ReadCloser, out io.Writer) error {
	server := newServer(opt, func(call context.Context, _ sdk.Request) (context.Context, caller, func()) {
		call, end := until(call, ctx)
		return call, c, end
	})
	session, err := server.Connect(ctx, &sdk.IOTransport{Reader: in, Writer: writeOnly{out}}, nil)
	if err != nil {
		return fmt.Errorf("serve mcp on stdio: %w", err)
	}
	// Close would wait for calls, and these end because begin ties them to ctx.
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	err = session.Wait()
	if !stop() {
		_ = session.Close() // returns when the one in flight has
		return nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve mcp on stdio: %w", err)
	}
	return nil
}

// writeOnly keeps the SDK from closing a stream that is not its own.
type writeOnly struct{ io.Writer }

func (writeOnly) Close() error { return nil }

// until returns a context that ends with either of two, with the cause of whichever it
// was. The caller calls end.
func until(ctx, other context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}
