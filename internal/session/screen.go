package session

import (
	"context"
	"fmt"

	"openclaw/internal/protocol"
	"openclaw/internal/terminal"
)

// screenBytes is how much of the latest output a screen is made from.
const screenBytes = 256 << 10

// Screen is a terminal's screen as text, with the state of its session.
type Screen struct {
	State
	Screen protocol.Screen
}

// Paint is what to write to a terminal of that size so that it shows the session's, and
// where the output that comes after it begins.
type Paint struct {
	State
	Cols, Rows int
	Data       []byte
	Offset     int64
}

// Screen returns the terminal's screen as text, made from its latest output.
func (t *Table) Screen(_ context.Context, agent, id string) (Screen, error) {
	s, v, err := t.latest(agent, id)
	if err != nil {
		return Screen{}, err
	}
	var screen protocol.Screen
	if v.whole {
		screen, err = terminal.Snapshot(v.output, v.cols, v.rows)
	} else {
		screen, err = terminal.SnapshotTail(v.output, v.cols, v.rows, s.tracker.Modes())
	}
	return Screen{State: s.state(), Screen: screen}, err
}

// Paint returns the terminal's screen for a viewer's terminal.
func (t *Table) Paint(_ context.Context, agent, id string) (Paint, error) {
	s, v, err := t.latest(agent, id)
	if err != nil {
		return Paint{}, err
	}
	p := Paint{State: s.state(), Cols: v.cols, Rows: v.rows, Offset: v.end}
	if v.whole {
		p.Data, err = terminal.Repaint(v.output, v.cols, v.rows)
	} else {
		p.Data, err = terminal.RepaintTail(v.output, v.cols, v.rows, s.tracker.Modes())
	}
	return p, err
}

// latest is the output that a screen is made from.
type latest struct {
	output     []byte
	whole      bool  // all there ever was
	end        int64 // offset behind it
	cols, rows int
}

func (t *Table) latest(agent, id string) (*session, latest, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return nil, latest{}, err
	}
	if !s.plan.PTY {
		return nil, latest{}, fmt.Errorf("%s: %w", id, ErrNoTTY)
	}
	end := s.log.extent().end
	at, b := s.log.read(max(0, end-screenBytes), screenBytes)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, latest{output: b, whole: at == 0, end: at + int64(len(b)), cols: s.cols, rows: s.rows}, nil
}
