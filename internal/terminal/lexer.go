package terminal

// token is what a lexer saw end with the byte just given.
type token uint8

const (
	tokNone    token = iota // in the middle of something, or nothing of interest
	tokPrint                // the byte is text: ASCII, or a part of a UTF-8 character
	tokControl              // the byte is a C0 control, also inside a sequence
	tokEsc                  // ESC, at most one intermediate, the byte as final
	tokCSI                  // a control sequence, the byte as final
	tokOSC                  // an operating system command; its text is in str
)

// lexer states.
const (
	inGround uint8 = iota
	inEscape
	inCSI
	inOSC
	inString // DCS, SOS, PM, APC: skipped
)

const (
	maxParams = 32    // more are read and forgotten
	maxParam  = 99999 // larger numbers are held here; no screen is that large
	maxOSC    = 1024  // longer ones are read and forgotten: they are no title
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// lexer cuts a byte stream into text, controls and sequences, one byte at a
// time, so that the borders of reads do not matter. Its zero value is ready.
// Raw C1 bytes are not sequences: in UTF-8 they are parts of characters.
type lexer struct {
	state   uint8
	prefix  uint8 // of a CSI: one of < = > ? or 0
	inter   uint8 // intermediate byte of an ESC or CSI, or 0
	bad     bool  // the sequence has a form nobody defines: it is dropped at its end
	nparams int   // parameters of a CSI: 0 when none was written
	params  [maxParams]int32
	sub     uint32 // bit i: a colon, not a semicolon, stands before parameter i
	str     []byte // text of an OSC
	strOver bool   // the OSC grew past maxOSC
}

// step takes one byte.
func (l *lexer) step(b byte) token {
	switch {
	case l.state == inGround && b >= 0x20 && b != del:
		return tokPrint
	case b == esc:
		return l.escape()
	case b == can || b == sub:
		l.state = inGround
		return tokNone
	}
	switch l.state {
	case inEscape:
		return l.stepEscape(b)
	case inCSI:
		return l.stepCSI(b)
	case inOSC:
		return l.stepOSC(b)
	case inString:
		return tokNone
	}
	if b == del {
		return tokNone
	}
	return tokControl
}

// escape begins an escape sequence. An OSC ends here already: the backslash
// of its terminator then is an escape sequence without meaning.
func (l *lexer) escape() token {
	ended := l.state == inOSC && !l.strOver
	l.state, l.prefix, l.inter, l.bad = inEscape, 0, 0, false
	if ended {
		return tokOSC
	}
	return tokNone
}

func (l *lexer) stepEscape(b byte) token {
	switch {
	case b < 0x20:
		return tokControl
	case b < 0x30:
		l.bad = l.bad || l.inter != 0
		l.inter = b
		return tokNone
	case b >= del:
		return tokNone
	}
	l.state = inGround
	if l.inter != 0 {
		return l.unlessBad(tokEsc)
	}
	switch b {
	case '[':
		l.state, l.nparams, l.sub = inCSI, 0, 0
	case ']':
		l.state, l.str, l.strOver = inOSC, l.str[:0], false
	case 'P', 'X', '^', '_':
		l.state = inString
	default:
		return l.unlessBad(tokEsc)
	}
	return tokNone
}

func (l *lexer) stepCSI(b byte) token {
	switch {
	case b < 0x20:
		return tokControl
	case b < 0x30:
		l.bad = l.bad || l.inter != 0
		l.inter = b
	case b <= '9':
		l.bad = l.bad || l.inter != 0
		l.digit(int32(b - '0'))
	case b == ';':
		l.bad = l.bad || l.inter != 0
		l.nextParam()
	case b == ':':
		l.bad = l.bad || l.inter != 0
		l.nextParam()
		if l.nparams <= maxParams {
			l.sub |= 1 << (l.nparams - 1)
		}
	case b < 0x40:
		l.bad = l.bad || l.inter != 0 || l.prefix != 0 || l.nparams != 0
		l.prefix = b
	case b < del:
		l.state = inGround
		// Only text attributes have sub-parameters.
		l.bad = l.bad || l.sub != 0 && (b != 'm' || l.prefix != 0)
		return l.unlessBad(tokCSI)
	}
	return tokNone
}

func (l *lexer) digit(d int32) {
	if l.nparams == 0 {
		l.nparams = 1
		l.params[0] = 0
	}
	if l.nparams > maxParams {
		return
	}
	p := &l.params[l.nparams-1]
	*p = min(*p*10+d, maxParam)
}

func (l *lexer) nextParam() {
	if l.nparams == 0 {
		l.nparams = 1
		l.params[0] = 0
	}
	if l.nparams <= maxParams {
		l.nparams++
	}
	if l.nparams <= maxParams {
		l.params[l.nparams-1] = 0
	}
}

func (l *lexer) stepOSC(b byte) token {
	switch {
	case b == bel:
		l.state = inGround
		if !l.strOver {
			return tokOSC
		}
	case b < 0x20 || b == del:
	case len(l.str) < maxOSC:
		l.str = append(l.str, b)
	default:
		l.strOver = true
	}
	return tokNone
}

func (l *lexer) unlessBad(t token) token {
	if l.bad {
		return tokNone
	}
	return t
}

// param returns parameter i, or 0 when it was not written.
func (l *lexer) param(i int) int {
	if i >= l.nparams || i >= maxParams {
		return 0
	}
	return int(l.params[i])
}

// count returns parameter i as a count or a position: 0 and absent mean 1.
func (l *lexer) count(i int) int { return max(l.param(i), 1) }

// written returns the parameters that were kept.
func (l *lexer) written() []int32 { return l.params[:min(l.nparams, maxParams)] }
