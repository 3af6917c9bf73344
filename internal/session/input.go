package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/terminal"
)

// writeLimit is how long a write waits for a program that does not read (S-7).
const writeLimit = 2 * time.Second

// Input is what goes to a session, in this order: Data, then Literal, Hex and Keys,
// then Paste, then end of file.
type Input struct {
	Data    []byte
	Literal string
	Hex     []string
	Keys    []string // names as tmux has them (S-2)
	Paste   *Paste
	EOF     bool
}

// Paste is text as if pasted into the terminal.
type Paste struct {
	Text      string
	Bracketed bool
}

func (in Input) needsTerminal() bool {
	return in.Literal != "" || len(in.Hex) > 0 || len(in.Keys) > 0 || in.Paste != nil
}

// Write sends input to a session and returns how many bytes went in. A program that
// does not read gets what fits: the count then comes with proc.ErrInputFull. Keys that
// cannot be understood send nothing at all.
func (t *Table) Write(_ context.Context, agent, id string, in Input) (int, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return 0, err
	}
	if s.statusNow() != protocol.StatusRunning || s.proc == nil {
		return 0, fmt.Errorf("%s: %w", id, ErrFinished)
	}
	if in.needsTerminal() && !s.plan.PTY {
		return 0, fmt.Errorf("%s: %w", id, ErrNoTTY)
	}
	if s.proc.In == nil {
		return 0, fmt.Errorf("%s: %w", id, ErrNoStdin)
	}
	data, err := in.bytes(s.tracker.Modes())
	if err != nil {
		return 0, &inputError{err}
	}
	var n int
	if len(data) > 0 {
		if n, err = s.proc.In.Write(data, writeLimit); err != nil {
			return n, s.inputError(err)
		}
	}
	if in.EOF {
		err = s.proc.In.Close()
	}
	return n, err
}

// inputError is about the input a caller gave; it is an ErrInput.
type inputError struct{ error }

func (e *inputError) Unwrap() []error { return []error{e.error, ErrInput} }

func (s *session) inputError(err error) error {
	if errors.Is(err, proc.ErrInputClosed) && s.finishedState() {
		return fmt.Errorf("%s: %w", s.plan.ID, ErrFinished)
	}
	return fmt.Errorf("write to %s: %w", s.plan.ID, err)
}

func (in Input) bytes(m terminal.Modes) ([]byte, error) {
	hex, err := terminal.Hex(in.Hex)
	if err != nil {
		return nil, err
	}
	keys, err := terminal.Keys(in.Keys, m)
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), in.Data...)
	out = append(out, in.Literal...)
	out = append(out, hex...)
	out = append(out, keys...)
	if in.Paste != nil {
		out = append(out, terminal.Paste(in.Paste.Text, in.Paste.Bracketed)...)
	}
	return out, nil
}

// Resize changes the terminal's size.
func (t *Table) Resize(_ context.Context, agent, id string, cols, rows int) error {
	s, err := t.get(agent, id)
	if err != nil {
		return err
	}
	if s.statusNow() != protocol.StatusRunning || s.proc == nil {
		return fmt.Errorf("%s: %w", id, ErrFinished)
	}
	if !s.plan.PTY {
		return fmt.Errorf("%s: %w", id, ErrNoTTY)
	}
	return s.resize(proc.Size{Cols: cols, Rows: rows})
}
