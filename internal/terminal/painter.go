package terminal

import "unicode/utf8"

// painter carries out what output says on a screen.
type painter struct {
	*screen
	lex lexer
	now modeState
}

// draw takes a stretch of output. A character cut off at its end is not drawn.
func (p *painter) draw(output []byte) {
	for i := 0; i < len(output); i++ {
		b := output[i]
		t := p.lex.step(b)
		if t == tokPrint && b >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(output[i:])
			if r == utf8.RuneError && size == 1 && !utf8.FullRune(output[i:]) {
				return
			}
			i += size - 1
			if r >= 0xa0 { // U+0080 to U+009F are controls that nobody uses
				p.print(r)
			}
			continue
		}
		p.now.apply(&p.lex, t, b)
		switch t {
		case tokPrint:
			p.print(rune(b))
		case tokControl:
			p.control(b)
		case tokEsc:
			p.escape(b)
		case tokCSI:
			p.csi(b)
		}
	}
}

func (p *painter) control(b byte) {
	switch b {
	case '\b':
		p.moveTo(p.cur.x-1, p.cur.y)
	case '\t':
		p.tab(1)
	case '\n', '\v', '\f':
		p.index()
		if p.newline {
			p.cur.x = 0
		}
	case '\r':
		p.moveTo(0, p.cur.y)
	case 0x0e:
		p.cur.shifted = true
	case 0x0f:
		p.cur.shifted = false
	}
}

func (p *painter) escape(final byte) {
	switch p.lex.inter {
	case 0:
	case '(':
		p.cur.graphic[0] = final == '0'
		return
	case ')':
		p.cur.graphic[1] = final == '0'
		return
	default:
		return
	}
	switch final {
	case '7':
		p.saveCursor()
	case '8':
		p.restoreCursor()
	case 'D':
		p.index()
	case 'E':
		p.index()
		p.cur.x = 0
	case 'H':
		p.tabs[p.cur.x] = true
	case 'M':
		p.reverseIndex()
	case 'c':
		p.reset()
	}
}

// csi carries out a control sequence. Those that ask for an answer, and those
// about the mouse or the window, have no effect on the screen.
func (p *painter) csi(final byte) {
	l := &p.lex
	switch {
	case l.inter == '!' && l.prefix == 0 && final == 'p':
		p.softReset()
	case l.inter != 0:
	case l.prefix == '?' && (final == 'h' || final == 'l'):
		for _, mode := range l.written() {
			p.privateMode(mode, final == 'h')
		}
	case l.prefix == '?' && (final == 'J' || final == 'K'):
		p.edit(final) // selective erase: nothing is ever protected
	case l.prefix == 0:
		if !p.move(final) && !p.edit(final) {
			p.set(final)
		}
	}
}

// move carries out what moves the cursor; false if it is none of these.
func (p *painter) move(final byte) bool {
	n := p.lex.count(0)
	switch final {
	case 'A':
		p.moveRows(-n)
	case 'B', 'e':
		p.moveRows(n)
	case 'C', 'a':
		p.moveTo(p.cur.x+n, p.cur.y)
	case 'D':
		p.moveTo(p.cur.x-n, p.cur.y)
	case 'E':
		p.moveRows(n)
		p.cur.x = 0
	case 'F':
		p.moveRows(-n)
		p.cur.x = 0
	case 'G', '`':
		p.moveTo(n-1, p.cur.y)
	case 'H', 'f':
		p.moveToRow(p.lex.count(1)-1, n-1)
	case 'd':
		p.moveToRow(p.cur.x, n-1)
	case 'I':
		p.tab(n)
	case 'Z':
		p.tab(-n)
	case 's':
		if p.lex.nparams == 0 { // with parameters it sets side margins, which are not kept
			p.saveCursor()
		}
	case 'u':
		p.restoreCursor()
	default:
		return false
	}
	return true
}

