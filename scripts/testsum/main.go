// Command testsum reads the output of go test -json and prints what a person needs: a
// line a package, the whole output of each test that failed, each skipped test with
// its reason, and last, alone on its line, "N passed, N failed, N skipped". It starts
// nothing. Its exit code is 1 when a test failed or none ran.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() { os.Exit(run(os.Stdin, os.Stdout)) }

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64
	ImportPath  string // of build output
	FailedBuild string // the package whose build failed
}

// name identifies a test, or with Test = "" a package's own output.
type name struct{ pkg, test string }

// summary is what has been read so far.
type summary struct {
	out    io.Writer
	output map[name]*strings.Builder // of what has not ended yet
	builds map[string]*strings.Builder
	failed map[string]int // failed tests of a package
	skips  []string

	passCount, failCount int
}

// run reads until the end of in and returns the exit code.
func run(in io.Reader, out io.Writer) int {
	s := &summary{
		out:    out,
		output: map[name]*strings.Builder{},
		builds: map[string]*strings.Builder{},
		failed: map[string]int{},
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n') // a test's line may be of any length
		if len(line) > 0 {
			s.line(line)
		}
		if err != nil {
			break
		}
	}
	return s.finish()
}

// line takes one line of input. What is no event is shown as it is.
func (s *summary) line(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(s.out, "%s\n", bytes.TrimRight(line, "\n"))
		return
	}
	switch e.Action {
	case "run":
		s.buffer(name{e.Package, e.Test})
	case "output":
		s.buffer(name{e.Package, e.Test}).WriteString(e.Output)
	case "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e)
		}
	}
}

// buffer returns where a test's output is kept, making it.
func (s *summary) buffer(n name) *strings.Builder {
	if s.output[n] == nil {
		s.output[n] = &strings.Builder{}
	}
	return s.output[n]
}

// endTest counts one test and shows it if it failed.
func (s *summary) endTest(e event) {
	n := name{e.Package, e.Test}
	text := s.buffer(n).String()
	delete(s.output, n)
	switch e.Action {
	case "pass":
		s.passCount++
	case "skip":
		s.skips = append(s.skips, fmt.Sprintf("skipped: %s %s: %s", e.Package, e.Test, reason(text)))
	case "fail":
		s.fail(n, text)
	}
}

// endPackage shows the package's line. A test that never ended took the process with it.
func (s *summary) endPackage(e event) {
	for _, n := range s.unended(e.Package) {
		text := s.output[n].String()
		delete(s.output, n)
		s.fail(n, text+"(the test did not end)\n")
	}
	own := name{pkg: e.Package}
	text := s.buffer(own).String()
	delete(s.output, own)
	switch {
	case e.Action == "skip": // no test files
	case e.Action == "pass":
		fmt.Fprintf(s.out, "ok    %s (%.1fs)\n", e.Package, e.Elapsed)
	default:
		if b := s.builds[e.FailedBuild]; e.FailedBuild != "" && b != nil {
			text = b.String() + text
		}
		if s.failed[e.Package] == 0 {
			s.failCount++ // it did not build, or ended outside of a test
		}
		fmt.Fprintf(s.out, "FAIL  %s (%.1fs)\n%s", e.Package, e.Elapsed, text)
	}
}

// unended lists the tests of a package that began and did not end.
func (s *summary) unended(pkg string) []name {
	var list []name
	for n := range s.output {
		if n.pkg == pkg && n.test != "" {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b name) int { return strings.Compare(a.test, b.test) })
	return list
}

// fail counts and shows one failed test.
func (s *summary) fail(n name, text string) {
	s.failCount++
	s.failed[n.pkg]++
	fmt.Fprintf(s.out, "FAIL  %s %s\n%s", n.pkg, n.test, text)
}

// finish shows what ended in the middle, the skipped tests and the count.
func (s *summary) finish() int {
	for n := range s.output {
		if n.test == "" { // its tests come along
			s.endPackage(event{Action: "fail", Package: n.pkg})
		}
	}
	slices.Sort(s.skips)
	for _, skip := range s.skips {
		fmt.Fprintln(s.out, skip)
	}
	if s.passCount+s.failCount == 0 {
		fmt.Fprintln(s.out, "no test ran")
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passCount, s.failCount, len(s.skips))
	if s.failCount > 0 || s.passCount == 0 {
		return 1
	}
	return 0
}

// position is what t.Log puts before a line.
var position = regexp.MustCompile(`^\S+\.go:\d+: `)

// reason is the last line of a skipped test that the test itself wrote.
func reason(output string) string {
	last := "no reason given"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			last = position.ReplaceAllString(line, "")
		}
	}
	return last
}
