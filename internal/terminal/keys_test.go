package terminal

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// keyCases are the encodings of xterm, and of tmux where it agrees.
var keyCases = []struct{ name, want string }{
	{"Enter", "\r"},
	{"Tab", "\t"},
	{"BTab", "\x1b[Z"},
	{"Escape", "\x1b"},
	{"Space", " "},
	{"BSpace", "\x7f"},
	{"Up", "\x1b[A"},
	{"Down", "\x1b[B"},
	{"Right", "\x1b[C"},
	{"Left", "\x1b[D"},
	{"Home", "\x1b[H"},
	{"End", "\x1b[F"},
	{"PPage", "\x1b[5~"},
	{"PageUp", "\x1b[5~"},
	{"NPage", "\x1b[6~"},
	{"PageDown", "\x1b[6~"},
	{"IC", "\x1b[2~"},
	{"Insert", "\x1b[2~"},
	{"DC", "\x1b[3~"},
	{"Delete", "\x1b[3~"},
	{"F1", "\x1bOP"},
	{"F2", "\x1bOQ"},
	{"F3", "\x1bOR"},
	{"F4", "\x1bOS"},
	{"F5", "\x1b[15~"},
	{"F6", "\x1b[17~"},
	{"F7", "\x1b[18~"},
	{"F8", "\x1b[19~"},
	{"F9", "\x1b[20~"},
	{"F10", "\x1b[21~"},
	{"F11", "\x1b[23~"},
	{"F12", "\x1b[24~"},
	// Single characters are themselves.
	{"a", "a"},
	{"A", "A"},
	{"-", "-"},
	{"^", "^"},
	{"é", "é"},
	{"世", "世"},
	{" ", " "},
	// Control, in both spellings and either case.
	{"C-c", "\x03"},
	{"C-C", "\x03"},
	{"c-c", "\x03"},
	{"^C", "\x03"},
	{"^c", "\x03"},
	{"C-Space", "\x00"},
	{"C-@", "\x00"},
	{"C-[", "\x1b"},
	{"C-\\", "\x1c"},
	{"C-]", "\x1d"},
	{"C-^", "\x1e"},
	{"^^", "\x1e"},
	{"C-_", "\x1f"},
	{"C-/", "\x1f"},
	{"C--", "\x1f"},
	{"C-?", "\x7f"},
	{"C-2", "\x00"},
	{"C-3", "\x1b"},
	{"C-4", "\x1c"},
	{"C-5", "\x1d"},
	{"C-6", "\x1e"},
	{"C-7", "\x1f"},
	{"C-8", "\x7f"},
	{"C-BSpace", "\b"},
	{"C-M-x", "\x1b\x18"},
	{"M-C-x", "\x1b\x18"},
	{"^M-x", "\x1b\x18"},
	// Meta and shift.
	{"M-x", "\x1bx"},
	{"m-X", "\x1bX"},
	{"M--", "\x1b-"},
	{"M-é", "\x1bé"},
	{"M-Enter", "\x1b\r"},
	{"M-Escape", "\x1b\x1b"},
	{"M-BSpace", "\x1b\x7f"},
	{"M-Space", "\x1b "},
	{"S-a", "A"},
	{"S-Tab", "\x1b[Z"},
	{"S-Space", " "},
	{"M-BTab", "\x1b\x1b[Z"},
	// Modified function keys: 1 + shift 1 + meta 2 + control 4.
	{"S-Left", "\x1b[1;2D"},
	{"M-Up", "\x1b[1;3A"},
	{"C-Up", "\x1b[1;5A"},
	{"^Up", "\x1b[1;5A"},
	{"C-S-Left", "\x1b[1;6D"},
	{"C-M-Left", "\x1b[1;7D"},
	{"C-M-S-End", "\x1b[1;8F"},
	{"C-Home", "\x1b[1;5H"},
	{"S-F1", "\x1b[1;2P"},
	{"C-F5", "\x1b[15;5~"},
	{"M-DC", "\x1b[3;3~"},
	{"S-PPage", "\x1b[5;2~"},
	// Either case, and names nobody can mistake.
	{"enter", "\r"},
	{"UP", "\x1b[A"},
	{"f12", "\x1b[24~"},
	{"c-up", "\x1b[1;5A"},
	{"pageup", "\x1b[5~"},
	{"Return", "\r"},
	{"Esc", "\x1b"},
	{"Backspace", "\x7f"},
	{"Del", "\x1b[3~"},
	{"Ins", "\x1b[2~"},
	{"PgUp", "\x1b[5~"},
	{"PgDn", "\x1b[6~"},
}

