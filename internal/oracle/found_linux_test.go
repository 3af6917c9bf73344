package oracle

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"openclaw/internal/policy"
)

// foundFile is where failing commands are kept, one JSON object a line.
const foundFile = "testdata/found.jsonl"

// finding is a command that failed once.
type finding struct {
	Command string `json:"command,omitempty"`
	Bytes   []byte `json:"bytes,omitempty"` // instead of Command when that is not UTF-8
	Case    string `json:"case,omitempty"`  // whose yard it failed in
	Why     string `json:"why,omitempty"`
	// Known says why it still fails: the test then only tells. It is written by hand.
	Known string `json:"known,omitempty"`
}

func readFound(t *testing.T) []finding {
	t.Helper()
	data, err := os.ReadFile(foundFile)
	must(t, err)
	var list []finding
	for line := range strings.Lines(string(data)) {
		var f finding
		must(t, json.Unmarshal([]byte(line), &f))
		if f.Bytes != nil {
			f.Command = string(f.Bytes)
		}
		list = append(list, f)
	}
	return list
}

// keep adds a failing command to those that are always tried.
func keep(t *testing.T, f finding) {
	for _, old := range readFound(t) {
		if old.Command == f.Command && old.Case == f.Case {
			return
		}
	}
	if !utf8.ValidString(f.Command) {
		f.Command, f.Bytes = "", []byte(f.Command)
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	must(t, enc.Encode(f))
	file, err := os.OpenFile(foundFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	_, err = file.Write(line.Bytes())
	must(t, err)
}

// TestFound: what failed once is tried for ever.
func TestFound(t *testing.T) {
	main := newYard(t)
	cases := readCases(t)
	yards := map[string]*yard{"": main}
	for _, y := range caseYards(t, main, cases) {
		yards[y.name] = y
	}
	for _, f := range readFound(t) {
		y := yards[f.Case]
		if y == nil {
			t.Errorf("%q: there is no case %s", f.Command, f.Case)
			continue
		}
		why := ""
		if d := y.judge(f.Command); d.Outcome == policy.OutcomeAllow {
			why, _ = y.fault(f.Command, d)
		}
		switch {
		case why != "" && f.Known == "":
			t.Errorf("%q: %s", f.Command, why)
		case why != "":
			t.Logf("known: %q: %s (%s)", f.Command, why, f.Known)
		case f.Known != "":
			t.Errorf("%q does not fail any more: take its mark off", f.Command)
		}
	}
}
