package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"openclaw/internal/protocol"
)

func newJournal(t *testing.T) *journal {
	t.Helper()
	j, err := openJournal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// ofID is the record of a session; its Op is empty when there is none.
func ofID(live map[string]record, id string) record {
	for _, r := range live {
		if r.ID == id {
			return r
		}
	}
	return record{}
}

// S-8: a torn last line takes nothing else with it.
func TestS8_TornLine(t *testing.T) {
	j := newJournal(t)
	j.put(record{Op: "start", ID: "a"}, record{Op: "start", ID: "b"})
	j.put(record{Op: "end", ID: "a", Status: protocol.StatusCompleted})
	data, err := os.ReadFile(j.path())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range data {
		path := filepath.Join(t.TempDir(), "torn.journal")
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		live := readJournal(path)
		if whole := strings.Count(string(data[:cut]), "\n"); len(live) < min(whole, 2) {
			t.Fatalf("cut at %d of %d: %d sessions of %d lines", cut, len(data), len(live), whole)
		}
	}
}

// S-8: a disk that took half a line does not spoil the next one.
func TestS8_AfterTornLine(t *testing.T) {
	j := newJournal(t)
	j.put(record{Op: "start", ID: "a"})
	if _, err := j.file.WriteString(`{"op":"start","id":"half`); err != nil {
		t.Fatal(err)
	}
	j.torn = true // what a short write leaves
	j.put(record{Op: "start", ID: "b"})
	if live := readJournal(j.path()); len(live) != 2 || ofID(live, "b").Op != "start" {
		t.Errorf("read %+v", live)
	}
	if j.torn {
		t.Error("still torn")
	}
}

// S-8: a rewrite keeps what counts, and the file stays small.
func TestS8_Rewrite(t *testing.T) {
	j := newJournal(t)
	text := strings.Repeat("x", 1000)
	j.put(record{Op: "start", ID: "kept", Command: "sleep", StartedMs: 1})
	code := 3
	j.put(record{Op: "end", ID: "kept", Status: protocol.StatusCompleted, ExitCode: &code, StartedMs: 1})
	for i := range 6000 {
		id := fmt.Sprint("run-", i)
		j.put(record{Op: "start", ID: id, Command: text})
		j.put(record{Op: "drop", ID: id, Told: true})
	}
	j.put(record{Op: "start", ID: "running", StartedMs: 2})
	info, err := os.Stat(j.path())
	if err != nil || info.Size() > rewriteAt+1<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, mode %v, %v", info.Size(), info.Mode(), err)
	}
	live := readJournal(j.path())
	if len(live) != 2 || ofID(live, "kept").ExitCode == nil || *ofID(live, "kept").ExitCode != 3 || ofID(live, "running").StartedMs != 2 {
		t.Errorf("read %+v", live)
	}
	if !reflect.DeepEqual(live, j.live) {
		t.Errorf("the file has %+v, memory %+v", live, j.live)
	}
}

// Records that count for much do not make every line a rewrite.
func TestS8_RewriteOfMuch(t *testing.T) {
	j := newJournal(t)
	text := strings.Repeat("x", 100_000)
	for i := range 60 { // 6 MB that stay
		j.put(record{Op: "start", ID: fmt.Sprint(i), Command: text})
	}
	before, err := j.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		j.put(record{Op: "drop", ID: fmt.Sprint("none-", i)})
	}
	after, err := j.file.Stat()
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("rewritten for %d bytes, %v", after.Size()-before.Size(), err)
	}
}

// An earlier session of the same name does not end a later one.
func TestS8_NameUsedAgain(t *testing.T) {
	live := map[string]record{}
	apply(live, record{Op: "start", ID: "a", StartedMs: 2})
	apply(live, record{Op: "end", ID: "a", StartedMs: 1, Status: protocol.StatusCompleted})
	apply(live, record{Op: "drop", ID: "a", StartedMs: 1})
	if r := ofID(live, "a"); r.Op == "" || r.Status != "" {
		t.Errorf("record %+v", r)
	}
}

// Reading a journal never fails, and what it yields can be written and read again.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"op":"start","id":"a","ref":{"Pid":1}}` + "\n" + `{"op":"end","id":"a","exitCode":1}` + "\n" + `{"op":"dr`))
	f.Add([]byte("\n\n{}\nnull\n[]\n{\"op\":\"drop\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.journal")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		live := readJournal(path)
		var again strings.Builder
		enc := json.NewEncoder(&again)
		for _, r := range live {
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(again.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readJournal(path); len(got) != len(live) {
			t.Fatalf("%d records, %d when read again", len(live), len(got))
		}
	})
}
