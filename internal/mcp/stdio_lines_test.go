package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// viaSDK makes the SDK's the way of a message that means the same.
func viaSDK(message string) string { return strings.Replace(message, `"tools/`, `"tools\/`, 1) }

// ways are the two a call can take.
func ways() map[string]func(string) string {
	return map[string]func(string) string{"direct": func(s string) string { return s }, "SDK": viaSDK}
}

// answer is what a client reads.
type answer struct {
	ID     any
	Result any
	Error  *struct {
		Code    int
		Message string
	}
}

func (s *stdioClient) answer() (a answer) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.read()), &a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *stdioClient) end() {
	s.t.Helper()
	_ = s.in.Close()
	go func() { _, _ = io.Copy(io.Discard, s.lines) }()
	if err := s.wait(); err != nil {
		s.t.Error(err)
	}
}

// held answers a call when release is closed.
func held() (c *fakeCaller, started, release chan struct{}) {
	started, release = make(chan struct{}, 1), make(chan struct{})
	return &fakeCaller{call: func(ctx context.Context, _ protocol.ToolRequest, _ func(protocol.Progress)) (*protocol.ToolResult, error) {
		started <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return completed("done\n"), nil
	}}, started, release
}

// A line that is no message is answered, and a running call gets its answer all the same.
func TestABadLineDisturbsNothing(t *testing.T) {
	type bad struct {
		line string
		code int
		id   any
	}
	lines := []bad{
		{`{bad`, -32700, nil},
		{"\xff\xfe", -32700, nil},
		{strings.Repeat("[", 20_000), -32700, nil},
		{`null`, -32600, nil},
		{`[]`, -32600, nil},
		{`5`, -32600, nil},
		{`"x"`, -32600, nil},
		{`{}`, -32600, nil},
		{`{"jsonrpc":"2.0"}`, -32600, nil},
		{`{"jsonrpc":"1.0","id":3,"method":"ping"}`, -32600, 3.0},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, nil}, // 7 is in flight
		{`{"jsonrpc":"1.0","id":3,"result":{}}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":1,"error":5}`, -32600, nil},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, nil},
		{callMessage, -32600, nil},
		{viaSDK(callMessage), -32600, nil}, // in flight
		{strings.Replace(callMessage, "sleep", strings.Repeat("x", lineMax), 1), -32600, nil},
		{`{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, -32600, "deep"},
	}
	for way, as := range ways() {
		c, started, release := held()
		s := startStdio(t, t.Context(), c)
		s.send(as(callMessage))
		await(t, "the call", started)
		for _, bad := range lines {
			s.send(bad.line)
			a := s.answer()
			if a.Error == nil || a.Error.Code != bad.code || a.ID != bad.id || a.Error.Message == "" {
				t.Errorf("%s: %.60q: %+v", way, bad.line, a)
			}
		}
		s.send("\r\n \t\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\r") // nothing to say but to the last
		if a := s.answer(); a.ID != 9.0 || a.Error != nil {
			t.Errorf("%s: ping: %+v", way, a)
		}
		close(release)
		if a := s.answer(); a.ID != 7.0 || a.Error != nil {
			t.Errorf("%s: the call: %+v", way, a)
		}
		s.end()
	}
}

// The direct way says and calls what the SDK's does.
func TestBothWaysAnswerAlike(t *testing.T) {
	results := map[string]func() (*protocol.ToolResult, error){
		"result": func() (*protocol.ToolResult, error) { return completed("a<b>&\u2028\n\xff"), nil },
		"error": func() (*protocol.ToolResult, error) {
			return nil, &protocol.Error{Type: "x", Message: "bad", Hint: "do"}
		},
		"own error":  func() (*protocol.ToolResult, error) { return nil, errors.New("own") },
		"no content": func() (*protocol.ToolResult, error) { return &protocol.ToolResult{}, nil },
		"panic":      func() (*protocol.ToolResult, error) { panic("our own fault") },
	}
	type seen struct {
		tool, args string
		sdk        bool
	}
	for name, result := range results {
		var last seen
		s := startStdio(t, t.Context(), &fakeCaller{call: func(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
			if watch != nil {
				t.Error("nobody watches")
			}
			_, sdk := ctx.Value(calledKey{}).(called)
			last = seen{req.Tool, string(req.Args), sdk}
			return result()
		}})
		for _, message := range []string{
			callMessage,
			`{"jsonrpc":"2.0","id":"ä\"b","method":"tools/call","params":{"name":"no such","_meta":{"a":1},"more":2}}`,
			`{ "id": -5, "params": {"arguments": { "a" : "\u00e4\ud83d\ude00<", "b": [1.50, null] }, "name": "exec"}, "method": "tools/call", "jsonrpc": "2.0"}`,
		} {
			var answers [2]answer
			var calls [2]seen
			for i, text := range []string{message, viaSDK(message)} {
				s.send(text)
				answers[i], calls[i] = s.answer(), last
			}
			if calls[0].sdk || !calls[1].sdk {
				t.Fatalf("%s: %s: the SDK's way: %v, %v", name, message, calls[0].sdk, calls[1].sdk)
			}
			if calls[1].sdk = false; calls[0] != calls[1] {
				t.Errorf("%s: called %+v, the SDK calls %+v", name, calls[0], calls[1])
			}
			if !reflect.DeepEqual(answers[0], answers[1]) {
				t.Errorf("%s: %s:\ndirect %+v\nSDK    %+v", name, message, answers[0], answers[1])
			}
		}
		s.end()
	}
}

func TestAResultThatCannotBeWrittenIsAnError(t *testing.T) {
	s := startStdio(t, t.Context(), &fakeCaller{call: func(context.Context, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
		return &protocol.ToolResult{Details: func() {}}, nil
	}})
	s.send(callMessage)
	if a := s.answer(); a.ID != 7.0 || a.Error == nil || a.Error.Code != -32603 {
		t.Errorf("%+v", a)
	}
	s.end()
}

func TestACallBeforeTheSessionIsTheSDKs(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := newStdioClient(t, toServer, fromServer)
	go func() { s.done <- ServeStdio(t.Context(), &fakeCaller{}, Options{}, in, out); _ = out.Close() }()
	s.send(callMessage)
	if a := s.answer(); a.Error == nil || a.ID != 7.0 {
		t.Errorf("%+v", a)
	}
	s.send(fmt.Sprintf(benchCall, 8, benchMeta)) // a version in which every request begins anew
	if a := s.answer(); a.Error != nil || a.Result.(map[string]any)["resultType"] != "complete" {
		t.Errorf("%+v", a)
	}
	s.end()
}

func TestX7_ACancelledCallGetsNoAnswer(t *testing.T) {
	for way, as := range ways() {
		c, started, ended := blocking()
		s := startStdio(t, t.Context(), c)
		s.send(as(callMessage))
		await(t, "the call", started)
		for _, other := range []string{`{"requestId":"7"}`, `{"requestId":8}`, `{"requestId":7.5}`, `{"requestId":{}}`, `{}`, `[7]`, `null`} {
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + other + `}`)
		}
		select {
		case <-ended:
			t.Fatalf("%s: another cancellation ended it", way)
		case <-time.After(20 * time.Millisecond):
		}
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":5}}`)
		await(t, "the cancellation", ended)
		for { // once the call has left, its id may be used again
			s.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
			a := s.answer()
			if a.ID == nil {
				continue
			}
			if a.Error != nil || len(a.Result.(map[string]any)) > 0 {
				t.Errorf("%s: answered: %+v", way, a)
			}
			break
		}
		s.end()
	}
}

