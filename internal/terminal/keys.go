package terminal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// modifier is a set of modifier keys, with xterm's bit values.
type modifier uint8

const (
	shift modifier = 1 << iota
	meta
	ctrl
)

// form says how a named key becomes bytes.
type form uint8

const (
	formChar    form = iota // one byte, code, which modifiers may change
	formBackTab             // ESC [ Z
	formCursor              // ESC [ code, or ESC O code in application-cursor mode
	formSS3                 // ESC O code
	formTilde               // ESC [ number ~
)

// namedKey is one row of the key table.
type namedKey struct {
	name   string // as tmux spells it
	form   form
	code   byte
	number int // of formTilde
}

// keyTable holds the names of S-2, each once, in the order errors list them.
var keyTable = []namedKey{
	{"Enter", formChar, '\r', 0},
	{"Tab", formChar, '\t', 0},
	{"BTab", formBackTab, 'Z', 0},
	{"Escape", formChar, esc, 0},
	{"Space", formChar, ' ', 0},
	{"BSpace", formChar, del, 0},
	{"Up", formCursor, 'A', 0},
	{"Down", formCursor, 'B', 0},
	{"Left", formCursor, 'D', 0},
	{"Right", formCursor, 'C', 0},
	{"Home", formCursor, 'H', 0},
	{"End", formCursor, 'F', 0},
	{"PPage", formTilde, 0, 5},
	{"PageUp", formTilde, 0, 5},
	{"NPage", formTilde, 0, 6},
	{"PageDown", formTilde, 0, 6},
	{"IC", formTilde, 0, 2},
	{"Insert", formTilde, 0, 2},
	{"DC", formTilde, 0, 3},
	{"Delete", formTilde, 0, 3},
	{"F1", formSS3, 'P', 0},
	{"F2", formSS3, 'Q', 0},
	{"F3", formSS3, 'R', 0},
	{"F4", formSS3, 'S', 0},
	{"F5", formTilde, 0, 15},
	{"F6", formTilde, 0, 17},
	{"F7", formTilde, 0, 18},
	{"F8", formTilde, 0, 19},
	{"F9", formTilde, 0, 20},
	{"F10", formTilde, 0, 21},
	{"F11", formTilde, 0, 23},
	{"F12", formTilde, 0, 24},
}

// keyAliases are names from keyboards and other programs which cannot be
// mistaken for another key. They are accepted, errors list tmux's names only.
var keyAliases = map[string]string{
	"return": "Enter", "esc": "Escape", "backspace": "BSpace",
	"ins": "IC", "del": "DC", "pgup": "PPage", "pgdn": "NPage",
}

// Keys returns the bytes that the named keys send, in order (S-2). A name is
// one character, or a name of tmux's, with any of the modifiers C-, M- and S- (or ^
// for C-) before it. Names and modifiers may be in either case; a single character
// is itself: "a" and "A" differ.
//
// A name nobody knows, and a combination for which a terminal has no bytes of its
// own (C-Enter, S-1), is an *UnknownKeyError: guessing would press another key.
// On an error no bytes are returned.
func Keys(names []string, m Modes) ([]byte, error) {
	var out []byte
	for _, name := range names {
		b, ok := encodeName(name, m)
		if !ok {
			return nil, &UnknownKeyError{Name: name, Near: nearKeys(name)}
		}
		out = append(out, b...)
	}
	return out, nil
}

func encodeName(name string, m Modes) ([]byte, bool) {
	mods, base := splitModifiers(name)
	if r, size := utf8.DecodeRuneInString(base); size == len(base) && size > 0 {
		if r == utf8.RuneError && size == 1 {
			return nil, false
		}
		return encodeRune(r, mods)
	}
	if tmux, ok := keyAliases[strings.ToLower(base)]; ok {
		base = tmux
	}
	for _, k := range keyTable {
		if strings.EqualFold(k.name, base) {
			return k.encode(mods, m)
		}
	}
	return nil, false
}

// splitModifiers takes the modifiers off a name. What is left may be empty.
func splitModifiers(name string) (modifier, string) {
	var mods modifier
	for {
		switch {
		case len(name) > 2 && name[1] == '-':
			one := modifierOf(name[0])
			if one == 0 {
				return mods, name
			}
			mods |= one
			name = name[2:]
		case len(name) > 1 && name[0] == '^':
			mods |= ctrl
			name = name[1:]
		default:
			return mods, name
		}
	}
}

func modifierOf(letter byte) modifier {
	switch letter | 0x20 {
	case 'c':
		return ctrl
	case 'm':
		return meta
	case 's':
		return shift
	}
	return 0
}

// encodeRune encodes a single character with modifiers.
func encodeRune(r rune, mods modifier) ([]byte, bool) {
	switch mods &^ meta {
	case shift:
		if !unicode.IsLetter(r) {
			return nil, false // which character shift makes depends on the keyboard
		}
		r = unicode.ToUpper(r)
	case ctrl:
		c, ok := controlOf(r)
		if !ok {
			return nil, false
		}
		r = rune(c)
	case shift | ctrl:
		return nil, false
	}
	return withMeta(utf8.AppendRune(nil, r), mods), true
}

// controlOf returns the control byte of a character, by the VT220's rules.
func controlOf(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= '@' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ', r == '2', r == '`':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '8', r == '?':
		return del, true
	case r == '~':
		return 0x1e, true
	case r == '/', r == '-':
		return 0x1f, true
	}
	return 0, false
}

func withMeta(b []byte, mods modifier) []byte {
	if mods&meta == 0 {
		return b
	}
	return append([]byte{esc}, b...)
}

// encode returns the bytes of the key with modifiers, false when a terminal
// sends nothing distinct for them.
func (k namedKey) encode(mods modifier, m Modes) ([]byte, bool) {
	switch k.form {
	case formChar:
		return k.encodeChar(mods)
	case formBackTab:
		return withMeta([]byte("\x1b[Z"), mods), mods&ctrl == 0
	}
	if mods == 0 {
		switch {
		case k.form == formTilde:
			return []byte("\x1b[" + strconv.Itoa(k.number) + "~"), true
		case k.form == formSS3, m.AppCursor:
			return []byte{esc, 'O', k.code}, true
		}
		return []byte{esc, '[', k.code}, true
	}
	with := strconv.Itoa(int(mods) + 1)
	if k.form == formTilde {
		return []byte("\x1b[" + strconv.Itoa(k.number) + ";" + with + "~"), true
	}
	return []byte("\x1b[1;" + with + string(rune(k.code))), true
}

func (k namedKey) encodeChar(mods modifier) ([]byte, bool) {
	b := []byte{k.code}
	switch plain := mods &^ meta; {
	case plain == 0:
	case plain == ctrl && k.code == ' ':
		b[0] = 0
	case plain == ctrl && k.code == del:
		b[0] = '\b'
	case plain == shift && k.code == '\t':
		b = []byte("\x1b[Z")
	case plain == shift && (k.code == ' ' || k.code == del):
	default:
		return nil, false
	}
	return withMeta(b, mods), true
}