// edit carries out what changes text; false if it is none of these.
func (p *painter) edit(final byte) bool {
	n, x, y := p.lex.count(0), p.cur.x, p.cur.y
	inRegion := y >= p.top && y <= p.bottom
	switch final {
	case '@':
		p.insertCells(n)
	case 'P':
		p.deleteCells(n)
	case 'X':
		p.erase(y, x, min(x+n, p.cols))
	case 'J':
		p.eraseScreen(p.lex.param(0))
	case 'K':
		p.eraseLine(p.lex.param(0))
	case 'L':
		if inRegion {
			p.scrollDown(y, p.bottom, n)
			p.cur.x = 0
		}
	case 'M':
		if inRegion {
			p.scrollUp(y, p.bottom, n)
			p.cur.x = 0
		}
	case 'S':
		p.scrollUp(p.top, p.bottom, n)
		return true // the only ones that leave a pending wrap
	case 'T':
		if p.lex.nparams <= 1 { // with more it is about the mouse
			p.scrollDown(p.top, p.bottom, n)
		}
		return true
	case 'b':
		p.repeat(n)
		return true
	default:
		return false
	}
	p.cur.wrap = false
	return true
}

// set carries out settings.
func (p *painter) set(final byte) {
	switch final {
	case 'm':
		p.setPen(p.lex.attributes(p.styles[p.cur.pen]))
	case 'h', 'l':
		for _, mode := range p.lex.written() {
			switch mode {
			case 4:
				p.insert = final == 'h'
			case 20:
				p.newline = final == 'h'
			}
		}
	case 'g':
		switch p.lex.param(0) {
		case 0:
			p.tabs[p.cur.x] = false
		case 3:
			clear(p.tabs)
		}
	case 'r':
		top, bottom := p.lex.count(0)-1, p.rows-1
		if last := p.lex.param(1); last > 0 {
			bottom = min(last-1, bottom)
		}
		if top < bottom {
			p.top, p.bottom = top, bottom
			p.moveToRow(0, 0)
		}
	}
}

func (p *painter) privateMode(mode int32, on bool) {
	switch mode {
	case 6:
		p.cur.origin = on
		p.moveToRow(0, 0)
	case 7:
		p.noWrap = !on
		p.cur.wrap = p.cur.wrap && on
	case 47:
		p.showAlt(on)
	case 1047:
		if !on && p.onAlt == 1 {
			p.clearAlt()
		}
		p.showAlt(on)
	case 1048:
		if on {
			p.saveCursor()
		} else {
			p.restoreCursor()
		}
	case 1049:
		p.altWithCursor(on)
	}
}

// altWithCursor is mode 1049: the cursor is kept, and the alternate screen comes
// up empty. A switch to where we are changes nothing.
func (p *painter) altWithCursor(on bool) {
	if on == (p.onAlt == 1) {
		return
	}
	if on {
		p.saveCursor()
		p.showAlt(true)
		p.clearAlt()
		return
	}
	p.showAlt(false)
	p.restoreCursor()
}

func (p *painter) eraseScreen(how int) {
	y := p.cur.y
	switch how {
	case 0:
		p.erase(y, p.cur.x, p.cols)
		p.clearLines(y+1, p.rows)
	case 1:
		p.clearLines(0, y)
		p.erase(y, 0, p.cur.x+1)
	case 2:
		p.clearLines(0, p.rows)
	}
}

func (p *painter) eraseLine(how int) {
	switch how {
	case 0:
		p.erase(p.cur.y, p.cur.x, p.cols)
	case 1:
		p.erase(p.cur.y, 0, p.cur.x+1)
	case 2:
		p.erase(p.cur.y, 0, p.cols)
	}
}

// tab goes n tab stops to the right, or to the left when n is negative.
func (p *painter) tab(n int) {
	x := p.cur.x
	for ; n > 0 && x < p.cols-1; n-- {
		for x++; x < p.cols-1 && !p.tabs[x]; x++ {
		}
	}
	for ; n < 0 && x > 0; n++ {
		for x--; x > 0 && !p.tabs[x]; x-- {
		}
	}
	p.cur.x = x // a pending wrap stays pending
}

// repeat prints the last character again. More than a row of it is drawn by no
// program, and would make a few bytes cost a screen.
func (p *painter) repeat(n int) {
	if p.last == 0 {
		return
	}
	for range min(n, p.cols) {
		p.print(p.last)
	}
}
