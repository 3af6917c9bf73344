package protocol

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is one line of a recording of real programs talking.
type recorded struct {
	Dir, Conn string
	Frame     json.RawMessage
}

// TestRecordedFrames: every request that real clients were seen to send is read, and
// refused only where the real gateway refused it as malformed.
func TestRecordedFrames(t *testing.T) {
	files, err := filepath.Glob("testdata/frames/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	requests, connects := 0, 0
	for _, file := range files {
		lines := readRecording(t, file)
		for i, line := range lines {
			if line.Dir != "c2s" || len(line.Frame) == 0 {
				continue
			}
			var kind struct{ Type string }
			if json.Unmarshal(line.Frame, &kind) != nil || kind.Type != "req" {
				continue
			}
			var req RequestFrame
			err := Closed(line.Frame, &req)
			if err == nil {
				err = req.Check()
			}
			answer := answerTo(lines[i:], line.Conn, req.ID)
			if malformed := strings.HasPrefix(answer, "invalid request frame"); (err != nil) != malformed && answer != "" {
				t.Errorf("%s:%d: %v, the real gateway said %q", file, i+1, err, answer)
			}
			requests++
			if err != nil || req.Method != "connect" {
				continue
			}
			connects++
			var p ConnectParams
			if err = Closed(req.Params, &p); err == nil {
				err = p.Check()
			}
			if malformed := strings.HasPrefix(answer, "invalid connect params"); (err != nil) != malformed {
				t.Errorf("%s:%d: %v, the real gateway said %q", file, i+1, err, answer)
			} else if err != nil && answer != "invalid connect params: "+err.Error() {
				t.Errorf("%s:%d: we say %q, the real gateway %q", file, i+1, err, answer)
			}
		}
	}
	if requests < 100 || connects < 50 {
		t.Errorf("only %d requests, %d connects were recorded", requests, connects)
	}
	t.Logf("%d requests, %d connects", requests, connects)
}

func readRecording(t *testing.T, file string) []recorded {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, r)
	}
	return out
}

// answerTo is the message of the error that a request got, "" = none.
func answerTo(lines []recorded, conn, id string) string {
	for _, line := range lines {
		var res struct {
			Type, ID string
			Error    struct{ Message string }
		}
		if line.Dir == "s2c" && line.Conn == conn && json.Unmarshal(line.Frame, &res) == nil && res.Type == "res" && (res.ID == id || res.ID == "invalid") {
			return res.Error.Message
		}
	}
	return ""
}
