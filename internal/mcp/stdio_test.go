package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// stdioClient is a client of ServeStdio that speaks in lines.
type stdioClient struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Reader
	done  chan error
}

func newStdioClient(t *testing.T, in *io.PipeWriter, out io.Reader) *stdioClient {
	return &stdioClient{t: t, in: in, lines: bufio.NewReader(out), done: make(chan error, 1)}
}

func startStdio(t *testing.T, ctx context.Context, c caller) *stdioClient {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := newStdioClient(t, toServer, fromServer)
	go func() {
		err := ServeStdio(ctx, c, Options{Version: "1"}, in, out)
		_ = out.Close()
		s.done <- err
	}()
	s.send(initializeMessage)
	if answer := s.read(); !strings.Contains(answer, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("initialize: %s", answer)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *stdioClient) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stdioClient) read() string {
	s.t.Helper()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	if !json.Valid([]byte(line)) {
		s.t.Fatalf("not a protocol message: %q", line)
	}
	return line
}

func (s *stdioClient) wait() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(10 * time.Second):
		s.t.Fatal("ServeStdio did not return")
		return nil
	}
}

// blocking answers when its context ends, and says so on ended.
func blocking() (c *fakeCaller, started, ended chan struct{}) {
	started, ended = make(chan struct{}, 1), make(chan struct{}, 1)
	return &fakeCaller{call: func(ctx context.Context, _ protocol.ToolRequest, _ func(protocol.Progress)) (*protocol.ToolResult, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return &protocol.ToolResult{Content: protocol.Text("cancelled"), Details: &protocol.ExecResult{Status: protocol.StatusCancelled}}, nil
	}}, started, ended
}

func await(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not happen", what)
	}
}

const callMessage = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"exec","arguments":{"command":"sleep 60"}}}`

func TestX7_EndOfStdinCancelsCalls(t *testing.T) {
	c, started, ended := blocking()
	s := startStdio(t, t.Context(), c)
	s.send(callMessage)
	await(t, "the call", started)
	_ = s.in.Close()
	await(t, "the cancellation", ended)
	go func() { _, _ = io.Copy(io.Discard, s.lines) }()
	if err := s.wait(); err != nil {
		t.Errorf("the end of stdin is an error: %v", err)
	}
}

func TestX7_CancelledNotificationEndsTheCall(t *testing.T) {
	c, started, ended := blocking()
	s := startStdio(t, t.Context(), c)
	s.send(callMessage)
	await(t, "the call", started)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`) // another one
	select {
	case <-ended:
		t.Fatal("another call's cancellation ended it")
	case <-time.After(50 * time.Millisecond):
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	await(t, "the cancellation", ended)
	s.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	if answer := s.read(); !strings.Contains(answer, `"id":8`) {
		t.Errorf("a cancelled call was answered: %s", answer)
	}
	_ = s.in.Close()
	if err := s.wait(); err != nil {
		t.Error(err)
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, started, ended := blocking()
	s := startStdio(t, ctx, c)
	s.send(callMessage)
	await(t, "the call", started)
	cancel()
	await(t, "the cancellation", ended)
	go func() { _, _ = io.Copy(io.Discard, s.lines) }()
	if err := s.wait(); err != nil {
		t.Error(err)
	}
	_ = s.in.Close()
}

func TestStdioSurvivesNonsense(t *testing.T) {
	s := startStdio(t, t.Context(), &fakeCaller{})
	s.send(`{"jsonrpc":"2.0","id":2,"method":"no/such"}`)
	if answer := s.read(); !strings.Contains(answer, `"error"`) {
		t.Errorf("unknown method: %s", answer)
	}
	s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec"}}`)
	if answer := s.read(); !strings.Contains(answer, `"ok\n"`) {
		t.Errorf("call: %s", answer)
	}
	_ = s.in.Close()
	if err := s.wait(); err != nil {
		t.Error(err)
	}
}
