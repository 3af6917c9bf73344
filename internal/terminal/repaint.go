package terminal

import (
	"fmt"
	"strconv"
)

// neutral brings a terminal into the state of one just started, whatever a
// program has done to it. The text on it stays.
const neutral = "\x18\x1b\\" + // ends a sequence that was cut off
	"\x1b]8;;\x1b\\" + // ends a link
	"\x1b[?2026l" + // shows what was held back
	"\x1b[>4;0m\x1b[=0u" + // keys are sent in their plain forms,
	"\x1b[?1049l" + // the main screen,
	"\x1b[=0u" + // which has key forms of its own
	"\x1b[0m\x1b(B\x1b)B\x0f" +
	"\x1b[?5;6;69l\x1b[r\x1b[4;20l\x1b[?7h" +
	"\x1b[?1l\x1b>" +
	"\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004l" +
	"\x1b[0 q\x1b[?25h"

// Reset returns what a viewer writes to its terminal when it stops showing a
// program: the main screen, attributes, scroll region, cursor and the modes of
// keys, paste, mouse and focus as in a terminal just started, the cursor on a new
// line at the bottom. What the program did to title, palette and tab stops stays.
func Reset() []byte { return []byte(neutral + "\x1b[9999;1H\r\n") }

// Repaint returns what to write to a terminal of cols by rows so that it shows
// what the program's own terminal shows after output, which is all that the program
// printed since it started, and goes on from there: both screens, attributes, scroll
// region, the cursor and the saved one, and the modes that Modes holds. Sizes are
// held within 1 to MaxSide. What the terminal showed and was set to before does not
// matter. An output longer than MaxReplay is taken as RepaintTail takes it.
//
// The bytes are our own: of the program's only text gets through, none of its
// controls, and nothing in them makes a terminal answer. The title is left alone, as
// nobody could bring the old one back; so are tab stops. A terminal of another size
// shows a wrong picture. An error means a fault of this package, never of the output.
func Repaint(output []byte, cols, rows int) ([]byte, error) {
	if len(output) > MaxReplay {
		var t Tracker
		if _, err := t.Write(output); err != nil {
			return nil, fmt.Errorf("follow modes: %w", err)
		}
		return RepaintTail(output, cols, rows, t.Modes())
	}
	var painted []byte
	err := replay(output, cols, rows, Modes{}, func(p *painter) { painted = p.repaint(p.now.modes) })
	return painted, err
}

// RepaintTail is Repaint for output whose beginning is gone; now is as in
// SnapshotTail. What the beginning drew and nothing after it redrew is missing.
func RepaintTail(output []byte, cols, rows int, now Modes) ([]byte, error) {
	output, start := tailOf(output, now)
	var painted []byte
	err := replay(output, cols, rows, start, func(p *painter) {
		if p.top == 0 && p.bottom == p.rows-1 { // set before the cut, or not at all
			p.setRegion(now.RegionTop, now.RegionBottom)
		}
		painted = p.repaint(now)
	})
	return painted, err
}

// setRegion takes over a region that was set before the output began.
func (s *screen) setRegion(top, bottom int) {
	if bottom == 0 || bottom > s.rows {
		bottom = s.rows
	}
	if top > 0 && top < bottom {
		s.top, s.bottom = top-1, bottom-1
	}
}

// canvas is the terminal that a repaint is written to.
type canvas struct {
	*screen
	out []byte
	pen uint16 // the style that is set
}

// repaint returns the sequences that make the screen. It draws on it in between.
func (p *painter) repaint(m Modes) []byte {
	c := canvas{screen: p.screen}
	c.write(neutral, "\x1b[?25l")
	if p.onAlt == 1 {
		// Under the alternate screen waits the main one, with the cursor it had.
		c.grid = c.main
		c.drawGrid()
		c.place(c.saved[0])
		c.grid = c.alt
		c.write("\x1b[?1049h")
	}
	c.drawGrid()
	c.place(c.saved[c.onAlt])
	c.write("\x1b7")
	c.place(c.cur)
	if c.insert {
		c.write("\x1b[4h")
	}
	if c.newline {
		c.write("\x1b[20h")
	}
	if c.noWrap {
		c.write("\x1b[?7l")
	}
	c.setModes(m)
	return c.out
}

// setModes switches on what is not as in a terminal just started.
func (c *canvas) setModes(m Modes) {
	for _, mode := range []struct {
		number uint16
		on     bool
	}{
		{1, m.AppCursor},
		{2004, m.BracketedPaste},
		{1004, m.Focus},
		{m.MouseEvents, m.MouseEvents != 0},
		{m.MouseEncoding, m.MouseEncoding != 0},
	} {
		if mode.on {
			c.csi("?", int(mode.number))
			c.write("h")
		}
	}
	if m.AppKeypad {
		c.write("\x1b=")
	}
	if m.CursorShape != 0 {
		c.csi("", int(m.CursorShape))
		c.write(" q")
	}
	if !m.CursorHidden {
		c.write("\x1b[?25h")
	}
}

