package shell

import "unicode/utf8"

// ansiC decodes the inside of $'...' as bash does. Each byte of the value gets the offset
// of its first source byte, counted from the start of raw. why is set for what bash
// versions and locales read differently, and for values that no argument can hold.
func ansiC(raw string) (value []byte, offsets []int32, why string) {
	put := func(at int, bytes ...byte) {
		for _, b := range bytes {
			value, offsets = append(value, b), append(offsets, int32(at))
		}
	}
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			put(i, raw[i])
			i++
			continue
		}
		at, c := i, raw[i+1]
		i += 2
		if b := simpleEscape(c); b != 0 {
			put(at, b)
			continue
		}
		switch {
		case c >= '0' && c <= '7':
			n, next := digits(raw, i-1, 3, 8)
			put(at, byte(n))
			i = next
		case c == 'x':
			n, next := digits(raw, i, 2, 16)
			if next == i { // \x{..} too, which bash reads in its own way
				return nil, nil, "has an escape \\x without two hexadecimal digits"
			}
			put(at, byte(n))
			i = next
		case c == 'u' || c == 'U':
			most := 4
			if c == 'U' {
				most = 8
			}
			n, next := digits(raw, i, most, 16)
			if next == i || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
				return nil, nil, "has an escape that is no character"
			}
			put(at, utf8.AppendRune(nil, rune(n))...)
			i = next
		case c == 'c':
			return nil, nil, "has a control escape (\\c)"
		default:
			put(at, '\\', c)
		}
	}
	for _, b := range value {
		if b == 0 {
			return nil, nil, "has a NUL byte"
		}
	}
	if !utf8.Valid(value) {
		return nil, nil, "is not valid UTF-8"
	}
	return value, offsets, ""
}

func simpleEscape(c byte) byte {
	switch c {
	case 'a':
		return 7
	case 'b':
		return 8
	case 'e', 'E':
		return 27
	case 'f':
		return 12
	case 'n':
		return 10
	case 'r':
		return 13
	case 't':
		return 9
	case 'v':
		return 11
	case '\\', '\'', '"', '?':
		return c
	}
	return 0
}

// digits reads up to most digits of the base from raw[at:].
func digits(raw string, at, most, base int) (n, next int) {
	for next = at; next < len(raw) && next < at+most; next++ {
		d := int(hexValue(raw[next]))
		if d >= base {
			break
		}
		n = n*base + d
	}
	return n, next
}

func hexValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 99
}