func TestX7_TheEndCancelsBothWays(t *testing.T) {
	for way, as := range ways() {
		for _, by := range []string{"input", "context"} {
			ctx, cancel := context.WithCancel(t.Context())
			c, started, ended := blocking()
			s := startStdio(t, ctx, c)
			s.send(as(callMessage))
			await(t, "the call", started)
			if by == "context" {
				cancel()
			} else {
				_ = s.in.Close()
			}
			await(t, "the cancellation", ended)
			if rest, err := io.ReadAll(s.lines); len(rest) > 0 || err != nil {
				t.Errorf("%s, %s: %q, %v", way, by, rest, err)
			}
			if err := s.wait(); err != nil {
				t.Errorf("%s, %s: %v", way, by, err)
			}
			cancel()
		}
	}
}

func TestManyCallsAtOnceKeepTheirLines(t *testing.T) {
	s := startStdio(t, t.Context(), &fakeCaller{})
	const n = 200
	go func() {
		for i := range n {
			as := ways()[[]string{"direct", "SDK"}[i%2]]
			_, _ = io.WriteString(s.in, as(fmt.Sprintf(benchCall, 100+i, ""))+"\n{bad\n")
		}
	}()
	got := map[any]int{}
	for range 2 * n {
		got[s.answer().ID]++
	}
	if len(got) != n+1 || got[nil] != n {
		t.Errorf("%d ids, %d refusals", len(got), got[nil])
	}
	s.end()
}

// stuck is a terminal: a read does not return because it was closed.
type stuck struct{ release chan struct{} }

func (s stuck) Read([]byte) (int, error) { <-s.release; return 0, io.EOF }
func (s stuck) Close() error             { return nil }

func TestStdioEndsBesideAReadThatDoesNot(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := stuck{make(chan struct{})}
	defer close(in.release)
	done := make(chan error, 1)
	go func() { done <- ServeStdio(ctx, &fakeCaller{}, Options{}, in, io.Discard) }()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the read")
	}
}

func TestStdioEndsWhenNothingCanBeSaid(t *testing.T) {
	broken := errors.New("broken")
	in, toServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- ServeStdio(t.Context(), &fakeCaller{}, Options{}, in, failing{broken}) }()
	if _, err := io.WriteString(toServer, initializeMessage+"\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}

func TestStdioTellsOfAReadThatFails(t *testing.T) {
	broken := errors.New("broken")
	err := ServeStdio(t.Context(), &fakeCaller{}, Options{}, io.NopCloser(failing{broken}), io.Discard)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
