package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestPaste(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"two lines", "one\ntwo\n", "one\rtwo\r"},
		{"windows lines", "one\r\ntwo\r", "one\rtwo\r"},
		{"blank lines", "a\n\n\r\nb", "a\r\r\rb"},
		{"empty", "", ""},
		{"other sequences and tildes stay", "~/x \x1b[31mred\x1b[0m \x1b[3~ 201~ [201~", "~/x \x1b[31mred\x1b[0m \x1b[3~ 201~ [201~"},
		{"end mark", "a\x1b[201~b", "ab"},
		{"start mark", "a\x1b[200~b", "ab"},
		{"put together from the remains", "a\x1b[20\x1b[201~1~b", "ab"},
		{"put together twice", "\x1b[2\x1b[20\x1b[201~1~01~rm", "rm"},
		{"start mark hides an end mark", "\x1b[20\x1b[200~1~x", "x"},
		{"escape before a mark", "\x1b\x1b[201~[201~x", "x"},
		{"C1 as UTF-8", "a\u009b201~b", "ab"},
		{"C1 as a byte", "a\x9b201~b", "ab"},
		{"a character that holds the byte", "\u06db201~ 世\u009b201~", "\u06db201~ 世"},
		{"leading zeros", "\x1b[00201~x", "x"},
		{"more parameters", "\x1b[201;5~x\x1b[201:1;~y", "xy"},
		{"controls inside", "\x1b[2\n0\x001~x\x1b\b[201~y", "xy"},
		{"other numbers stay", "\x1b[202~\x1b[1201~\x1b[21~", "\x1b[202~\x1b[1201~\x1b[21~"},
		{"escape at the end", "x\x1b\x1b", "x"},
		{"bytes above ASCII inside", "\x1b\xc6[201~x\x1b[2世01~y", "xy"},
	} {
		got := string(Paste(c.text, true))
		if want := pasteStart + c.want + pasteEnd; got != want {
			t.Errorf("%s: %q = %q, want %q", c.name, c.text, got, want)
		}
	}
}

func TestPaste_Plain(t *testing.T) {
	if got := string(Paste("a\r\nb\nc\x1b[201~", false)); got != "a\rb\rc\x1b[201~" {
		t.Errorf("got %q", got)
	}
}

func TestPaste_LongTextIsLinear(t *testing.T) {
	text := strings.Repeat("1", 1<<20) + strings.Repeat("~", 1<<20) + strings.Repeat("\x1b[20", 1<<18) + strings.Repeat("1~", 1<<18)
	got := Paste(text, true)
	checkFrame(t, text, got)
}

// checkFrame reads a frame as the loosest program would: it must end at its end only.
func checkFrame(t *testing.T, text string, framed []byte) {
	t.Helper()
	body, ok := bytes.CutPrefix(framed, []byte(pasteStart))
	body, ok2 := bytes.CutSuffix(body, []byte(pasteEnd))
	if !ok || !ok2 {
		t.Fatalf("no frame around %.80q", text)
	}
	for _, mark := range []string{pasteStart, pasteEnd, "\u009b200~", "\u009b201~"} {
		if bytes.Contains(body, []byte(mark)) {
			t.Fatalf("%.80q: the frame holds %q", text, mark)
		}
	}
	var l lexer
	ends := 0
	for _, b := range framed {
		if l.step(b) == tokCSI && b == '~' && l.prefix == 0 && l.inter == 0 && l.param(0) == 201 {
			ends++
		}
	}
	if ends > 1 {
		t.Fatalf("%.80q: %d end marks", text, ends)
	}
}

func FuzzPaste(f *testing.F) {
	f.Add("\x1b[2\x1b[20\x1b[201~1~01~rm\n")
	f.Add("\u009b\x1b\n[201~201~")
	f.Add("\x1b]0;x\x1b[201~")
	f.Fuzz(func(t *testing.T, text string) { checkFrame(t, text, Paste(text, true)) })
}
