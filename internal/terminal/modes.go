package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitle  = 256
	maxTitles = 8 // depth of the title stack; deeper pushes are dropped
)

// Modes is what a program has switched on in its terminal, as far as keys,
// pastes and the screen depend on it. The zero value is a terminal just started.
type Modes struct {
	AppCursor      bool   // DECCKM: cursor keys send ESC O A, not ESC [ A
	BracketedPaste bool   // the program asked for paste frames
	AltScreen      bool   // the alternate screen is shown
	Title          string // last title set; printable, at most 256 bytes

	AppKeypad     bool   // DECNKM: the keypad sends sequences of its own
	Focus         bool   // the terminal reports when it gets and loses the focus
	MouseEvents   uint16 // which mouse events are reported: 9, 1000, 1002 or 1003; 0 for none
	MouseEncoding uint16 // how: 1005, 1006, 1015 or 1016; 0 for the first form
	CursorHidden  bool
	CursorShape   uint8 // DECSCUSR, 1 to 6; 0 for the terminal's own

	// The scroll region as the program gave it: rows from 1, both inclusive.
	// RegionTop 0 is the whole screen, RegionBottom 0 its last row.
	RegionTop, RegionBottom int
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
		s.applyEsc(l, final)
	case tokCSI:
		s.applyCSI(l, final)
	case tokOSC:
		if title, ok := titleOf(l.str); ok {
			s.modes.Title = title
		}
	}
}

func (s *modeState) applyEsc(l *lexer, final byte) {
	switch {
	case l.inter != 0:
	case final == 'c': // RIS; the title is the window's and stays
		s.modes = Modes{Title: s.modes.Title}
		s.titles = nil
	case final == '=':
		s.modes.AppKeypad = true
	case final == '>':
		s.modes.AppKeypad = false
	}
}

func (s *modeState) applyCSI(l *lexer, final byte) {
	switch {
	case l.prefix == '?' && l.inter == 0 && (final == 'h' || final == 'l'):
		for _, p := range l.written() {
			s.set(p, final == 'h')
		}
	case l.prefix == 0 && l.inter == '!' && final == 'p':
		// DECSTR puts keys, cursor and region back. Bracketed paste is no part of
		// it: losing it would let a pasted line run as a command.
		s.modes.AppCursor, s.modes.AppKeypad, s.modes.CursorHidden = false, false, false
		s.modes.RegionTop, s.modes.RegionBottom = 0, 0
	case l.prefix == 0 && l.inter == ' ' && final == 'q':
		if shape := l.param(0); shape <= 6 {
			s.modes.CursorShape = uint8(shape)
		}
	case l.prefix == 0 && l.inter == 0 && final == 'r':
		s.setRegion(l.count(0), l.param(1))
	case l.prefix == 0 && l.inter == 0 && final == 't':
		s.titleStack(l)
	}
}

func (s *modeState) set(mode int32, on bool) {
	switch mode {
	case 1:
		s.modes.AppCursor = on
	case 25:
		s.modes.CursorHidden = !on
	case 66:
		s.modes.AppKeypad = on
	case 9, 1000, 1002, 1003: // one at a time, and any of them ends the others
		s.modes.MouseEvents = 0
		if on {
			s.modes.MouseEvents = uint16(mode)
		}
	case 1005, 1006, 1015, 1016:
		switch {
		case on:
			s.modes.MouseEncoding = uint16(mode)
		case s.modes.MouseEncoding == uint16(mode):
			s.modes.MouseEncoding = 0
		}
	case 1004:
		s.modes.Focus = on
	case 2004:
		s.modes.BracketedPaste = on
	case 47, 1047, 1049:
		s.modes.AltScreen = on
	}
}

// setRegion keeps a scroll region. One without two rows is none, and changes
// nothing; how many rows there are is not known here.
func (s *modeState) setRegion(top, bottom int) {
	switch {
	case top == 1 && bottom == 0:
		s.modes.RegionTop, s.modes.RegionBottom = 0, 0
	case bottom == 0 || top < bottom:
		s.modes.RegionTop, s.modes.RegionBottom = top, bottom
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
