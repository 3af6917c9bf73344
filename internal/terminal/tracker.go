package terminal

import (
	"bytes"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Modes is what a program has switched on in its terminal, as far as keys,
// pastes and the screen depend on it. The zero value is a terminal just started.
type Modes struct {
	AppCursor      bool   // DECCKM: cursor keys send ESC O A, not ESC [ A
	BracketedPaste bool   // the program asked for paste frames
	AltScreen      bool   // the alternate screen is shown
	Title          string // last title set; printable, at most 256 bytes
}

const (
	maxTitle  = 256
	maxTitles = 8 // depth of the title stack; deeper pushes are dropped
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

// modeState is the modes and what is needed to bring old titles back.
type modeState struct {
	modes  Modes
	titles []string // pushed titles, the last is the newest
}

// apply follows one token; final is the byte that ended it.
func (s *modeState) apply(l *lexer, t token, final byte) {
	switch t {
	case tokEsc:
		if l.inter == 0 && final == 'c' { // RIS; the title is the window's and stays
			s.modes = Modes{Title: s.modes.Title}
			s.titles = nil
		}
	case tokCSI:
		s.applyCSI(l, final)
	case tokOSC:
		if title, ok := titleOf(l.str); ok {
			s.modes.Title = title
		}
	}
}

func (s *modeState) applyCSI(l *lexer, final byte) {
	switch {
	case l.prefix == '?' && l.inter == 0 && (final == 'h' || final == 'l'):
		for _, p := range l.written() {
			s.set(p, final == 'h')
		}
	case l.prefix == 0 && l.inter == '!' && final == 'p':
		// DECSTR puts the cursor keys back. Bracketed paste is no part of it:
		// losing it would let a pasted line run as a command.
		s.modes.AppCursor = false
	case l.prefix == 0 && l.inter == 0 && final == 't':
		s.titleStack(l)
	}
}

func (s *modeState) set(mode int32, on bool) {
	switch mode {
	case 1:
		s.modes.AppCursor = on
	case 2004:
		s.modes.BracketedPaste = on
	case 47, 1047, 1049:
		s.modes.AltScreen = on
	}
}

// titleStack follows CSI 22 t (push) and CSI 23 t (pop), with which editors
// give the title back when they end. Kind 1 is the icon's name: not ours.
func (s *modeState) titleStack(l *lexer) {
	if kind := l.param(1); kind != 0 && kind != 2 {
		return
	}
	switch n := len(s.titles); l.param(0) {
	case 22:
		if n < maxTitles {
			s.titles = append(s.titles, s.modes.Title)
		}
	case 23:
		if n > 0 {
			s.modes.Title, s.titles = s.titles[n-1], s.titles[:n-1]
		}
	}
}

// titleOf takes the title out of the text of OSC 0 or 2. Only printable
// characters stay, as the title is shown to people.
func titleOf(osc []byte) (title string, ok bool) {
	kind, text, found := bytes.Cut(osc, []byte{';'})
	if !found || len(kind) != 1 || kind[0] != '0' && kind[0] != '2' {
		return "", false
	}
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(text))
	for len(clean) > maxTitle {
		_, size := utf8.DecodeLastRuneInString(clean)
		clean = clean[:len(clean)-size]
	}
	return clean, true
}
