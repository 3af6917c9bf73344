package mcp

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 101)
	for text, want := range map[string][]string{
		"":                              nil,
		"a\n\nb\n":                      {"a", "", "b"},
		"a\nb":                          {"a", "b"},
		long[:100] + "\nb\n":            {long[:100], "b"},
		long + "\nb\n":                  {"!", "b"},
		long + long + "\n" + long + "b": {"!", "!"},
		long[:100]:                      {long[:100]},
		long + "\r\n\n":                 {"!", ""},
	} {
		r := lineReader{in: bufio.NewReaderSize(strings.NewReader(text), 16), max: 100}
		var got []string
		for {
			line, err := r.next()
			if errors.Is(err, errLineTooLong) {
				line = []byte("!")
			} else if err != nil {
				if err != io.EOF {
					t.Errorf("%.20q: %v", text, err)
				}
				break
			}
			got = append(got, string(line))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

// endless is a line of n bytes without an end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(e.n, len(p))
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func TestALongLineIsNotHeld(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := lineReader{in: bufio.NewReaderSize(&endless{64 << 20}, 4096), max: 1 << 10}
	if _, err := r.next(); !errors.Is(err, errLineTooLong) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d bytes for a line of 64 MiB", allocated)
	}
}

func TestAReadThatFailsEndsTheLines(t *testing.T) {
	broken := errors.New("broken")
	r := lineReader{in: bufio.NewReader(io.MultiReader(strings.NewReader("a\nhalf"), failing{broken})), max: 100}
	if line, err := r.next(); string(line) != "a" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if line, err := r.next(); line != nil || !errors.Is(err, broken) {
		t.Errorf("%q, %v", line, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
