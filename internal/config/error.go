package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"openclaw/internal/json5"
)

// Error is one thing that is wrong in the configuration file (C-1).
type Error struct {
	File    string
	Line    int    // from 1
	Column  int    // from 1, in characters
	KeyPath string // e.g. "agents.list[0].tools.exec.node"; "" = the file as a whole
	Message string // what was expected; never holds a secret
	Nearest string // for an unknown key the nearest known one; "" = none is near
}

// Error gives the place, what was expected and the nearest known key.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.KeyPath != "" {
		text.WriteString(e.KeyPath + ": ")
	}
	text.WriteString(e.Message)
	if e.Nearest != "" {
		text.WriteString("; did you mean " + e.Nearest + "?")
	}
	return text.String()
}

// Errors is everything wrong in a file, in the order of the file. Load gives it for
// any fault in the file's content, also for a single one.
type Errors []*Error

// Error gives one line per fault.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first *Error.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

func sortErrors(list []*Error) {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

func syntaxError(file string, err error) error {
	var syntax *json5.Error
	if !errors.As(err, &syntax) {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return Errors{{
		File: file, Line: syntax.Line, Column: syntax.Column,
		KeyPath: syntax.Path, Message: syntaxMessage(syntax),
	}}
}

// nearest finds the known word that name most probably was meant to be; "" when none
// is near. Case does not count as a difference.
func nearest(name string, known []string) string {
	const longest = 64 // no known word is longer; bounds the work on hostile keys
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, word := range known {
		if d := distance(name, strings.ToLower(word)); d < bestDistance {
			best, bestDistance = word, d
		}
	}
	// A short word would be near everything.
	if bestDistance >= len(name) {
		return ""
	}
	return best
}

// distance is the number of bytes to insert, delete or replace, and of neighbours to
// swap, to make a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
