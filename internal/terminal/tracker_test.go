package terminal

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func TestTracker(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      Modes
	}{
		{"nothing", "plain text\r\n", Modes{}},
		{"application cursor", "\x1b[?1h", Modes{AppCursor: true}},
		{"and back", "\x1b[?1h\x1b=x\x1b[?1l", Modes{AppKeypad: true}},
		{"keypad", "\x1b=\x1b>\x1b[?66h\x1b#=", Modes{AppKeypad: true}},
		{"keypad and back", "\x1b[?66h\x1b>\x1b=\x1b[?66l", Modes{}},
		{"mouse", "\x1b[?1000h\x1b[?1002h\x1b[?1015h\x1b[?1006h", Modes{MouseEvents: 1002, MouseEncoding: 1006}},
		{"mouse and back", "\x1b[?1003;1006h\x1b[?1006l\x1b[?1000l", Modes{}},
		{"mouse in another encoding", "\x1b[?9;1016;1005h\x1b[?1016l", Modes{MouseEvents: 9, MouseEncoding: 1005}},
		{"focus", "\x1b[?1004h", Modes{Focus: true}},
		{"cursor", "\x1b[?25l\x1b[4 q\x1b[9 q", Modes{CursorHidden: true, CursorShape: 4}},
		{"cursor and back", "\x1b[?25l\x1b[4 q\x1b[?25h\x1b[ q", Modes{}},
		{"region", "\x1b[2;5r\x1b[7;7r\x1b[?1r", Modes{RegionTop: 2, RegionBottom: 5}},
		{"region to the end", "\x1b[;5r\x1b[3r", Modes{RegionTop: 3}},
		{"region and back", "\x1b[2;5r\x1b[r", Modes{}},
		{"text attributes are none", "\x1b[4:3m\x1b[38:5:1;25m\x1b[>4;2m\x1b[?4m", Modes{}},
		{"bracketed paste", "\x1b[?2004h", Modes{BracketedPaste: true}},
		{"alternate screens", "\x1b[?47h", Modes{AltScreen: true}},
		{"alternate screen 1047", "\x1b[?1047h", Modes{AltScreen: true}},
		{"alternate screen 1049", "\x1b[?1049h\x1b[?1049l\x1b[?1049h", Modes{AltScreen: true}},
		{"several in one", "\x1b[?1;25;2004;1049h", Modes{AppCursor: true, BracketedPaste: true, AltScreen: true}},
		{"not the ANSI modes", "\x1b[1h\x1b[2004h\x1b[>1h\x1b[?1$p\x1b[?1;2:3h", Modes{}},
		{"full reset", "\x1b[?1;66;1000;1006;1004;2004;1049h\x1b[?25l\x1b[2;3r\x1b[3 q\x1bc", Modes{}},
		{"soft reset", "\x1b[?1;66;2004;1049h\x1b[?25l\x1b[2;3r\x1b[!p", Modes{BracketedPaste: true, AltScreen: true}},
		{"inside a string", "\x1bP\x1b\\\x1b]0;x\x1b\\\x1b_[?1h\x1b\\", Modes{Title: "x"}},
		{"cancelled", "\x1b[?1\x18h\x1b[?1\x1ah", Modes{}},
		{"broken off by a new one", "\x1b[?1\x1b[?2004h", Modes{BracketedPaste: true}},
		{"control inside", "\x1b[?\r1\nh", Modes{AppCursor: true}},
		{"huge number", "\x1b[?18446744073709551617h\x1b[?00001h", Modes{AppCursor: true}},
		{"many parameters", "\x1b[?" + strings.Repeat("8;", 100) + "1h\x1b[?2004h", Modes{BracketedPaste: true}},
		{"title", "\x1b]2;one\a\x1b]0;two 世\x1b\\", Modes{Title: "two 世"}},
		{"other commands", "\x1b]2;one\a\x1b]1;icon\a\x1b]52;c;aGk=\a\x1b]22;x\a\x1b]2\a", Modes{Title: "one"}},
		{"title with controls", "\x1b]2;a\x01b\xffc\u202ed\u009be\a", Modes{Title: "abcde"}},
		{"long title", "\x1b]2;" + strings.Repeat("世", 200) + "\a", Modes{Title: strings.Repeat("世", 85)}},
		{"too long a title", "\x1b]2;one\a\x1b]2;" + strings.Repeat("x", 5000) + "\a\x1b[?1h", Modes{Title: "one", AppCursor: true}},
		{"title put back", "\x1b]2;one\a\x1b[22;0;0t\x1b]2;two\a\x1b[22;1t\x1b[23;0;0t\x1b[23t", Modes{Title: "one"}},
		{"title survives reset", "\x1b]2;one\a\x1bc", Modes{Title: "one"}},
	} {
		var whole, single Tracker
		if n, err := whole.Write([]byte(c.out)); n != len(c.out) || err != nil {
			t.Errorf("%s: write gave %d, %v", c.name, n, err)
		}
		for i := range len(c.out) {
			if _, err := single.Write([]byte{c.out[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if got := whole.Modes(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if got := single.Modes(); got != c.want {
			t.Errorf("%s: byte by byte %+v, want %+v", c.name, got, c.want)
		}
	}
}

// pro-0014: the same key, before and after the switch.
func TestS2_TrackerDrivesKeys(t *testing.T) {
	var tr Tracker
	for _, c := range []struct{ out, want string }{{"hello", "\x1b[A"}, {"\x1b[?1", "\x1b[A"}, {"h", "\x1bOA"}, {"\x1b[?1l", "\x1b[A"}} {
		if _, err := tr.Write([]byte(c.out)); err != nil {
			t.Fatal(err)
		}
		if got, err := Keys([]string{"Up"}, tr.Modes()); err != nil || string(got) != c.want {
			t.Errorf("after %q: %q, %v; want %q", c.out, got, err, c.want)
		}
	}
}

func TestTracker_ConcurrentReaders(t *testing.T) {
	var tr Tracker
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				// Both modes change in one write, so no reader may see one alone.
				if m := tr.Modes(); m.AppCursor != m.BracketedPaste {
					t.Errorf("torn: %+v", m)
					return
				}
			}
		})
	}
	for range 5000 {
		for _, out := range []string{"text\x1b[?1;2004h", "\x1b[?1;2004l"} {
			if _, err := tr.Write([]byte(out)); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	readers.Wait()
}

// S-9: many sessions are cheap: no allocation on text, a small state always.
func TestS9_TrackerIsCheap(t *testing.T) {
	var tr Tracker
	text := []byte(strings.Repeat("plain text \x1b[31mred\x1b[0m\r\n", 100))
	if n := testing.AllocsPerRun(100, func() { _, _ = tr.Write(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for range 100 {
		_, _ = tr.Write([]byte("\x1b]2;" + strings.Repeat("x", 1000) + "\a\x1b[22t"))
	}
	_, _ = tr.Write([]byte("\x1b]2;" + strings.Repeat("x", 1<<20)))
	size := int(unsafe.Sizeof(tr)) + cap(tr.lex.str)
	for _, title := range append(tr.now.titles, tr.now.modes.Title) {
		size += len(title)
	}
	if size > 16<<10 {
		t.Errorf("state is %d bytes", size)
	}
	begin := time.Now()
	_, _ = tr.Write(make([]byte, 1<<20))
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("1 MiB took %v", took)
	}
}

func BenchmarkTracker(b *testing.B) {
	var tr Tracker
	text := []byte(strings.Repeat("some text that a compiler prints about a file\r\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = tr.Write(text)
	}
}

func FuzzTracker(f *testing.F) {
	f.Add([]byte("a\x1b[?1;2004h\x1b]2;t\x1b\\\x1b[22t\x1b]2;u\a\x1b[23t\x1b[!p\x1bc"), uint8(3))
	f.Add([]byte("\x1bP\x1b[?1h\x18\x1b[?\x1b[?47h\xff\x9b"), uint8(1))
	f.Fuzz(func(t *testing.T, out []byte, step uint8) {
		var whole, parts Tracker
		_, _ = whole.Write(out)
		n := int(step)%16 + 1
		for rest := out; len(rest) > 0; {
			cut := min(n, len(rest))
			_, _ = parts.Write(rest[:cut])
			rest = rest[cut:]
		}
		if whole.Modes() != parts.Modes() {
			t.Fatalf("whole %+v, in parts of %d %+v", whole.Modes(), n, parts.Modes())
		}
		// The painter sees the same modes, as it reads with the same lexer.
		shot, err := Snapshot(out, 20, 5)
		if err != nil || shot.AltScreen != whole.Modes().AltScreen || shot.Title != whole.Modes().Title {
			t.Fatalf("snapshot alt %v title %q (%v), tracker %+v", shot.AltScreen, shot.Title, err, whole.Modes())
		}
	})
}
