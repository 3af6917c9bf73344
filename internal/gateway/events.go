package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

// heartbeat is how often a quiet stream says that it lives and its token is looked at.
const heartbeat = 15 * time.Second

// events streams system events as server-sent events (C-7). An agent's token sees its
// own agent's, the operator all or with ?agent= one agent's. A client that comes back
// with Last-Event-ID gets what it missed; where that is no longer known, an event of
// kind "gap" says so first. A client that is too slow is cut off and comes back. One whose
// token is revoked gets nothing more but an event "unauthorized" with the body of a 401.
func (s *server) events(req *request) {
	if req.r.URL.Query().Get("approvals") == "1" {
		s.approvalEvents(req)
		return
	}
	filter, err := eventFilter(req)
	if err != nil {
		writeError(req.w, err)
		return
	}
	sub := req.backend.bus.Subscribe(filter, req.r.Header.Get("Last-Event-ID"))
	defer sub.Close()
	ctx, end := s.context(req)
	defer end()

	header := req.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies would hold events back
	out := &eventStream{w: req.w, control: http.NewResponseController(req.w)}
	if out.send(": connected\n\n") != nil {
		return
	}
	if sub.Gap() && out.event(protocol.Event{Kind: "gap", Text: "events may be missing before this one", AtMs: time.Now().UnixMilli()}) != nil {
		return
	}
	for {
		wait, cancel := context.WithTimeout(ctx, s.heartbeat)
		e, err := sub.Next(wait)
		cancel()
		if ctx.Err() == nil && !req.signedIn() {
			_ = out.send("event: unauthorized\ndata: " + unauthorizedBody + "\n\n") // it ends either way
			return
		}
		switch {
		case err == nil:
			err = out.event(e)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = out.send(": still here\n\n")
		}
		if err != nil {
			return
		}
	}
}

// eventFilter says which events the caller may see and wants.
func eventFilter(req *request) (func(protocol.Event) bool, *protocol.Error) {
	agent := req.who.agent
	if named := req.r.URL.Query().Get("agent"); named != "" {
		id, err := identity.AgentID(named)
		if err != nil {
			return nil, &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error()}
		}
		if !req.who.operator && id != agent {
			return nil, &protocol.Error{Type: protocol.ErrForbidden, Message: "this token sees events of agent " + agent + " only"}
		}
		agent = id
	}
	if agent == "" {
		if !req.who.operator { // cannot be; all events are for the operator alone
			return nil, &protocol.Error{Type: protocol.ErrForbidden, Message: "this token has no agent"}
		}
		return nil, nil
	}
	return func(e protocol.Event) bool { return e.Agent == agent }, nil
}

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o *eventStream) event(e protocol.Event) error {
	data, err := json.Marshal(e) // one line: JSON has no raw line feeds
	if err != nil {
		return err
	}
	var b strings.Builder
	if e.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", e.ID)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Kind, data)
	return o.send(b.String())
}

func (o *eventStream) send(text string) error {
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.control.Flush()
}
