package gateway

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

// listen opens an event stream and returns what its lines are read from.
func (h *harness) listen(ctx context.Context, token, query, last string) *bufio.Scanner {
	h.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+"/events"+query, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatalf("%d %s", resp.StatusCode, resp.Header)
	}
	scan := bufio.NewScanner(resp.Body)
	if !scan.Scan() || scan.Text() != ": connected" {
		h.t.Fatalf("first line %q", scan.Text())
	}
	return scan
}

// next reads one event: its id, kind and data.
func next(t *testing.T, scan *bufio.Scanner) (id, kind, data string) {
	t.Helper()
	for scan.Scan() {
		switch name, value, _ := strings.Cut(scan.Text(), ": "); name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			return id, kind, value
		}
	}
	t.Fatal("the stream ended")
	return "", "", ""
}

func TestC7_EventsCarryIdsAndCanBeResumed(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	ctx, cancel := context.WithCancel(t.Context())
	scan := h.listen(ctx, h.agent, "", "")
	first := h.bus.Publish(protocol.Event{Kind: protocol.EventFinished, Agent: "main", Text: "one\ntwo"})
	id, kind, data := next(t, scan)
	if id != first.ID || kind != "exec.finished" || !strings.Contains(data, `"text":"one\ntwo"`) {
		t.Errorf("event %s %s %s", id, kind, data)
	}
	cancel()
	second := h.bus.Publish(protocol.Event{Kind: protocol.EventFinished, Agent: "main"})
	scan = h.listen(t.Context(), h.agent, "", first.ID)
	if id, _, _ := next(t, scan); id != second.ID {
		t.Errorf("resumed with %s", id)
	}
	scan = h.listen(t.Context(), h.agent, "", "other-7")
	if id, kind, _ := next(t, scan); kind != "gap" || id != "" {
		t.Errorf("an unknown id begins with %s %s", id, kind)
	}
}

func TestC6_AgentSeesItsOwnEventsOnly(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	_, builder := h.token("builder", false)
	agent := h.listen(t.Context(), builder, "", "")
	all := h.listen(t.Context(), h.operator, "", "")
	one := h.listen(t.Context(), h.operator, "?agent=builder", "")
	h.bus.Publish(protocol.Event{Kind: "exec.finished", Agent: "main"})
	mine := h.bus.Publish(protocol.Event{Kind: "exec.finished", Agent: "builder"})
	if id, _, _ := next(t, agent); id != mine.ID {
		t.Errorf("the agent saw %s", id)
	}
	if id, _, _ := next(t, one); id != mine.ID {
		t.Errorf("the operator's filter let %s through", id)
	}
	if id, _, _ := next(t, all); id == mine.ID {
		t.Error("the operator missed an event")
	}
	if a := h.do("GET", "/events?agent=main", builder, ""); a.status != http.StatusForbidden {
		t.Errorf("another agent's events: %d", a.status)
	}
	if a := h.do("GET", "/events?agent=..", h.operator, ""); a.status != http.StatusBadRequest {
		t.Errorf("a bad agent id: %d", a.status)
	}
	// History must not leak either.
	replay := h.listen(t.Context(), builder, "", "e-0")
	if id, _, _ := next(t, replay); id != mine.ID {
		t.Errorf("the history gave %s", id)
	}
}

func TestEventStreamEndsWithTheGateway(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	scan := h.listen(t.Context(), h.agent, "", "")
	h.s.stop(errStopping)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for scan.Scan() {
			_ = scan.Text()
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the stream goes on")
	}
	if a := h.do("GET", "/healthz", "", ""); a.status != http.StatusServiceUnavailable {
		t.Errorf("a request while stopping: %d", a.status)
	}
}

// end reads a stream to its end and returns what came.
func end(t *testing.T, scan *bufio.Scanner) string {
	t.Helper()
	var text strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		for scan.Scan() {
			text.WriteString(scan.Text() + "\n")
		}
	}()
	await(t, "the end of the stream", done)
	return text.String()
}

// C-6: a token that is revoked, here or by another process, opens nothing any more, and
// what it has opened closes.
func TestC6_RevokedTokenEndsItsEventStream(t *testing.T) {
	const last = "event: unauthorized\ndata: {\"error\":{\"message\":\"Unauthorized\",\"type\":\"unauthorized\"}}\n\n"
	secret := protocol.Event{Kind: protocol.EventFinished, Agent: "main", Text: "secret"}
	for _, tt := range []struct {
		name      string
		heartbeat time.Duration
		publish   bool
	}{
		{"at the next event", time.Hour, true},
		{"at the next heartbeat", 20 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, &fakeTools{}, "")
			h.s.heartbeat = tt.heartbeat
			id, further := h.token("main", false)
			revoked := h.listen(t.Context(), further, "", "")
			plain := h.listen(t.Context(), h.agent, "", "")
			elsewhere, err := identity.Open(h.s.opt.StateDir)
			if err != nil {
				t.Fatal(err)
			}
			if err := elsewhere.Revoke(id); err != nil {
				t.Fatal(err)
			}
			if tt.publish {
				h.bus.Publish(secret)
			}
			if got := end(t, revoked); !strings.HasSuffix(got, last) || strings.Contains(got, "secret") {
				t.Errorf("the stream ended with %q", got)
			}
			if !tt.publish {
				h.bus.Publish(secret)
			}
			if _, _, data := next(t, plain); !strings.Contains(data, "secret") {
				t.Errorf("another token's stream got %s", data)
			}
			if a := h.do("POST", "/rpc", h.operator, `{"method":"agents.token.revoke","params":{"id":"default"}}`); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if tt.publish {
				h.bus.Publish(secret)
			}
			if got := end(t, plain); !strings.HasSuffix(got, last) || strings.Contains(got, "secret") {
				t.Errorf("the plain token's stream ended with %q", got)
			}
		})
	}
}
