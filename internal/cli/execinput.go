package cli

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"time"

	"openclaw/internal/protocol"
)

const (
	inputChunk = 32 << 10              // bytes of standard input in one call
	fullPause  = 50 * time.Millisecond // before a program that does not read is tried again
	sideLimit  = 5 * time.Second       // for a signal or a new size
)

// processArgs are the arguments of the process tool that exec needs.
type processArgs struct {
	Action    string `json:"action"`
	SessionID string `json:"sessionId"`
	Data      string `json:"data,omitempty"`
	Encoding  string `json:"encoding,omitempty"`
	EOF       bool   `json:"eof,omitempty"`
	Signal    string `json:"signal,omitempty"`
	Cols      int    `json:"cols,omitempty"`
	Rows      int    `json:"rows,omitempty"`
}

// passInput hands standard input to the command until either ends.
func (x *execution) passInput(session string) {
	chunks := readInput(x.ctx, x.env.Stdin, &x.raw)
	x.side.Go(func() {
		defer x.raw.restoreOnPanic()
		defer interruptRead(x.env.Stdin)
		x.sendInput(session, chunks)
	})
}

// readInput reads standard input in pieces until it or ctx ends; the channel is closed
// then.
func readInput(ctx context.Context, stdin io.Reader, raw *rawTerminal) <-chan []byte {
	chunks := make(chan []byte)
	// The one goroutine that nobody waits for: a read of a terminal cannot be
	// interrupted everywhere. It holds nothing, and the program ends right after.
	go func() {
		defer raw.restoreOnPanic()
		defer close(chunks)
		for {
			buf := make([]byte, inputChunk)
			n, err := stdin.Read(buf)
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}

// interruptRead wakes a reader of a pipe; a terminal or a file may not know how.
func interruptRead(r io.Reader) {
	if f, ok := r.(*os.File); ok {
		_ = f.SetReadDeadline(time.Now()) // without it the reader stays until the program ends
	}
}

func (x *execution) sendInput(session string, chunks <-chan []byte) {
	for {
		select {
		case <-x.ctx.Done():
			return
		case data, ok := <-chunks:
			if !ok {
				x.writeInput(processArgs{Action: "write", SessionID: session, EOF: true}, 0)
				return
			}
			for len(data) > 0 {
				n, ok := x.writeInput(processArgs{
					Action: "write", SessionID: session,
					Data: base64.StdEncoding.EncodeToString(data), Encoding: "base64",
				}, len(data))
				if !ok {
					return
				}
				data = data[n:]
			}
		}
	}
}

// writeInput makes one call and returns how many bytes went in; false means that no
// more can. A program that has closed its input or has ended is no fault of ours.
func (x *execution) writeInput(args processArgs, size int) (int, bool) {
	res, err := processCall(x.ctx, x.link, args)
	if err != nil {
		if x.ctx.Err() == nil && !isKind(err, protocol.ErrInvalid) {
			x.raw.restore()
			x.env.say("warning", "standard input is not passed on any more: %v", err)
		}
		return 0, false
	}
	if res.Written == nil {
		return size, true
	}
	if *res.Written < size {
		select {
		case <-time.After(fullPause):
		case <-x.ctx.Done():
			return 0, false
		}
	}
	return *res.Written, true
}

// resize gives the command's terminal the size of ours.
func (x *execution) resize() {
	cols, rows, ok := windowSize(x.env)
	session := x.sessionID()
	if !ok || session == "" {
		return
	}
	x.beside(processArgs{Action: "resize", SessionID: session, Cols: cols, Rows: rows}, nil)
}

// beside makes a process call next to the running one. A failure counts only while the
// command runs, and then failed, which may be nil, is told.
func (x *execution) beside(args processArgs, failed func(error)) {
	x.side.Go(func() {
		defer x.raw.restoreOnPanic()
		ctx, cancel := context.WithTimeout(x.ctx, sideLimit)
		defer cancel()
		_, err := processCall(ctx, x.link, args)
		if err != nil && x.ctx.Err() == nil && failed != nil {
			failed(err)
		}
	})
}
