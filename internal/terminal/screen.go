package terminal

import (
	"math"
	"slices"
	"unicode/utf8"
)

// cursor is where the next character goes. A saved one also brings back the
// origin mode, the character sets and the attributes.
type cursor struct {
	x, y    int
	wrap    bool // the last column was written: the next character goes to a new line
	origin  bool
	graphic [2]bool // G0 and G1 hold line drawing characters
	shifted bool    // G1 is in use
	pen     uint16  // style of what is printed, a number of screen.styles
	blank   uint16  // style of what is erased: the pen's background alone
}

// screen is the text of a terminal: what stands where and how it looks. Every
// operation costs at most a small multiple of cols+rows, or of what it erases.
//
// It is written here because an emulator made for showing programs answers
// queries, blocks when nobody reads the answers, and lets a few bytes cost minutes.
// Side margins and double-size lines are left out: nothing that is run here uses them.
type screen struct {
	cols, rows  int
	main, alt   []*line
	grid        []*line // main or alt
	onAlt       int     // 1 when grid is alt, else 0
	cur         cursor
	saved       [2]cursor // of main and alt
	top, bottom int       // scroll region, both inclusive
	noWrap      bool
	insert      bool
	newline     bool // LF is also CR
	tabs        []bool
	last        rune // for REP; 0 when none
	marks       []string
	markNumber  map[string]uint16
	styles      []style // the first is the plain one
	styleNumber map[style]uint16
}

const (
	tabWidth = 8
	maxMarks = 4096 // different mark combinations on one screen; more are left out
	maxMark  = 32   // bytes of marks on one character
)

func newScreen(cols, rows int) *screen {
	s := &screen{
		cols: cols, rows: rows,
		main: newLines(rows), alt: newLines(rows),
		tabs: make([]bool, cols), markNumber: map[string]uint16{},
		styles: make([]style, 1), styleNumber: map[style]uint16{{}: 0},
	}
	s.reset()
	return s
}

// reset is RIS.
func (s *screen) reset() {
	s.cur, s.saved = cursor{}, [2]cursor{}
	for _, both := range [][]*line{s.alt, s.main} {
		s.grid = both
		s.clearLines(0, s.rows)
	}
	s.onAlt = 0
	s.softReset()
	s.last, s.newline = 0, false
	for x := range s.tabs {
		s.tabs[x] = x%tabWidth == 0
	}
}

// softReset is DECSTR: the cursor and the text stay.
func (s *screen) softReset() {
	s.top, s.bottom = 0, s.rows-1
	s.noWrap, s.insert = false, false
	s.cur.origin, s.cur.graphic, s.cur.shifted = false, [2]bool{}, false
	s.cur.pen, s.cur.blank = 0, 0
	s.saved[s.onAlt] = cursor{}
}

func newLines(n int) []*line {
	block := make([]line, n)
	lines := make([]*line, n)
	for i := range block {
		lines[i] = &block[i]
	}
	return lines
}

// showAlt switches between the screens.
func (s *screen) showAlt(on bool) {
	s.onAlt, s.grid = 0, s.main
	if on {
		s.onAlt, s.grid = 1, s.alt
	}
}

// clearAlt empties the alternate screen, which takes no background colour.
func (s *screen) clearAlt() {
	for _, l := range s.alt {
		l.used, l.fill = 0, 0
	}
}

// setPen makes st the style of what is printed from now on.
func (s *screen) setPen(st style) {
	s.cur.pen = s.numberOf(st)
	s.cur.blank = s.numberOf(style{back: st.back})
}

// numberOf returns the number of a style. No output of MaxReplay bytes holds as many
// different ones as there are numbers; were it so, the rest would be plain.
func (s *screen) numberOf(st style) uint16 {
	number, known := s.styleNumber[st]
	if !known && len(s.styles) <= math.MaxUint16 {
		number = uint16(len(s.styles))
		s.styles = append(s.styles, st)
		s.styleNumber[st] = number
	}
	return number
}

func (s *screen) saveCursor()    { s.saved[s.onAlt] = s.cur }
func (s *screen) restoreCursor() { s.cur = s.saved[s.onAlt] }

