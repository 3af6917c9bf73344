package terminal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// seen is all that a repaint has to bring back.
type seen struct {
	main, alt        []string
	cur, saved, kept seenCursor // kept is the main screen's, under the alternate one
	top, bottom      int
	noWrap, insert   bool
	newline          bool
	modes            Modes
}

type seenCursor struct {
	at  cursor
	pen style
}

func see(t *testing.T, output []byte, cols, rows int) (s seen) {
	t.Helper()
	cols = max(cols, 1)
	err := replay(output, cols, rows, Modes{}, func(p *painter) {
		cursorOf := func(c cursor) seenCursor {
			pen := p.styles[c.pen]
			c.pen, c.blank = 0, 0
			return seenCursor{c, pen}
		}
		s = seen{
			main: p.rowsOf(p.main), cur: cursorOf(p.cur), saved: cursorOf(p.saved[p.onAlt]),
			top: p.top, bottom: p.bottom, noWrap: p.noWrap, insert: p.insert, newline: p.newline, modes: p.now.modes,
		}
		if p.onAlt == 1 {
			s.alt, s.kept = p.rowsOf(p.alt), cursorOf(p.saved[0])
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// The title stays the terminal's own; of the region only its effect counts.
	s.modes.Title, s.modes.RegionTop, s.modes.RegionBottom = "", 0, 0
	for _, c := range []*seenCursor{&s.cur, &s.saved, &s.kept} {
		// A terminal cannot be brought into these, and hardly a program gets there.
		c.at.wrap = c.at.wrap && c.at.x == cols-1
		c.at.origin = c.at.origin && c.at.y >= s.top && c.at.y <= s.bottom
	}
	s.cur.at.wrap = s.cur.at.wrap && !s.noWrap
	return s
}

// rowsOf returns rows as text with every cell's style.
func (s *screen) rowsOf(grid []*line) []string {
	rows := make([]string, len(grid))
	for y, l := range grid {
		var b strings.Builder
		l.reach(s.cols, s.cols)
		for _, c := range l.cells {
			if c.char == 0 {
				c.char = ' '
			}
			fmt.Fprintf(&b, "%c%s%x ", c.char, s.markText(c.mark), s.styles[c.style])
		}
		rows[y] = b.String()
	}
	return rows
}

// checkRepaint repaints output and looks at what a terminal makes of it.
func checkRepaint(t *testing.T, output []byte, cols, rows int) []byte {
	t.Helper()
	painted, err := Repaint(output, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	checkHarmless(t, painted)
	want := see(t, output, cols, rows)
	// The terminal may have been in any state before.
	for _, before := range []string{"", "old\x1b[31;4m\x1b7\x1b[?1049h\x1b[?6h\x1b[2;3r\x1b(0\x1b[4h\x1b[?1;5;1003;1006h\x1b[5 q\x1b]0;"} {
		if got := see(t, append([]byte(before), painted...), cols, rows); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d by %d: %q\nrepainted %q\n got %+v\nwant %+v", cols, rows, output, painted, got, want)
		}
	}
	if len(painted) <= MaxReplay {
		shot, after := mustSnapshot(t, string(output), cols, rows), mustSnapshot(t, string(painted), cols, rows)
		after.Title = shot.Title
		if !reflect.DeepEqual(shot, after) {
			t.Fatalf("%q\n got %+v\nwant %+v", output, after, shot)
		}
	}
	return painted
}

// harmless is everything a repaint may consist of: sequences that set and move,
// and text. None of them makes a terminal answer, and none touches the title, the
// clipboard or the palette.
var harmless = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\x18`, `\x1b\\`, `\x1b\]8;;\x1b\\`, // ends of things
	`\x1b[78=>]`, `\x1b[()][0B]`, `[\x0e\x0f]`,
	`\x1b\[[0-9;]*[HJr]`, `\x1b\[[0-9;]*m`, `\x1b\[4:[3-5]m`, `\x1b\[(?:4|20|4;20)[hl]`,
	`\x1b\[\?[0-9;]+[hl]`, `\x1b\[[0-6] q`, `\x1b\[>4;0m`, `\x1b\[=0u`,
	`[^\x00-\x1f\x7f-\x{9f}]+`,
}, "|") + `)*$`)

func checkHarmless(t *testing.T, painted []byte) {
	t.Helper()
	if !utf8.Valid(painted) || !harmless.Match(painted) {
		t.Fatalf("not harmless: %q", painted)
	}
}

// Each shows on a screen of 8 by 4 what is said of it.
var repaintCases = []struct{ name, out string }{
	{"nothing", ""},
	{"text", "ab\r\ncd  "},
	{"scrolled", "1\r\n2\r\n3\r\n4\r\n5"},
	{"attributes", "\x1b[1ma\x1b[2mb\x1b[3mc\x1b[4md\x1b[5me\x1b[7mf\x1b[8mg\x1b[9mh\x1b[53mi\x1b[0mj"},
	{"attributes off", "\x1b[1;2;3;4;5;7;8;9;53ma\x1b[22mb\x1b[23mc\x1b[24md\x1b[25me\x1b[27mf\x1b[28mg\x1b[29mh\x1b[55mi\x1b[39;49mj"},
	{"underlines", "\x1b[21ma\x1b[4:1mb\x1b[4:2mc\x1b[4:3md\x1b[4:4me\x1b[4:5mf\x1b[4:0mg\x1b[4:9mh"},
	{"16 colours", "\x1b[31ma\x1b[97mb\x1b[42mc\x1b[107md\x1b[39me\x1b[49mf"},
	{"256 colours", "\x1b[38;5;1ma\x1b[48;5;255mb\x1b[38:5:208mc\x1b[48:5:9md"},
	{"true colours", "\x1b[38;2;1;2;3ma\x1b[48;2;255;254;253mb\x1b[38:2:4:5:6mc\x1b[48:2::7:8:9md"},
	{"broken colours", "\x1b[38;5;256ma\x1b[38;2;1;2mb\x1b[38:2:1mc\x1b[38;5md\x1b[48me\x1b[38;9;1mf\x1b[58;5;4;3mg"},
	{"coloured blanks", "\x1b[44m\x1b[Kab\x1b[m\r\n\x1b[41m  \x1b[0m  \x1b[4m  \x1b[m\r\n\x1b[42mx\x1b[2X"},
	{"coloured screen", "\x1b[44m\x1b[2J\x1b[m\x1b[2;2Hx\x1b[K\x1b[4;3H\x1b[45m\x1b[1K"},
	{"coloured scroll", "\x1b[44m\n\n\n\n\n\x1b[m\x1b[H\x1b[2@\x1b[43m\x1b[3;2H\x1b[2@\x1b[4;2H\x1b[46m\x1b[3P"},
	{"wide", "世界世x\x1b[2;7H世\x1b[3;7H\x1b[31m世"},
	{"marks", "e\u0301\x1b[31mo\u0308x\r\n世\u0301\x1b[3;8He\u0301\x1b[4;7H世\u0301"},
	{"line drawing", "\x1b(0lqk\x1b)0\x0ex"},
	{"pending wrap", "abcdefgh"},
	{"pending wrap of a wide one", "abcdef\x1b[7m世\x1b[m\u0301"},
	{"pending wrap at the end", "\x1b[4;1Habcdefg\x1b[31mh\x1b[32m"},
	{"pending wrap saved", "abcdefgh\x1b7\x1b[H"},
	{"pending wrap over a blank", "\r\nabcdefgh\x1b[3S"},
	{"pending wrap in origin mode", "\x1b[2;3r\x1b[?6habcdefgh"},
	{"pending wrap and back", "abcdefgh\x1b[Z\x1b7\r\n"},
	{"a long gap", "a\x1b[44m \x1b[m\x1b[8Gb"},
	{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1Hx"},
	{"origin", "\x1b[2;3r\x1b[?6h\x1b[2;2Hx"},
	{"origin and cursor outside", "\x1b[?6h\x1b7\x1b[2;3r\x1b8"},
	{"saved cursor", "\x1b[2;3H\x1b[1;31m\x1b(0\x1b7\x1b[m\x1b(B\x1b[Hx"},
	{"saved cursor in origin mode", "\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b7\x1b[?6l"},
	{"pen", "\x1b[1;32m"},
	{"settings", "\x1b[4h\x1b[20h\x1b[?7lx"},
	{"alternate screen", "main\x1b[31m\x1b[?1049h\x1b[Halt\x1b[44m\x1b[K"},
	{"alternate screen, saved cursors", "\x1b[2;4Hm\x1b7\x1b[?47h\x1b[3;3H\x1b[7m\x1b7\x1b[Hx"},
	{"alternate screen, pending wrap below", "abcdefgh\x1b[?1049h\x1b[Hx"},
	{"left the alternate screen", "main\x1b[?1049halt\x1b[?1049l"},
	{"keys and paste", "\x1b[?1;2004h\x1b="},
	{"mouse and focus", "\x1b[?1003;1006;1004h"},
	{"cursor", "\x1b[?25l\x1b[3 q"},
	{"questions", "\x1b[6n\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[?6n\x1b[?1$p\x1b]11;?\a\x1b]52;c;?\a\x1b[18t\x1bZ\x05\x1bP+q544e\x1b\\\x1b[?u\x1b[>q"},
	{"title and clipboard", "\x1b]0;t\a\x1b[22t\x1b]52;c;aGk=\a\x1b]4;1;#fff\a"},
	{"controls", "a\x00b\x07c\x7fd\u009be\x9bf\xffg\x1b]8;;http://x\x1b\\h"},
}

func TestRepaint(t *testing.T) {
	for _, c := range repaintCases {
		t.Run(c.name, func(t *testing.T) { checkRepaint(t, []byte(c.out), 8, 4) })
	}
}

func TestRepaint_Sizes(t *testing.T) {
	for _, c := range []struct{ cols, rows int }{{0, 0}, {1, 1}, {1, 5}, {2, 1}, {3, 2}, {80, 24}} {
		for _, r := range repaintCases {
			checkRepaint(t, []byte(r.out), c.cols, c.rows)
		}
	}
}

func TestRepaint_RealPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.out")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		painted := checkRepaint(t, out, 80, 24)
		if len(painted) > 16<<10 {
			t.Errorf("%s: %d bytes for 80 by 24", file, len(painted))
		}
		for _, cut := range []int{len(out) / 3, len(out) / 2, len(out) - 1} {
			checkRepaint(t, out[:cut], 80, 24)
		}
	}
}

// The sequence that sets a style, as written and as read.
func TestStyle_Sequence(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"\x1b[m", "\x1b[0m"},
		{"\x1b[1;2;3;4;5;7;8;9;53m", "\x1b[0;4;1;2;3;5;7;8;9;53m"},
		{"\x1b[6;21m", "\x1b[0;21;5m"},
		{"\x1b[4:3m", "\x1b[0;4m\x1b[4:3m"},
		{"\x1b[31;102m", "\x1b[0;31;102m"},
		{"\x1b[97;40m", "\x1b[0;97;40m"},
		{"\x1b[38:5:200;48;5;1m", "\x1b[0;38;5;200;48;5;1m"},
		{"\x1b[38:2::1:2:3;48:2:255:0:7m", "\x1b[0;38;2;1;2;3;48;2;255;0;7m"},
		{"\x1b[58:2::1:2:3;58;5;9;3m", "\x1b[0;3m"},
		{"\x1b[1;0;3m", "\x1b[0;3m"},
		{"\x1b[1;;3m", "\x1b[0;3m"},
		{"\x1b[38;5;300;48;2;1;2;999;1m", "\x1b[0;1m"},
		{"\x1b[>4;2m\x1b[?4m\x1b[4 m", "\x1b[0m"},
		{"\x1b[" + strings.Repeat("38:2::1:2:3;", 6) + "1m", "\x1b[0;38;2;1;2;3m"},
	} {
		err := replay([]byte(c.out), 8, 4, Modes{}, func(p *painter) {
			if got := string(p.styles[p.cur.pen].appendTo(nil)); got != c.want {
				t.Errorf("%q: %q, want %q", c.out, got, c.want)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Of output without its beginning, the modes come from the tracker.
func TestRepaintTail(t *testing.T) {
	head := "\x1b[?1049h\x1b[?1;1002;1006;2004h\x1b[2;3r\x1b[?25l"
	for _, tail := range []string{"\x1b[Hab\x1b[31mc", "\x1b[H\x1b[2;4rab\x1b[?25h", "\x1b[?1049l\x1b[Hx", "\x1b[?1049l\x1b[r\x1b[?1002lab"} {
		var tr Tracker
		_, _ = tr.Write([]byte(head + tail))
		painted, err := RepaintTail([]byte(tail), 8, 4, tr.Modes())
		if err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, painted)
		if got, want := see(t, painted, 8, 4), see(t, []byte(head+tail), 8, 4); !reflect.DeepEqual(got, want) {
			t.Errorf("%q\n got %+v\nwant %+v", tail, got, want)
		}
	}
}

func TestRepaint_LongOutputIsItsEnd(t *testing.T) {
	out := "\x1b[?1049h\x1b[?1004h" + strings.Repeat("\x1b[2;1Hline\x1b[K", MaxReplay/8) + "\x1b[1;1H\x1b[4mend"
	painted, err := Repaint([]byte(out), 20, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := see(t, painted, 20, 3), see(t, []byte(out), 20, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// What a viewer leaves behind is a terminal like one just started, whatever it was in.
func TestReset(t *testing.T) {
	checkHarmless(t, bytes.TrimSuffix(Reset(), []byte("\r\n")))
	for _, c := range append(repaintCases, struct{ name, out string }{"broken off", "\x1b]52;c;aGk"}) {
		got := see(t, append([]byte(c.out), Reset()...), 8, 4)
		want := see(t, []byte("\x1b[4;1H"), 8, 4)
		got.main, want.main = nil, nil
		got.saved, want.saved = seenCursor{}, seenCursor{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
	}
}

// A few bytes must not cost much memory or time on the largest screen.
func TestRepaint_HostileOutput(t *testing.T) {
	distinct := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < MaxReplay-40; i++ {
			fmt.Fprintf(&b, form, i>>16&0xff, i>>8&0xff, i&0xff)
		}
		return b.String()
	}
	for _, out := range []string{
		distinct("\x1b[38;2;%d;%d;%dmx"), distinct("\x1b[48;2;%d;%d;%dm\x1b[K\n"), distinct("\x1b[48;2;%d;%d;%dm\x1b[2J"),
		strings.Repeat("\x1b[41m\x1b[999C\x1b[K\x1b[42m\x1b[K\n", MaxReplay/30), strings.Repeat("\x1b[1mx\x1b[mx", MaxReplay/10),
		strings.Repeat("\x1b[41m\x1b[500G\x1b[P\x1b[42m\x1b[@", MaxReplay/30), strings.Repeat("x\x1b[999b", MaxReplay/100),
		strings.Repeat("e\u0301", MaxReplay/3), strings.Repeat("\x1b["+strings.Repeat("1;", 40)+"m", MaxReplay/90),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		painted, err := Repaint([]byte(out), MaxSide, MaxSide)
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		used := int(after.TotalAlloc - before.TotalAlloc)
		if took > 10*time.Second || used > 128<<20 || len(painted) > 16<<20 {
			t.Errorf("%.40q took %v, %d bytes of memory, %d of output", out, took, used, len(painted))
		} else if testing.Verbose() {
			t.Logf("%.40q took %v, %d KiB of memory, %d of output", out, took, used>>10, len(painted)>>10)
		}
	}
}

func BenchmarkRepaint(b *testing.B) {
	line := "drwxr-xr-x 2 \x1b[1;34mroot\x1b[0m root \x1b[38;5;208;48;2;10;20;30m4096 Jan  1\x1b[m 00:00 name\r\n"
	out := []byte(strings.Repeat(line, MaxReplay/len(line)))
	b.SetBytes(int64(len(out)))
	for b.Loop() {
		if _, err := Repaint(out, 200, 50); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzRepaint(f *testing.F) {
	for _, c := range repaintCases {
		f.Add([]byte(c.out), uint8(8), uint8(4))
	}
	f.Add([]byte("\x1b[41m世\x1b[2G\x1b[P\x1b[4hx\x1b[42m\x1b[K\x1b[3@\x1b[L\x1bM"), uint8(5), uint8(3))
	f.Fuzz(func(t *testing.T, out []byte, cols, rows uint8) {
		checkRepaint(t, out, int(cols)%40, int(rows)%20)
		var tr Tracker
		_, _ = tr.Write(out)
		painted, err := RepaintTail(out[len(out)/2:], int(cols), int(rows), tr.Modes())
		if err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, painted)
	})
}
