package terminal

import (
	"bytes"
	"sync/atomic"
)

// Tracker follows the modes in a stream of output. One goroutine writes;
// any number may call Modes meanwhile. The zero value is ready, needs no
// closing and stays below 16 KiB whatever is written.
type Tracker struct {
	lex lexer     // the writer's
	now modeState // the writer's
	pub atomic.Pointer[Modes]
}

// Write follows one chunk of output. Chunks may be cut anywhere. It always
// returns len(p) and nil, and allocates only when a mode or the title changes.
func (t *Tracker) Write(p []byte) (int, error) {
	before := t.now.modes
	for i := 0; i < len(p); i++ {
		if t.lex.state == inGround {
			// Most output is text, and only ESC leads out of it.
			skip := bytes.IndexByte(p[i:], esc)
			if skip < 0 {
				break
			}
			i += skip
		}
		b := p[i]
		t.now.apply(&t.lex, t.lex.step(b), b)
	}
	if t.now.modes != before {
		changed := t.now.modes
		t.pub.Store(&changed)
	}
	return len(p), nil
}

// Modes returns the modes after the last complete Write.
func (t *Tracker) Modes() Modes {
	if m := t.pub.Load(); m != nil {
		return *m
	}
	return Modes{}
}
