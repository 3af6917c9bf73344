package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"openclaw/internal/json5"
)

// This file holds the readers for single types. Each takes the place to write to.

// keep hands the value itself on, for sections that must be read in a certain order.
func keep(dst *value) reader { return func(v value) { *dst = v } }

func flag(dst *bool) reader {
	return func(v value) {
		if v.is(json5.Bool, "true or false") {
			*dst = v.node.Bool()
		}
	}
}

func text(dst *string) reader {
	return func(v value) {
		if got, ok := v.str("a string"); ok {
			*dst = got
		}
	}
}

// filled is text that may not be empty.
func filled(dst *string) reader {
	return func(v value) {
		if got, ok := v.str("a string"); ok {
			if strings.TrimSpace(got) == "" {
				v.fail("expected a string that is not empty")
			}
			*dst = got
		}
	}
}

// word is one of a few strings.
func word(dst *string, words ...string) reader {
	return func(v value) {
		got, ok := v.str("one of " + strings.Join(words, ", "))
		if !ok {
			return
		}
		if !slices.Contains(words, got) {
			near := nearest(got, words)
			v.failAt(v.node.Start, fmt.Sprintf("expected one of %s, found %q", strings.Join(words, ", "), clip(got)), near)
			return
		}
		*dst = got
	}
}

// whole is a whole number from lowest to highest.
func whole[T int | int64](dst *T, lowest, highest T) reader {
	return func(v value) {
		expected := fmt.Sprintf("a whole number from %d to %d", lowest, highest)
		if !v.is(json5.Number, expected) {
			return
		}
		got, ok := v.node.Int()
		if !ok || got < int64(lowest) || got > int64(highest) {
			v.fail(fmt.Sprintf("expected %s, found %s", expected, clip(string(v.node.Source()))))
			return
		}
		*dst = T(got)
	}
}

// clamped is a whole number that is moved into its bounds, with a warning.
func clamped(dst *int, lowest, highest int) reader {
	return func(v value) {
		const widest = 1 << 53
		got := 0
		before := len(v.l.errors)
		whole(&got, -widest, widest)(v)
		if len(v.l.errors) > before || v.node.Kind != json5.Number {
			return
		}
		*dst = min(max(got, lowest), highest)
		if *dst != got {
			v.warn(fmt.Sprintf("%d is outside %d to %d; %d is used", got, lowest, highest, *dst))
		}
	}
}

// list is an array of strings. An empty array gives an empty slice, not nil.
func list(dst *[]string) reader {
	return func(v value) {
		got := []string{}
		v.items("an array of strings", func(item value) {
			if s, ok := item.str("a string"); ok {
				got = append(got, s)
			}
		})
		*dst = got
	}
}

// ids is an array of strings or whole numbers: chat networks use both.
func ids(dst *[]string) reader {
	return func(v value) {
		got := []string{}
		v.items("an array of strings", func(item value) {
			var s string
			id(&s)(item)
			got = append(got, s)
		})
		*dst = got
	}
}

func id(dst *string) reader {
	return func(v value) {
		if i, ok := v.node.Int(); ok {
			*dst = fmt.Sprint(i)
			return
		}
		text(dst)(v)
	}
}

// texts is an object of strings.
func texts(dst *map[string]string) reader {
	return func(v value) {
		got := map[string]string{}
		v.each(func(name string, item value) {
			var s string
			text(&s)(item)
			got[name] = s
		})
		*dst = got
	}
}

// folder is an absolute path; "~" is the home folder.
func folder(dst *string) reader {
	return func(v value) {
		if got, ok := v.str("a path"); ok {
			if got, ok = v.absolute(got); ok {
				*dst = got
			} else {
				v.fail("expected an absolute path, or one that begins with ~/")
			}
		}
	}
}

// folders is an array of paths. One that is not absolute would mean another folder in
// every working directory: it is left out, with a warning (X-11, P-51).
func folders(dst *[]string) reader {
	return func(v value) {
		got := []string{}
		v.items("an array of paths", func(item value) {
			s, ok := item.str("a path")
			if !ok {
				return
			}
			if s, ok = item.absolute(s); !ok {
				item.warn("not an absolute path; left out")
				return
			}
			got = append(got, s)
		})
		*dst = got
	}
}

func (v value) absolute(path string) (string, bool) {
	if isTilde(path) && v.l.home == "" {
		v.fail("expected an absolute path: no home folder is known for ~; set HOME")
		return "", true
	}
	path = expand(path, v.l.home)
	if !filepath.IsAbs(path) {
		return "", false
	}
	return filepath.Clean(path), true
}

// clip keeps foreign text in messages short.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// amount is a number or a string such as "1g"; it is kept as text.
func amount(dst *string) reader {
	return func(v value) {
		if f, ok := v.node.Float(); ok && f >= 0 && !math.IsInf(f, 0) {
			*dst = strconv.FormatFloat(f, 'f', -1, 64)
			return
		}
		filled(dst)(v)
	}
}

// lines is a string, or an array of strings that are its lines.
func lines(dst *string) reader {
	return func(v value) {
		if v.kind() != json5.Array {
			text(dst)(v)
			return
		}
		var got []string
		list(&got)(v)
		*dst = strings.Join(got, "\n")
	}
}
