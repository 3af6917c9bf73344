package json5

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of JSON5 values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as an error text does: "an object", "a string".
func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "an array", "an object"}[k]
}

// Span is a half-open range of bytes in the source.
type Span struct{ Start, End int }

// Node is one value. Between the spans of keys, values and commas there is nothing but
// punctuation, white space and comments.
type Node struct {
	Kind       Kind
	Start, End int       // bytes of the value in the source
	Members    []*Member // of an object, in source order
	Elements   []*Node   // of an array
	Comma      int       // offset of the comma behind this value in its container; -1 = none

	text string // decoded string; source of a number, "true" or "false"
	doc  *document
}

// Member is one key of an object with its value.
type Member struct {
	Key              string // decoded
	KeyStart, KeyEnd int    // bytes of the key as written, quotes included
	Value            *Node
}

type document struct {
	src      []byte
	comments []Span
}

// Position gives line and column of a byte offset in the source of n, both from 1,
// columns in characters.
func (n *Node) Position(offset int) (line, column int) { return position(n.doc.src, offset) }

// Source gives the bytes of the value as written. They must not be changed.
func (n *Node) Source() []byte { return n.doc.src[n.Start:n.End] }

// Comments gives the spans of all comments of the document, delimiters included, in
// source order.
func (n *Node) Comments() []Span { return n.doc.comments }

// Text gives the decoded string; "" when n is no string.
func (n *Node) Text() string {
	if n.Kind != String {
		return ""
	}
	return n.text
}

// Bool gives the truth value; false when n is none.
func (n *Node) Bool() bool { return n.Kind == Bool && n.text == "true" }

// Get gives the member with this key; nil when there is none or n is no object.
func (n *Node) Get(key string) *Member {
	for _, m := range n.Members {
		if m.Key == key {
			return m
		}
	}
	return nil
}

// Lookup follows keys, and decimal indices in arrays, from n downwards; nil when
// nothing stands there.
func (n *Node) Lookup(path ...string) *Node {
	for _, step := range path {
		switch n.Kind {
		case Object:
			m := n.Get(step)
			if m == nil {
				return nil
			}
			n = m.Value
		case Array:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.Elements) {
				return nil
			}
			n = n.Elements[i]
		default:
			return nil
		}
	}
	return n
}

// Float gives a number's nearest float64; false when n is no number.
func (n *Node) Float() (float64, bool) {
	if n.Kind != Number {
		return 0, false
	}
	sign, digits := 1.0, n.text
	switch digits[0] {
	case '-':
		sign, digits = -1, digits[1:]
	case '+':
		digits = digits[1:]
	}
	switch {
	case digits == "Infinity":
		return sign * math.Inf(1), true
	case digits == "NaN":
		return math.NaN(), true
	case isHexNumber(digits):
		i, _ := new(big.Int).SetString(digits[2:], 16)
		f, _ := new(big.Float).SetInt(i).Float64()
		return sign * f, true
	}
	// The lexer has checked the form; what is left is overflow, which gives infinity.
	f, _ := strconv.ParseFloat(digits, 64)
	return sign * f, true
}

// Int gives a number exactly; false when n is no number, has a fraction or does not
// fit.
func (n *Node) Int() (int64, bool) {
	if n.Kind != Number {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i, true
	}
	if digits := strings.TrimLeft(n.text, "+-"); isHexNumber(digits) {
		i, _ := new(big.Int).SetString(digits[2:], 16)
		if n.text[0] == '-' {
			i.Neg(i)
		}
		if !i.IsInt64() {
			return 0, false
		}
		return i.Int64(), true
	}
	f, _ := n.Float()
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false // also NaN and infinities
	}
	return int64(f), true
}

func isHexNumber(digits string) bool {
	return len(digits) > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')
}

// Value gives the plain Go value: map[string]any, []any, string, bool, nil, and for a
// number json.Number in JSON's own spelling, so that nothing is lost; NaN and the
// infinities, which JSON cannot spell, come as float64.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Bool()
	case String:
		return n.text
	case Number:
		return n.number()
	case Array:
		list := make([]any, len(n.Elements))
		for i, e := range n.Elements {
			list[i] = e.Value()
		}
		return list
	case Object:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Key] = m.Value.Value()
		}
		return object
	}
	return nil
}

func (n *Node) number() any {
	digits := strings.TrimLeft(n.text, "+-")
	sign := ""
	if n.text[0] == '-' {
		sign = "-"
	}
	switch {
	case digits == "Infinity" || digits == "NaN":
		f, _ := n.Float()
		return f
	case isHexNumber(digits):
		i, _ := new(big.Int).SetString(digits[2:], 16)
		return json.Number(sign + i.String())
	}
	// ".5" and "5." (also "5.e3") are the only decimal forms that JSON does not have.
	if digits[0] == '.' {
		digits = "0" + digits
	}
	if i := strings.IndexByte(digits, '.'); i >= 0 && (i+1 == len(digits) || !isDigit(rune(digits[i+1]))) {
		digits = digits[:i] + digits[i+1:]
	}
	return json.Number(sign + digits)
}