// drawGrid draws the screen that is shown. A character cannot push the screen up:
// lines do not wrap meanwhile.
func (c *canvas) drawGrid() {
	c.write("\x1b[0m\x1b(B\x1b)B\x0f\x1b[?6l\x1b[r\x1b[H\x1b[2J\x1b[?7l")
	c.pen = 0
	for y := range c.grid {
		c.drawLine(y)
	}
	c.write("\x1b[?7h")
	if c.top > 0 || c.bottom < c.rows-1 {
		c.csi("", c.top+1, c.bottom+1)
		c.write("r")
	}
}

func (c *canvas) drawLine(y int) {
	l := c.grid[y]
	end := c.cols
	if l.fill == 0 {
		end = l.used
		for end > 0 && l.cells[end-1].empty() {
			end--
		}
	} else {
		l.reach(c.cols, c.cols)
	}
	at := -1 // where the terminal's cursor is for certain, or -1
	for x, cell := range l.cells[:end] {
		switch {
		case cell.char == rightHalf:
			continue
		case cell.empty() && (at < 0 || blankRun(l.cells[x:end])):
			at = -1
			continue
		case at != x:
			c.moveCursor(x, y)
		}
		if cell.mark != 0 && x+cellWidth(cell.char) >= c.cols {
			// A mark joins the character in the last column only while a wrap is pending.
			c.write("\x1b[?7h")
			c.drawCell(cell)
			c.write("\x1b[?7l")
		} else {
			c.drawCell(cell)
		}
		at = cursorAfter(l.cells[:end], x)
	}
}

// cursorAfter returns where the cursor is when the character in column x was
// written, or -1. Terminals differ in the width of some characters: the place is
// given again where a stretch of them ends, so that the rest of the row holds.
func cursorAfter(cells []cell, x int) int {
	next := x + 1
	if next < len(cells) && cells[next].char == rightHalf {
		next++
	}
	if next < len(cells) && (certain(cells[x]) || !certain(cells[next])) {
		return next
	}
	return -1
}

// minGap is how many blanks are dearer to write than to jump over.
const minGap = 10

// blankRun reports whether enough cells at the beginning are empty.
func blankRun(cells []cell) bool {
	if len(cells) < minGap {
		return false
	}
	for _, c := range cells[:minGap] {
		if !c.empty() {
			return false
		}
	}
	return true
}

// empty reports whether the cell looks like one never written to.
func (c cell) empty() bool {
	return c.style == 0 && c.mark == 0 && (c.char == 0 || c.char == ' ')
}

// certain reports whether every terminal gives the character one cell.
func certain(c cell) bool { return c.char < 0x300 && c.mark == 0 }

// drawCell writes what stands in a cell.
func (c *canvas) drawCell(what cell) {
	c.setStyle(what.style)
	if what.char == 0 {
		what.char = ' '
	}
	c.write(string(what.char), c.markText(what.mark))
}

// place sets cursor, attributes and character sets. The screen is drawn already.
func (c *canvas) place(to cursor) {
	c.write("\x1b(B\x1b)B\x0f\x1b[?6l")
	first := 0 // the row that the terminal counts from
	if to.origin && to.y >= c.top && to.y <= c.bottom {
		// Outside of the region it would move the cursor, whose place counts for more.
		c.write("\x1b[?6h")
		first = c.top
	}
	if to.wrap && to.x == c.cols-1 {
		c.fillLastColumn(to.y, first)
	} else {
		c.moveCursor(to.x, to.y-first)
	}
	c.setStyle(to.pen)
	for i, set := range []string{"\x1b(0", "\x1b)0"} {
		if to.graphic[i] {
			c.write(set)
		}
	}
	if to.shifted {
		c.write("\x0e")
	}
}

// fillLastColumn writes what stands there once more: a wrap then is pending.
func (c *canvas) fillLastColumn(y, first int) {
	l, x := c.grid[y], c.cols-1
	l.reach(c.cols, c.cols)
	if l.cells[x].char == rightHalf {
		x--
	}
	c.moveCursor(x, y-first)
	c.drawCell(l.cells[x])
}

func (c *canvas) setStyle(number uint16) {
	if c.pen != number {
		c.out = c.styles[number].appendTo(c.out)
		c.pen = number
	}
}

// moveCursor goes to a place counted from 0.
func (c *canvas) moveCursor(x, y int) {
	c.csi("", y+1, x+1)
	c.write("H")
}

// csi begins a control sequence; the caller writes the final byte.
func (c *canvas) csi(prefix string, params ...int) {
	c.write("\x1b[", prefix)
	for i, n := range params {
		if i > 0 {
			c.write(";")
		}
		c.out = strconv.AppendInt(c.out, int64(n), 10)
	}
}

func (c *canvas) write(parts ...string) {
	for _, s := range parts {
		c.out = append(c.out, s...)
	}
}