// print puts one character at the cursor.
func (s *screen) print(r rune) {
	set := 0
	if s.cur.shifted {
		set = 1
	}
	if s.cur.graphic[set] {
		r = graphicOf(r)
	}
	w := cellWidth(r)
	if w == 0 {
		s.join(r)
		return
	}
	if w > s.cols {
		r, w = utf8.RuneError, 1
	}
	if s.cur.wrap || s.cur.x+w > s.cols {
		if s.noWrap {
			s.cur.x = min(s.cur.x, s.cols-w)
		} else {
			s.cur.x = 0
			s.index()
		}
	}
	s.cur.wrap = false
	l := s.grid[s.cur.y]
	if s.insert {
		s.insertCells(w)
	}
	s.splitWide(l, s.cur.x)
	s.splitWide(l, s.cur.x+w)
	l.reach(s.cols, s.cur.x)
	l.used = max(l.used, s.cur.x+w)
	l.cells[s.cur.x] = cell{char: r, style: s.cur.pen}
	if w == 2 {
		l.cells[s.cur.x+1] = cell{char: rightHalf, style: s.cur.pen}
	}
	s.last = r
	s.cur.x += w
	if s.cur.x >= s.cols {
		s.cur.x = s.cols - 1
		s.cur.wrap = !s.noWrap
	}
}

// scrollUp moves rows from to end (inclusive) up by n; blank ones follow.
func (s *screen) scrollUp(from, end, n int) {
	n = min(n, end-from+1)
	rotate(s.grid[from:end+1], n)
	s.clearLines(end+1-n, end+1)
}

// scrollDown moves rows from to end (inclusive) down by n.
func (s *screen) scrollDown(from, end, n int) {
	n = min(n, end-from+1)
	rotate(s.grid[from:end+1], end-from+1-n)
	s.clearLines(from, from+n)
}

// rotate brings the first n lines to the end.
func rotate(lines []*line, n int) {
	switch last := len(lines) - 1; n {
	case 1: // the usual case: one line feed
		first := lines[0]
		copy(lines, lines[1:])
		lines[last] = first
	case last: // and its reverse
		end := lines[last]
		copy(lines[1:], lines)
		lines[0] = end
	default:
		slices.Reverse(lines[:n])
		slices.Reverse(lines[n:])
		slices.Reverse(lines)
	}
}

// index goes down one row and scrolls at the bottom of the region.
func (s *screen) index() {
	switch {
	case s.cur.y == s.bottom:
		s.scrollUp(s.top, s.bottom, 1)
	case s.cur.y < s.rows-1:
		s.cur.y++
	}
	s.cur.wrap = false
}

// reverseIndex goes up one row and scrolls at the top of the region.
func (s *screen) reverseIndex() {
	switch {
	case s.cur.y == s.top:
		s.scrollDown(s.top, s.bottom, 1)
	case s.cur.y > 0:
		s.cur.y--
	}
	s.cur.wrap = false
}

// moveTo puts the cursor at a place, held inside the screen.
func (s *screen) moveTo(x, y int) {
	s.cur.x = min(max(x, 0), s.cols-1)
	s.cur.y = min(max(y, 0), s.rows-1)
	s.cur.wrap = false
}

// moveToRow is moveTo for a row counted as the program counts: from the top of
// the region in origin mode.
func (s *screen) moveToRow(x, row int) {
	if s.cur.origin {
		s.moveTo(x, min(s.top+row, s.bottom))
		return
	}
	s.moveTo(x, row)
}

// moveRows goes up or down without scrolling; a region's edge holds the cursor
// that is inside.
func (s *screen) moveRows(n int) {
	low, high := 0, s.rows-1
	if s.cur.y >= s.top {
		low = s.top
	}
	if s.cur.y <= s.bottom {
		high = s.bottom
	}
	s.moveTo(s.cur.x, min(max(s.cur.y+n, low), high))
}

// drawing holds DEC's line drawing characters, from the back quote on.
var drawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// graphicOf maps a character to the line drawing set.
func graphicOf(r rune) rune {
	if r >= '`' && int(r-'`') < len(drawing) {
		return drawing[r-'`']
	}
	return r
}
