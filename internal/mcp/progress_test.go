package mcp

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

func TestC32_ProgressCarriesLiveOutput(t *testing.T) {
	server := newServer(Options{}, func(ctx context.Context, _ sdk.Request) (context.Context, caller, func()) {
		return ctx, &fakeCaller{call: func(_ context.Context, _ protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
			watch(protocol.Progress{SessionID: "gentle-otter", Pid: 1})
			watch(protocol.Progress{Data: []byte("one\n")})
			watch(protocol.Progress{Offset: 4, Data: []byte("two\n")})
			return completed("one\ntwo\n"), nil
		}}, func() {}
	})
	client, end := sdk.NewInMemoryTransports()
	served, err := server.Connect(t.Context(), end, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	last := 0.0
	got := make(chan struct{}, 10)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
			if n.Params.ProgressToken != "tok" || n.Params.Progress <= last {
				t.Errorf("notification %+v after progress %v", n.Params, last)
			}
			last = n.Params.Progress
			text.WriteString(n.Params.Message)
			got <- struct{}{}
		},
	}).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	params := &sdk.CallToolParams{Name: "exec"}
	params.SetProgressToken("tok")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the two parts come as one or as two
		select {
		case <-got:
		case <-time.After(200 * time.Millisecond):
		}
	}
	_ = session.Close()
	_ = served.Wait()
	if text.String() != "one\ntwo\n" || last != 8 {
		t.Errorf("progress was %q up to %v", text.String(), last)
	}
}

// A client that takes no notification must not hold up the command.
func TestProgressNeverWaitsForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &liveOutput{wake: make(chan struct{}, 1)}
		done, release := make(chan struct{}), make(chan struct{})
		var messages []string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			live.send(done, func(text string, _ int64) { <-release; messages = append(messages, text) })
		}()
		start := time.Now()
		for range 10_000 {
			live.add(protocol.Progress{Data: []byte("0123456789abcdef")})
		}
		if time.Since(start) > 0 { // fake time: only waiting makes it pass
			t.Error("add waited")
		}
		close(release)
		close(done)
		<-ended
		if n := len(messages); n < 1 || n > 2 {
			t.Errorf("%d notifications", n)
		}
		last := messages[len(messages)-1]
		if len(last) > progressMax+64 || !strings.HasSuffix(last, "0123456789abcdef") || !strings.Contains(last, "bytes not shown here]\n") {
			t.Errorf("last notification has %d bytes: %.60q", len(last), last)
		}
	})
}

func TestProgressIsCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &liveOutput{wake: make(chan struct{}, 1)}
		done, ended := make(chan struct{}), make(chan struct{})
		n, total := 0, int64(0)
		go func() {
			defer close(ended)
			live.send(done, func(_ string, sum int64) { n++; total = sum })
		}()
		for range 1000 { // one second of output
			live.add(protocol.Progress{Data: []byte("x")})
			time.Sleep(time.Millisecond)
		}
		close(done)
		<-ended
		if n < 5 || n > 12 || total != 1000 {
			t.Errorf("%d notifications in a second, up to byte %d", n, total)
		}
	})
}

func TestProgressNeverSplitsCharacters(t *testing.T) {
	const text = "käse 漢字 😀\n"
	live := &liveOutput{wake: make(chan struct{}, 1)}
	var got strings.Builder
	for i := range len(text) {
		live.add(protocol.Progress{Data: []byte{text[i]}})
		if part, _, ok := live.take(false); ok {
			if !utf8.ValidString(part) {
				t.Fatalf("part %q", part)
			}
			got.WriteString(part)
		}
	}
	if got.String() != text {
		t.Errorf("got %q", got.String())
	}
	live.add(protocol.Progress{Stream: "stdout", Data: []byte{0xe6, 0xbc}})
	live.add(protocol.Progress{Stream: "stderr", Data: []byte{'!'}})
	if part, _, _ := live.take(false); part != "!" {
		t.Errorf("the other stream gave %q", part)
	}
	live.add(protocol.Progress{Stream: "stdout", Data: []byte{0xa2}})
	if part, _, _ := live.take(false); part != "漢" {
		t.Errorf("the character came as %q", part)
	}
	live.add(protocol.Progress{Data: []byte{'a', 0xff, 0xe6}})
	if part, _, _ := live.take(true); part != "a\uFFFD\uFFFD" {
		t.Errorf("invalid bytes came as %q", part)
	}
}
