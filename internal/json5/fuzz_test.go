package json5

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// FuzzParse checks that no input crashes the parser, that errors point into the
// source, that spans nest with only punctuation, space and comments between them, and
// that everything encoding/json accepts has the same value here.
func FuzzParse(f *testing.F) {
	for _, tt := range accepted {
		f.Add([]byte(tt.src))
	}
	for _, tt := range refused {
		f.Add([]byte(tt.src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, err := Parse(src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(src) || e.Line < 1 || e.Column < 1 || e.Expected == "" || e.Found == "" {
				t.Fatalf("bad error: %#v", err)
			}
			return
		}
		checkSpans(t, src, root, 0, len(src))
		if got, want := root.Value(), root.Value(); !sameJSON(got, want) {
			t.Fatal("Value differs between two calls")
		}
		again, err := Parse(root.Source())
		if err != nil {
			t.Fatalf("the root's own source does not parse: %v", err)
		}
		if !sameJSON(again.Value(), root.Value()) {
			t.Fatal("the root's own source has another value")
		}
		checkAgainstJSON(t, src, root)
	})
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return (errX != nil) == (errY != nil) && string(x) == string(y)
}

func checkAgainstJSON(t *testing.T, src []byte, root *Node) {
	decoder := json.NewDecoder(strings.NewReader(string(src)))
	decoder.UseNumber()
	var plain any
	// json.Valid alone is not enough: it also accepts trailing data through Decoder.
	if !json.Valid(src) || decoder.Decode(&plain) != nil {
		return
	}
	if !sameJSON(plain, root.Value()) {
		t.Fatalf("encoding/json reads %v, we read %v", plain, root.Value())
	}
}

// checkSpans checks that n lies in [from, to) and its children inside n, in order.
func checkSpans(t *testing.T, src []byte, n *Node, from, to int) {
	if n.Start < from || n.End > to || n.Start >= n.End {
		t.Fatalf("span %d..%d outside %d..%d", n.Start, n.End, from, to)
	}
	at := n.Start + 1
	comma := func(c int) {
		if c == -1 {
			return
		}
		if c < at || src[c] != ',' {
			t.Fatalf("no comma at %d", c)
		}
		at = c + 1
	}
	for _, e := range n.Elements {
		checkSpans(t, src, e, at, n.End-1)
		at = e.End
		comma(e.Comma)
	}
	for _, m := range n.Members {
		if m.KeyStart < at || m.KeyEnd <= m.KeyStart {
			t.Fatalf("key span %d..%d", m.KeyStart, m.KeyEnd)
		}
		checkSpans(t, src, m.Value, m.KeyEnd+1, n.End-1)
		at = m.Value.End
		comma(m.Value.Comma)
	}
}
