package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"openclaw/internal/protocol"
)

// args reads the arguments of a call: one JSON object, strictly. An unknown name, a
// name given twice, a wrong type or an absurd number is an error that names the
// parameter, and nothing runs. A null counts as not given.
type args struct {
	tool   string
	fields map[string]json.RawMessage
	known  map[string]bool
	err    error // the first fault
}

func readArgs(tool string, raw json.RawMessage) *args {
	a := &args{tool: tool, fields: map[string]json.RawMessage{}, known: map[string]bool{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return a
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		a.fail("arguments of %s must be a JSON object", tool)
		return a
	}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			a.fail("arguments of %s are not valid JSON", tool)
			return a
		}
		if _, twice := a.fields[name]; twice {
			a.fail("parameter %q is given twice", name)
			return a
		}
		a.fields[name] = v
	}
	if _, err := dec.Token(); err != nil {
		a.fail("arguments of %s are not valid JSON", tool)
	} else if _, err := dec.Token(); err != io.EOF {
		a.fail("arguments of %s are followed by more text", tool)
	}
	return a
}

func (a *args) fail(format string, v ...any) {
	if a.err == nil {
		a.err = invalid(format, v...)
	}
}

func invalid(format string, v ...any) *protocol.Error {
	return &protocol.Error{Type: protocol.ErrInvalid, Message: fmt.Sprintf(format, v...)}
}

// get returns a field that is given and marks the name as known.
func (a *args) get(name string) (json.RawMessage, bool) {
	a.known[name] = true
	v, ok := a.fields[name]
	if !ok || string(bytes.TrimSpace(v)) == "null" {
		return nil, false
	}
	return v, true
}

func (a *args) decode(name, want string, dst any) bool {
	v, ok := a.get(name)
	if !ok {
		return false
	}
	if json.Unmarshal(v, dst) != nil {
		a.fail("parameter %q must be %s, not %s", name, want, shorten(v))
		return false
	}
	return true
}

func shorten(v json.RawMessage) string {
	s := strings.TrimSpace(string(v))
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:37], "") + "..."
	}
	return s
}

func (a *args) text(name string) (s string) {
	a.decode(name, "a string", &s)
	return s
}

func (a *args) flag(name string) (b bool) {
	a.decode(name, "true or false", &b)
	return b
}

// list reads an array of strings.
func (a *args) list(name string) (l []string) {
	a.decode(name, "an array of strings", &l)
	return l
}

// word reads one of a few words; "" when not given.
func (a *args) word(name string, words ...string) string {
	s := a.text(name)
	if s == "" {
		if _, given := a.get(name); given {
			a.fail("parameter %q must be one of %s, not \"\"", name, strings.Join(words, ", "))
		}
		return ""
	}
	for _, w := range words {
		if s == w {
			return s
		}
	}
	a.fail("parameter %q must be one of %s, not %q", name, strings.Join(words, ", "), clip(s))
	return ""
}

// number reads a number from 0 to most. Given reports whether it stands there.
func (a *args) number(name, unit string, most float64) (n float64, given bool) {
	if !a.decode(name, "a number of "+unit, &n) {
		return 0, false
	}
	if math.IsNaN(n) || n < 0 || n > most {
		a.fail("parameter %q must be from 0 to %.0f %s, not %v", name, most, unit, n)
		return 0, false
	}
	return n, true
}

// whole reads a whole number from least to most.
func (a *args) whole(name string, least, most int64) (n int64, given bool) {
	if !a.decode(name, "a whole number", &n) {
		return 0, false
	}
	if n < least || n > most {
		a.fail("parameter %q must be from %d to %d, not %d", name, least, most, n)
		return 0, false
	}
	return n, true
}

// size reads a terminal's size in cells; 0 when not given.
func (a *args) size() (cols, rows int) {
	c, _ := a.whole("cols", 1, 1000)
	r, _ := a.whole("rows", 1, 1000)
	return int(c), int(r)
}

func (a *args) stringMap(name string) (m map[string]string) {
	v, ok := a.get(name)
	if !ok {
		return nil
	}
	var loose map[string]json.RawMessage
	if json.Unmarshal(v, &loose) != nil {
		a.fail("parameter %q must be an object of strings, not %s", name, shorten(v))
		return nil
	}
	m = make(map[string]string, len(loose))
	for k, raw := range loose {
		var s *string
		if json.Unmarshal(raw, &s) != nil || s == nil {
			a.fail("parameter %q: the value of %q must be a string, not %s", name, clip(k), shorten(raw))
			return nil
		}
		m[k] = *s
	}
	return m
}

// done returns the first fault; a name that nothing asked for is one.
func (a *args) done() error {
	if a.err != nil {
		return a.err
	}
	var unknown []string
	for name := range a.fields {
		if !a.known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	known := make([]string, 0, len(a.known))
	for name := range a.known {
		known = append(known, name)
	}
	sort.Strings(known)
	return &protocol.Error{
		Type:    protocol.ErrInvalid,
		Message: fmt.Sprintf("unknown parameter %q of %s", clip(unknown[0]), a.tool),
		Hint:    "known parameters: " + strings.Join(known, ", "),
	}
}

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:57], "") + "..."
	}
	return s
}
