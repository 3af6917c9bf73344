package terminal

import "strconv"

// style is how a character looks. Its zero value is plain.
type style struct {
	fore, back colour
	attrs      attribute
}

// attribute is a set of attributes. The lowest bits are a number: the form of
// the underline, 0 for none.
type attribute uint16

const (
	underline attribute = 7 // the bits of the form
	bold      attribute = 1 << (iota + 2)
	dim
	italic
	blink
	reverse
	conceal
	strike
	overline
)

// The forms of an underline that have a code of their own, and the last one.
const (
	singleUnderline attribute = 1
	doubleUnderline attribute = 2
	lastUnderline   attribute = 5
)

// colour is a colour as the program named it, as a terminal shows the same one
// differently by name: 0 is the terminal's own; else one of the kinds and a number.
type colour uint32

const (
	named    colour = 1 << 24 // 0 to 15: codes 30 to 37 and 90 to 97
	numbered colour = 2 << 24 // 0 to 255: code 38;5
	mixed    colour = 3 << 24 // red, green and blue: code 38;2
	kinds    colour = 3 << 24
)

// attributeCodes are the codes that switch one attribute on, in the order they
// are written.
var attributeCodes = []struct {
	code int32
	attr attribute
}{{1, bold}, {2, dim}, {3, italic}, {5, blink}, {7, reverse}, {8, conceal}, {9, strike}, {53, overline}}

// attributes returns the style that a sequence of attributes (SGR) makes of st.
// Codes that nobody defines are left out, colours out of range too.
func (l *lexer) attributes(st style) style {
	codes := l.written()
	if len(codes) == 0 {
		return style{}
	}
	for i := 0; i < len(codes); {
		end := i + 1
		for end < len(codes) && l.sub&(1<<end) != 0 {
			end++
		}
		switch code := codes[i]; {
		case end > i+1:
			st.setGroup(codes[i:end])
		case code == 38 || code == 48 || code == 58:
			var c colour
			var ok bool
			c, ok, end = colourAfter(codes, i)
			st.setColour(code, c, ok)
		default:
			st.set(code)
		}
		i = end
	}
	return st
}

// set carries out a code that stands alone.
func (st *style) set(code int32) {
	switch {
	case code == 0:
		*st = style{}
	case code == 4:
		st.attrs = st.attrs&^underline | singleUnderline
	case code == 21:
		st.attrs = st.attrs&^underline | doubleUnderline
	case code == 6: // fast, and drawn as the slow one
		st.attrs |= blink
	case code >= 30 && code <= 37:
		st.fore = named | colour(code-30)
	case code == 39:
		st.fore = 0
	case code >= 40 && code <= 47:
		st.back = named | colour(code-40)
	case code == 49:
		st.back = 0
	case code >= 90 && code <= 97:
		st.fore = named | colour(code-90+8)
	case code >= 100 && code <= 107:
		st.back = named | colour(code-100+8)
	case code >= 22 && code <= 29 || code == 55:
		st.attrs &^= endedBy(code)
	default:
		for _, a := range attributeCodes {
			if a.code == code {
				st.attrs |= a.attr
			}
		}
	}
}

// endedBy returns what a code switches off.
func endedBy(code int32) attribute {
	switch code {
	case 22:
		return bold | dim
	case 23:
		return italic
	case 24:
		return underline
	case 25:
		return blink
	case 27:
		return reverse
	case 28:
		return conceal
	case 29:
		return strike
	case 55:
		return overline
	}
	return 0
}

// setGroup carries out a code with sub-parameters.
func (st *style) setGroup(group []int32) {
	switch code := group[0]; {
	case code == 4:
		if form := attribute(group[1]); group[1] <= int32(lastUnderline) {
			st.attrs = st.attrs&^underline | form
		}
	case len(group) >= 3 && group[1] == 5:
		c, ok := numberedColour(group[2])
		st.setColour(code, c, ok)
	case len(group) >= 5 && group[1] == 2:
		rgb := group[2:]
		if len(group) >= 6 { // the number of a colour space comes first
			rgb = group[3:]
		}
		c, ok := mixedColour(rgb)
		st.setColour(code, c, ok)
	}
}

// colourAfter reads the colour of codes[i] in its form without sub-parameters.
// next is where the rest begins.
func colourAfter(codes []int32, i int) (c colour, ok bool, next int) {
	rest := codes[i+1:]
	switch {
	case len(rest) >= 2 && rest[0] == 5:
		c, ok = numberedColour(rest[1])
		return c, ok, i + 3
	case len(rest) >= 4 && rest[0] == 2:
		c, ok = mixedColour(rest[1:])
		return c, ok, i + 5
	case len(rest) >= 1 && (rest[0] == 2 || rest[0] == 5):
		return 0, false, len(codes)
	}
	return 0, false, min(i+2, len(codes))
}

func numberedColour(n int32) (colour, bool) {
	return numbered | colour(n&0xff), n <= 0xff
}

func mixedColour(rgb []int32) (colour, bool) {
	r, g, b := rgb[0], rgb[1], rgb[2]
	return mixed | colour(r&0xff)<<16 | colour(g&0xff)<<8 | colour(b&0xff), max(r, g, b) <= 0xff
}

// setColour sets the colour that code names. That of the underline, 58, is read
// but not kept.
func (st *style) setColour(code int32, c colour, ok bool) {
	switch {
	case !ok:
	case code == 38:
		st.fore = c
	case code == 48:
		st.back = c
	}
}

// appendTo appends the sequence that sets exactly this style. Colours are
// written in the oldest form that has them, which every terminal reads.
func (st style) appendTo(b []byte) []byte {
	b = append(b, "\x1b[0"...)
	form := st.attrs & underline
	switch form {
	case 0:
	case doubleUnderline:
		b = append(b, ";21"...)
	default:
		b = append(b, ";4"...)
	}
	for _, a := range attributeCodes {
		if st.attrs&a.attr != 0 {
			b = append(b, ';')
			b = strconv.AppendInt(b, int64(a.code), 10)
		}
	}
	b = st.fore.appendTo(b, 30)
	b = st.back.appendTo(b, 40)
	b = append(b, 'm')
	if form > doubleUnderline {
		// A sequence of its own: terminals without the form drop it and keep the line.
		b = append(b, "\x1b[4:"...)
		b = append(b, '0'+byte(form), 'm')
	}
	return b
}

// appendTo appends the codes of a colour; base is 30 or 40.
func (c colour) appendTo(b []byte, base int64) []byte {
	number := func(n int64) {
		b = append(b, ';')
		b = strconv.AppendInt(b, n, 10)
	}
	value := int64(c &^ kinds)
	switch c & kinds {
	case named:
		if value >= 8 {
			value += 90 - 30 - 8
		}
		number(base + value)
	case numbered:
		number(base + 8)
		number(5)
		number(value)
	case mixed:
		number(base + 8)
		number(2)
		number(value >> 16)
		number(value >> 8 & 0xff)
		number(value & 0xff)
	}
	return b
}
