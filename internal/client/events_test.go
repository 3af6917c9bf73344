package client_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"openclaw/internal/protocol"
)

func TestEvents(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != "e-4" {
			t.Errorf("Last-Event-ID is %q", got)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n"+
			"id: e-5\nevent: exec.finished\ndata: {\"kind\":\"exec.finished\",\ndata: \"text\":\"done\",\"future\":1}\n\n"+
			"event: heartbeat\n\n"+
			"id:e-6\r\ndata:{\"id\":\"e-6\",\"text\":\""+strings.Repeat("y", 200_000)+"\"}\r\n\r\n"+
			"id: e-7\ndata: {\"text\":\"cut o")
	})
	var got []protocol.Event
	err := c.Events(t.Context(), "e-4", func(ev protocol.Event) { got = append(got, ev) })
	if wire := wireError(t, err); wire.Type != protocol.ErrUnavailable {
		t.Errorf("end of the stream: %v", wire)
	}
	if len(got) != 2 || got[0].ID != "e-5" || got[0].Text != "done" || got[1].ID != "e-6" || len(got[1].Text) != 200_000 {
		t.Errorf("%d events", len(got))
	}
}

func TestEventsEndWithContext(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"id\":\"e-1\"}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Events(ctx, "", func(protocol.Event) { cancel() }); err != nil {
		t.Error(err)
	}
}

func TestEventsRefused(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(t, w, 401, protocol.RPCResponse{Error: &protocol.Error{Type: protocol.ErrUnauthorized, Message: "Unauthorized"}})
	})
	if wire := wireError(t, c.Events(t.Context(), "", nil)); wire.Type != protocol.ErrUnauthorized {
		t.Errorf("got %v", wire)
	}
}

// A token that is revoked while it listens is told so, not that the daemon has gone.
func TestC6_EventsEndWithTheToken(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"id\":\"e-1\"}\n\n"+
			"event: unauthorized\ndata: {\"error\":{\"message\":\"Unauthorized\",\"type\":\"unauthorized\"}}\n\n")
	})
	n := 0
	if wire := wireError(t, c.Events(t.Context(), "", func(protocol.Event) { n++ })); wire.Type != protocol.ErrUnauthorized || n != 1 {
		t.Errorf("%v after %d events", wire, n)
	}
}