func TestS2_Keys(t *testing.T) {
	for _, c := range keyCases {
		got, err := Keys([]string{c.name}, Modes{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s = %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestS2_ApplicationCursor(t *testing.T) {
	on := Modes{AppCursor: true}
	for name, want := range map[string]string{
		"Up": "\x1bOA", "Down": "\x1bOB", "Right": "\x1bOC", "Left": "\x1bOD", "Home": "\x1bOH", "End": "\x1bOF",
		"C-Up": "\x1b[1;5A", "PPage": "\x1b[5~", "F1": "\x1bOP", "Enter": "\r",
	} {
		if got, err := Keys([]string{name}, on); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestS2_KeysKeepTheirOrder(t *testing.T) {
	got, err := Keys([]string{"i", "Up", "C-c", "x", "Enter"}, Modes{})
	if want := "i\x1b[A\x03x\r"; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err := Keys(nil, Modes{}); err != nil || len(got) != 0 {
		t.Errorf("no names gave %q, %v", got, err)
	}
}

func TestS2_UnknownKey(t *testing.T) {
	for _, c := range []struct{ name, near string }{
		{"Entr", "Enter"},
		{"enterr", "Enter"},
		{"PagUp", "PageUp"},
		{"C-Lft", "C-Left"},
		{"F13", "F1"},
		{"F0", "F1"},
		{"Ctrl-C", "C-C"},
		{"Ctrl+c", "C-c"},
		{"alt-x", "M-x"},
		{"Shift-Tab", "S-Tab"},
		{"ArrowUp", "Up"},
		{"Control-Alt-Del", "C-M-DC"},
		{"C-Enter", "Enter"},
		{"S-Enter", "Enter"},
		{"C-Tab", "Tab"},
		{"C-1", "1"},
		{"C-é", "é"},
		{"S-1", "1"},
		{"C-S-x", "x"},
		{"", ""},
		{"hello world, this is text", ""},
		{"M-", ""},
		{"\xff", ""},
		{"M-\xff", ""},
		{"ab", ""},
	} {
		got, err := Keys([]string{"a", c.name, "b"}, Modes{})
		var unknown *UnknownKeyError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: got %q, %v; want an *UnknownKeyError", c.name, got, err)
			continue
		}
		if got != nil || unknown.Name != c.name {
			t.Errorf("%q: bytes %q, name %q", c.name, got, unknown.Name)
		}
		if c.near != "" && !slices.Contains(unknown.Near, c.near) {
			t.Errorf("%q: near names are %q, want %q among them", c.name, unknown.Near, c.near)
		}
		if !strings.Contains(err.Error(), "unknown key") || c.near != "" && !strings.Contains(err.Error(), c.near) {
			t.Errorf("%q: the error does not say so: %v", c.name, err)
		}
	}
}

func TestHex(t *testing.T) {
	for _, c := range []struct {
		list []string
		want string
	}{
		{nil, ""},
		{[]string{"1b"}, "\x1b"},
		{[]string{"0x1B"}, "\x1b"},
		{[]string{"0X1b", "5b"}, "\x1b["},
		{[]string{"1b5b41"}, "\x1b[A"},
		{[]string{" 1b 5b\t0x41 "}, "\x1b[A"},
		{[]string{"00ff"}, "\x00\xff"},
	} {
		if got, err := Hex(c.list); err != nil || string(got) != c.want {
			t.Errorf("%q = %q, %v; want %q", c.list, got, err, c.want)
		}
	}
	for entry, want := range map[string]string{
		"": "empty", " ": "empty", "1": "odd", "0x1": "odd", "1b5": "odd", "zz": "'z'", "0x": "'x'", "1b,5b": "','", "\\x1b": `'\\'`, "é0": "'é'",
		strings.Repeat("q", 500): "...",
	} {
		got, err := Hex([]string{"1b", entry})
		if err == nil || got != nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%q = %q, %v; want an error with %q", entry, got, err, want)
		}
		var bad *HexError
		if !errors.As(err, &bad) || bad.Entry != entry {
			t.Errorf("%q: %#v is no *HexError of it", entry, err)
		}
	}
	_, err := Hex([]string{"zz"})
	if want := `hex entry "zz": 'z' is not a hexadecimal digit`; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
}

func FuzzKeys(f *testing.F) {
	for _, c := range keyCases {
		f.Add(c.name, true)
	}
	f.Add("C-C-C-C-", false)
	f.Fuzz(func(t *testing.T, name string, app bool) {
		got, err := Keys([]string{name}, Modes{AppCursor: app})
		if err == nil {
			if len(got) == 0 || len(got) > 12 {
				t.Errorf("%q gave %d bytes", name, len(got))
			}
			return
		}
		var unknown *UnknownKeyError
		if !errors.As(err, &unknown) || got != nil {
			t.Fatalf("%q: %q, %v", name, got, err)
		}
		if !utf8.ValidString(err.Error()) || len(err.Error()) > 500 {
			t.Errorf("%q: error text %q", name, err)
		}
		for _, near := range unknown.Near {
			if _, err := Keys([]string{near}, Modes{}); err != nil {
				t.Errorf("%q: offers %q: %v", name, near, err)
			}
		}
	})
}
