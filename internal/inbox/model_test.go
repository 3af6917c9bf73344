package inbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"openclaw/internal/protocol"
)

// noted is a desk that notes the answers.
type noted struct{ answers []string }

func (n *noted) Listen(context.Context, func(Event)) error { return nil }

func (n *noted) Resolve(_ context.Context, id, decision string) error {
	n.answers = append(n.answers, id+" "+decision)
	return nil
}

// screen is a model with a clock of its own.
type screen struct {
	*model
	t    *testing.T
	desk *noted
	at   time.Time
}

func newScreen(t *testing.T) *screen {
	s := &screen{t: t, desk: &noted{}, at: time.Unix(1_800_000_000, 0)}
	s.model = &model{ctx: t.Context(), desk: s.desk, now: func() time.Time { return s.at }}
	s.Update(eventMsg{})
	return s
}

func (s *screen) asked(ids ...string) {
	for _, id := range ids {
		s.Update(eventMsg{Requested: &protocol.ExecApproval{ID: id, Request: protocol.ExecApprovalRequest{Command: "run " + id}}})
	}
}

func (s *screen) gone(id string) {
	s.Update(eventMsg{Resolved: &protocol.ExecApprovalResolved{ID: id, Decision: "deny"}})
}

// press types a key and lets what it starts happen.
func (s *screen) press(key rune) {
	if _, cmd := s.Update(tea.KeyPressMsg{Code: key, Text: string(key)}); cmd != nil {
		s.Update(cmd())
	}
}

// TestKeyMeantForAnother: where the request under the cursor goes by itself, a key that was
// meant for it does not answer the next one.
func TestKeyMeantForAnother(t *testing.T) {
	s := newScreen(t)
	s.asked("one", "two", "three")
	s.gone("one")
	s.press('a')
	if len(s.desk.answers) != 0 || !strings.Contains(s.note, "press again") {
		t.Errorf("%q, note %q", s.desk.answers, s.note)
	}
	s.at = s.at.Add(settle)
	s.press('a')
	s.gone("two") // our own answer: the next may follow at once
	s.press('d')
	if got := strings.Join(s.desk.answers, ", "); got != "two allow-once, three deny" {
		t.Errorf("%s", got)
	}
}

// TestListIsThereAgain: after a lost connection nothing old can be answered, and the same
// request is selected once it is told of again.
func TestListIsThereAgain(t *testing.T) {
	s := newScreen(t)
	s.asked("one", "two")
	s.press('j')
	s.Update(lostMsg{errors.New("the gateway restarts"), true})
	s.press('a')
	if len(s.desk.answers) != 0 || !strings.Contains(s.note, "the gateway restarts") {
		t.Errorf("%q, note %q", s.desk.answers, s.note)
	}
	s.Update(eventMsg{})
	s.asked("one", "two")
	if a := s.current(); a == nil || a.ID != "two" || s.note != "" {
		t.Errorf("selected %+v, note %q", a, s.note)
	}
	s.Update(lostMsg{errors.New("again"), true})
	s.Update(eventMsg{})
	s.asked("one") // "two" was decided meanwhile
	s.press('d')
	if len(s.desk.answers) != 0 {
		t.Errorf("%q", s.desk.answers)
	}
	if _, cmd := s.Update(lostMsg{errors.New("for good"), false}); cmd == nil || s.lost == nil {
		t.Error("a desk that never was there ends the screen")
	}
}
