package terminal

import "strings"

// cell is one place on the screen. It holds no pointer, so that a large screen
// costs 8 bytes a cell and nothing to scan.
type cell struct {
	char  rune   // 0 is blank, rightHalf what its name says
	mark  uint16 // number in screen.marks of the marks joined to char, 0 for none
	style uint16 // number in screen.styles
}

// rightHalf stands in the second cell of a wide character.
const rightHalf rune = -1

// line is one row. Cells from used on are blank; they are not even kept clean,
// which makes clearing and scrolling cost no more than what was written.
type line struct {
	cells []cell // of the screen's width once written to
	used  int
	fill  uint16 // style of the blanks from used on
}

// reach makes the cells before end usable.
func (l *line) reach(cols, end int) {
	if l.cells == nil || l.used < end {
		l.grow(cols, end)
	}
}

func (l *line) grow(cols, end int) {
	if l.cells == nil {
		l.cells = make([]cell, cols)
	}
	blank(l.cells[l.used:end], l.fill)
	l.used = end
}

// blank erases cells.
func blank(cells []cell, style uint16) {
	if style == 0 {
		clear(cells)
		return
	}
	for i := range cells {
		cells[i] = cell{style: style}
	}
}

// join adds a mark to the character before the cursor.
func (s *screen) join(r rune) {
	x := s.cur.x - 1
	if s.cur.wrap {
		x = s.cur.x
	}
	l := s.grid[s.cur.y]
	if x >= 0 && x < l.used && l.cells[x].char == rightHalf {
		x--
	}
	if x < 0 || x >= l.used || l.cells[x].char == 0 {
		return
	}
	all := s.markText(l.cells[x].mark) + string(r)
	if len(all) > maxMark {
		return
	}
	number, known := s.markNumber[all]
	if !known {
		if len(s.marks) >= maxMarks {
			return
		}
		s.marks = append(s.marks, all)
		number = uint16(len(s.marks))
		s.markNumber[all] = number
	}
	l.cells[x].mark = number
}

func (s *screen) markText(number uint16) string {
	if number == 0 {
		return ""
	}
	return s.marks[number-1]
}

// splitWide blanks the wide character that has its halves on both sides of
// column x, as one half cannot stay alone.
func (s *screen) splitWide(l *line, x int) {
	if x > 0 && x < l.used && l.cells[x].char == rightHalf {
		l.cells[x-1], l.cells[x] = cell{}, cell{}
	}
}

// refill makes style that of the blanks behind the used cells, after those
// before column keep have got cells of their own.
func (l *line) refill(cols, keep int, style uint16) {
	if l.fill != style {
		l.reach(cols, keep)
		l.fill = style
	}
}

// erase blanks columns from to end (exclusive) of a row, in the background
// colour that is set, as all that follow here.
func (s *screen) erase(y, from, end int) {
	l := s.grid[y]
	s.splitWide(l, from)
	s.splitWide(l, end)
	switch {
	case end >= s.cols:
		l.refill(s.cols, from, s.cur.blank)
		l.used = min(l.used, from)
	case end >= l.used && l.fill == s.cur.blank:
		l.used = min(l.used, from)
	default:
		l.reach(s.cols, end)
		blank(l.cells[from:end], s.cur.blank)
	}
}

// clearLines blanks rows from to end (exclusive).
func (s *screen) clearLines(from, end int) {
	for _, l := range s.grid[from:end] {
		l.used, l.fill = 0, s.cur.blank
	}
}

// insertCells pushes the rest of the row n to the right.
func (s *screen) insertCells(n int) {
	l, x := s.grid[s.cur.y], s.cur.x
	n = min(n, s.cols-x)
	s.splitWide(l, x)
	if l.used <= x && l.fill == s.cur.blank {
		return
	}
	s.splitWide(l, s.cols-n)
	l.reach(s.cols, min(max(l.used, x)+n, s.cols))
	copy(l.cells[x+n:l.used], l.cells[x:])
	blank(l.cells[x:x+n], s.cur.blank)
}

// deleteCells pulls the rest of the row n to the left.
func (s *screen) deleteCells(n int) {
	l, x := s.grid[s.cur.y], s.cur.x
	n = min(n, s.cols-x)
	s.splitWide(l, x)
	s.splitWide(l, x+n)
	l.refill(s.cols, s.cols, s.cur.blank)
	if x+n >= l.used {
		l.used = min(l.used, x)
		return
	}
	copy(l.cells[x:], l.cells[x+n:l.used])
	l.used -= n
}

// text returns a row as text without the blanks at its end.
func (s *screen) text(y int) string {
	l := s.grid[y]
	var b strings.Builder
	for _, c := range l.cells[:l.used] {
		switch {
		case c.char == rightHalf:
		case c.char == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.char)
			b.WriteString(s.markText(c.mark))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
