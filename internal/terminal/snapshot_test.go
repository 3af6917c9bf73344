package terminal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"openclaw/internal/protocol"
)

func mustSnapshot(t *testing.T, output string, cols, rows int) protocol.Screen {
	t.Helper()
	shot, err := Snapshot([]byte(output), cols, rows)
	if err != nil {
		t.Fatalf("%.80q: %v", output, err)
	}
	return shot
}

// Each want is the rows joined by a bar, without the bars at the end, then the
// cursor as column,row.
func TestSnapshot(t *testing.T) {
	for _, c := range []struct{ name, out, want, cursor string }{
		{"nothing", "", "", "0,0"},
		{"text", "ab\r\ncd  ", "ab|cd", "4,1"},
		{"line feed only", "ab\ncd", "ab|  cd", "4,1"},
		{"wrap", "abcdefghij", "abcdefgh|ij", "2,1"},
		{"pending wrap", "abcdefgh", "abcdefgh", "7,0"},
		{"pending wrap and return", "abcdefgh\r\nx", "abcdefgh|x", "1,1"},
		{"no wrap", "\x1b[?7labcdefghij", "abcdefgj", "7,0"},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5", "1,3"},
		{"tab and backspace", "a\tb\b\bc", "a    c b", "6,0"},
		{"tab stops", "\x1b[3g\x1b[3G\x1bH\r\tx\r\x1b[Iy\x1b[Zz", "  z", "3,0"},
		{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx", "1|3|x|4", "1,2"},
		{"region reverse", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[2;1H\x1bMx", "1|x|2|4", "1,1"},
		{"origin", "\x1b[2;3r\x1b[?6hx\x1b[9;9Hy\x1b[?6l\x1b[Hz", "z|x|       y", "1,0"},
		{"region holds cursor", "\x1b[2;3r\x1b[2;1H\x1b[9A\x1b[9Bx", "||x", "1,2"},
		{"insert line", "1\r\n2\r\n3\x1b[2H\x1b[Lx", "1|x|2|3", "1,1"},
		{"delete line", "1\r\n2\r\n3\x1b[1H\x1b[2M", "3", "0,0"},
		{"lines outside the region", "1\x1b[2;3r\x1b[L\x1b[M", "1", "0,0"},
		{"insert and delete characters", "abcdef\x1b[2G\x1b[2@\x1b[5G\x1b[P", "a  bdef", "4,0"},
		{"erase characters", "abcdef\x1b[2G\x1b[3X", "a   ef", "1,0"},
		{"insert mode", "abc\r\x1b[4hX\x1b[4lY", "XYbc", "2,0"},
		{"erase line", "abcdef\x1b[3G\x1b[1K\x1b[5G\x1b[K", "   d", "4,0"},
		{"erase above", "abcdef\r\nghijkl\x1b[2;3H\x1b[1J", "|   jkl", "2,1"},
		{"erase below", "abcdef\r\nghijkl\x1b[1;3H\x1b[J", "ab", "2,0"},
		{"erase scrollback only", "ab\x1b[3J", "ab", "2,0"},
		{"a count of nought is one", "abc\r\n\x1b[0Ax\x1b[0B\x1b[0Dy", "xbc|y", "1,1"},
		{"repeat", "ab\x1b[3b", "abbbb", "5,0"},
		{"save and restore", "ab\x1b7\x1b[4;4Hx\x1b8c\x1b[s\r\x1b[ud", "abcd|||   x", "4,0"},
		{"next line and index", "a\x1bEb\x1bDc", "a|b| c", "2,2"},
		{"line feed is new line", "\x1b[20ha\nb", "a|b", "1,1"},
		{"line drawing", "\x1b(0lqk\x1b(Bx\x1b)0\x0ex\x0fx", "┌─┐x│x", "6,0"},
		{"alternate screen", "ab\x1b[?1049h\x1b[HX\x1b[?1049lcd", "abcd", "4,0"},
		{"alternate screen 47", "ab\x1b[?47hX\x1b[?47l", "ab", "3,0"},
		{"alternate screen comes up empty", "\x1b[?1049hX\x1b[?1049l\x1b[?1049h", "", "0,0"},
		{"full reset", "ab\x1b[2;3r\x1b[?1049hX\x1bcy", "y", "1,0"},
		{"soft reset", "ab\x1b[4h\x1b[2;3r\x1b[3;1H\x1b[!p\x1b[4;1H\nz", "|||z", "1,3"},
		// Wide characters and marks.
		{"wide", "世界x", "世界x", "5,0"},
		{"wide wraps whole", "abcdefg世x", "abcdefg|世x", "3,1"},
		{"wide fills the row", "世界世界世界", "世界世界|世界", "4,1"},
		{"wide half overwritten", "世界\x1b[2Gx\x1b[3Gy", " xy", "3,0"},
		{"wide half erased", "世界\x1b[2G\x1b[X", "  界", "1,0"},
		{"wide half deleted", "世界a\x1b[2G\x1b[P", " 界a", "1,0"},
		{"wide pushed over the edge", "abcdef世\r\x1b[@", " abcdef", "0,0"},
		{"emoji", "🙂x", "🙂x", "3,0"},
		{"marks join", "e\u0301x", "e\u0301x", "2,0"},
		{"mark on the last column", "abcdefge\u0301", "abcdefge\u0301", "7,0"},
		{"mark on nothing", "\u0301x", "x", "1,0"},
		{"mark on wide", "世\u0301x", "世\u0301x", "3,0"},
		// Foreign, broken and unfinished things.
		{"colours leave no text", "\x1b[1;38:2::1:2:3;4mred\x1b[0m", "red", "3,0"},
		{"strings leave no text", "a\x1bPq#0\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d\x1b]8;;http://x\x1b\\e", "abcde", "5,0"},
		{"string cut short", "a\x1bPxyz\x18b", "ab", "2,0"},
		{"control inside a sequence", "ab\x1b[1\r;1Hx", "xb", "1,0"},
		{"bad UTF-8", "a\xe2\x1b[2Gb\xffc", "ab\ufffdc", "4,0"},
		{"raw C1 is no sequence", "a\x9b2Jb", "a\ufffd2Jb", "5,0"},
		{"C1 is dropped", "a\u009bb", "ab", "2,0"},
		{"half a character at the end", "a\xe4\xb8", "a", "1,0"},
		{"half a sequence at the end", "a\x1b[12;", "a", "1,0"},
		{"two intermediates", "a\x1b[1 !pb\x1b(!0c", "abc", "3,0"},
		{"unknown sequences", "\x1b[>1u\x1b[?u\x1b[5;5~\x1b[1;2;3;4;5T\x1b#8ok", "ok", "2,0"},
	} {
		shot := mustSnapshot(t, c.out, 8, 4)
		got := strings.TrimRight(strings.Join(shot.Lines, "|"), "|")
		cursor := fmt.Sprintf("%d,%d", shot.CursorCol, shot.CursorRow)
		if got != c.want || cursor != c.cursor {
			t.Errorf("%s: %q\n got %q at %s\nwant %q at %s", c.name, c.out, got, cursor, c.want, c.cursor)
		}
	}
}

// What real programs print, against what a real terminal made of it.
func TestSnapshot_RealPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.out")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(file, ".out") + ".want")
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
		want := protocol.Screen{Lines: strings.Split(strings.TrimSuffix(body, "\n"), "\n")}
		var alt int
		if _, err := fmt.Sscan(head, &want.Cols, &want.Rows, &want.CursorCol, &want.CursorRow, &alt); err != nil {
			t.Fatalf("%s: %q: %v", file, head, err)
		}
		got := mustSnapshot(t, string(out), want.Cols, want.Rows)
		if !slices.Equal(got.Lines, want.Lines) {
			t.Errorf("%s:\n got %s\nwant %s", file, strings.Join(got.Lines, "\n"), strings.Join(want.Lines, "\n"))
		}
		if got.CursorCol != want.CursorCol || got.CursorRow != want.CursorRow || got.AltScreen != (alt == 1) {
			t.Errorf("%s: cursor %d,%d alt %v, want %q", file, got.CursorCol, got.CursorRow, got.AltScreen, head)
		}
	}
}

func TestSnapshot_TitleAndAlt(t *testing.T) {
	shot := mustSnapshot(t, "\x1b]0;a;b 世\a\x1b[?1049hx", 10, 2)
	if shot.Title != "a;b 世" || !shot.AltScreen || shot.Cols != 10 || shot.Rows != 2 || len(shot.Lines) != 2 {
		t.Errorf("got %+v", shot)
	}
}

func TestSnapshot_Sizes(t *testing.T) {
	for _, c := range []struct{ cols, rows, wantCols, wantRows int }{
		{0, 0, 1, 1}, {-5, 1 << 40, 1, MaxSide}, {1 << 40, -1, MaxSide, 1}, {MaxSide, MaxSide, MaxSide, MaxSide},
	} {
		shot := mustSnapshot(t, "ab世\r\n\tc\x1b[99999999999999999999C\x1b[9Bx", c.cols, c.rows)
		if shot.Cols != c.wantCols || shot.Rows != c.wantRows || len(shot.Lines) != c.wantRows {
			t.Errorf("%d by %d became %d by %d", c.cols, c.rows, shot.Cols, shot.Rows)
		}
	}
}

func TestSnapshotTail(t *testing.T) {
	for _, c := range []struct {
		name, tail, want string
		now              Modes
		alt              bool
	}{
		{"cut in a line", "rest\r\nfull\r\n$ ", "full|$", Modes{}, false},
		{"cut in a sequence", ";5Hjunk\x1b[Hab", "ab", Modes{}, false},
		{"cut in a title", "itle\aab", "ab", Modes{}, false},
		{"cut in a character", "\xb8\xadab", "ab", Modes{}, false},
		{"still on the alternate screen", "\x1b[Hab", "ab", Modes{AltScreen: true}, true},
		{"left it", "\x1b[2;1Hab\x1b[?1049l\x1b[Hcd", "cd", Modes{}, false},
		{"left it and came back", "\x1b[Hab\x1b[?1049l\x1b[?1049hcd", "cd", Modes{AltScreen: true}, true},
		{"came to it", "\x1b[Hmain\x1b[?1049h\x1b[Hcd", "cd", Modes{AltScreen: true}, true},
	} {
		c.now.Title = "kept"
		shot, err := SnapshotTail([]byte(c.tail), 10, 3, c.now)
		got := strings.TrimRight(strings.Join(shot.Lines, "|"), "|")
		if err != nil || got != c.want || shot.AltScreen != c.alt || shot.Title != "kept" {
			t.Errorf("%s: got %q alt %v title %q, %v; want %q alt %v", c.name, got, shot.AltScreen, shot.Title, err, c.want, c.alt)
		}
	}
}

func TestSnapshot_LongOutputIsItsEnd(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("\x1b]2;old\a\x1b[?1049h")
	for i := 0; out.Len() < 3*MaxReplay; i++ {
		fmt.Fprintf(&out, "\x1b[2;1Hline %d\x1b[K", i)
	}
	out.WriteString("\x1b[1;1Hend")
	shot := mustSnapshot(t, out.String(), 20, 3)
	if shot.Lines[0] != "end" || !strings.HasPrefix(shot.Lines[1], "line ") || !shot.AltScreen || shot.Title != "old" {
		t.Errorf("got %+v", shot)
	}
}

// The dearest thing a few bytes can ask for, repeated many times on the largest
// screen. Nothing may take long, block on a query or leave anything behind.
func TestSnapshot_HostileOutput(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, unit := range []string{
		"y\r\n", "\n", "x", "世", "e\u0301\u0302\u0303", "\x1bc", "\x1b[2J", "\x1b[J", "\x1b[1J", "x\x1b[99999999b", "x\x1b[1000b\n",
		"\x1b[999999999@", "x\x1b[1000G\x1b[P\r", "\x1b[999999999L", "\x1b[500M", "\x1b[999999999S", "\x1b[500T", "\x1b[999999999X",
		"\x1b[99999999I", "\x1b[99999999Z", "\x1b[3g\t\x1b[Z", "\x1b[?1049h\x1b[?1049l", "\x1b[?1047h\x1b[?1047l", "\x1b[4hx\r", "\x1bM",
		"\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[?6n\x1b[?1$p", "\x1b]11;?\a\x1b]0;" + strings.Repeat("t", 300) + "\a", "\x1b[22t\x1b[23t",
		"\x1b[" + strings.Repeat("1;", 500) + "h", "\x1b]0;", "\x1bP",
	} {
		begin := time.Now()
		mustSnapshot(t, strings.Repeat(unit, MaxReplay/8/len(unit)+1), MaxSide, MaxSide)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%.30q took %v", unit, took)
		} else if testing.Verbose() {
			t.Logf("%.30q took %v", unit, took)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestCellWidth(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, 'é': 1, 0xad: 1, 0x301: 0, 0x200d: 0, 0xfe0f: 0, 0x1160: 0, 0x1100: 2, '世': 2, '界': 2, '한': 2, 'ア': 2, 'ｱ': 1,
		'Ａ': 2, '🙂': 2, 0x1fae8: 2, 0x20000: 2, '─': 1, '☃': 1, '⌚': 2, utf8.RuneError: 1, 0x10ffff: 1,
	} {
		if got := cellWidth(r); got != want {
			t.Errorf("%U is %d wide, want %d", r, got, want)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", "drwxr-xr-x 2 root root 4096 Jan  1 00:00 name\r\n"},
		{"coloured", "drwxr-xr-x 2 \x1b[1;34mroot\x1b[0m root \x1b[38;5;208;48;2;10;20;30m4096 Jan  1\x1b[m 00:00 name\r\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			out := []byte(strings.Repeat(c.line, MaxReplay/len(c.line)))
			b.SetBytes(int64(len(out)))
			for b.Loop() {
				if _, err := Snapshot(out, 200, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add([]byte("\x1b[6n\x1b[?1049h世\x1b[2G\x1b[P\x1b[4hx\x1b[999999999X"), uint16(8), uint16(4), false)
	f.Add([]byte("\x1b[2;3r\x1b[?6h\x1b[9L\x1b[9M\x1b[S\x1b[T\x1bM\x1b[?7l世"), uint16(1), uint16(3), true)
	f.Add([]byte("\x1b[1;3r世\x1b[@\x1b[1K\x1b[1J\x1b[3b\x1b[I\x1b[Z\x1b7\x1b[?47h\x1b8\xff"), uint16(3), uint16(1), false)
	f.Fuzz(func(t *testing.T, out []byte, cols, rows uint16, alt bool) {
		c, r := int(cols)%130, int(rows)%50
		shot, err := Snapshot(out, c, r)
		checkShot(t, shot, err)
		shot, err = SnapshotTail(out, c, r, Modes{AltScreen: alt})
		checkShot(t, shot, err)
	})
}

func checkShot(t *testing.T, shot protocol.Screen, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(shot.Lines) != shot.Rows || shot.CursorRow < 0 || shot.CursorRow >= shot.Rows || shot.CursorCol < 0 || shot.CursorCol >= shot.Cols {
		t.Fatalf("%d lines, cursor %d,%d on %d by %d", len(shot.Lines), shot.CursorCol, shot.CursorRow, shot.Cols, shot.Rows)
	}
	for _, l := range append(shot.Lines, shot.Title) {
		if !utf8.ValidString(l) || strings.ContainsFunc(l, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("line %q", l)
		}
		width := 0
		for _, r := range l {
			width += cellWidth(r)
		}
		if l != shot.Title && (width > shot.Cols || strings.HasSuffix(l, " ")) {
			t.Fatalf("line %q is %d wide on %d columns", l, width, shot.Cols)
		}
	}
}
