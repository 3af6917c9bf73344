package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// settle gives what is written late the time it may take, forgets the sessions and looks
// at what is held then.
func (s *soak) settle(d *daemon) {
	time.Sleep(2 * time.Second)
	for _, one := range s.found {
		if res := s.must(one.token, "process", map[string]any{"action": "clear", "sessionId": one.id}); res["error"] != nil {
			s.fault("%v: clear: %v", one.spec, res["error"])
		}
	}
	for range 50 { // connections end a little later
		if s.after = s.holds(d); s.after.within(s.before) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *soak) check() {
	t := s.t
	for _, f := range s.faults {
		t.Error(f)
	}
	records := s.records()
	told := 0
	for id, one := range s.found {
		n := s.events[id]
		told += n
		if n > 1 || n == 0 && !one.polled {
			t.Errorf("%v (%s, answer to its start lost: %t): its end was told %d times, events.jsonl has %d", one.spec, id, one.cut, n, s.kept(id))
		}
		if records[id] != 1 {
			t.Errorf("%v (%s): %d records", one.spec, id, records[id])
		}
	}
	for id := range records {
		if s.found[id] == nil {
			t.Errorf("%s ran and was never found", id)
		}
	}
	if !s.after.within(s.before) {
		t.Errorf("held at first %+v, at the end %+v", s.before, s.after)
	}
	if left := processesWith(s.tag); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	t.Logf("%d sessions, %d kills (%d before it was ready), %d MB of output, %d pages asked for again, %d ends told, %d events torn, %d records",
		len(s.found), s.killed.Load(), s.early.Load(), s.bytes.Load()>>20, s.offsets.Load(), told, s.torn.Load(), len(records))
	t.Logf("pollers missed %d bytes, got %d twice, %d answers fit nowhere; at first %+v, at the end %+v; supervisor: %d KB",
		s.missed.Load(), s.twice.Load(), s.unclear.Load(), s.before, s.after, rssOf(s.supervisors()))
}

// kept counts the events of a session's end in the history.
func (s *soak) kept(id string) int {
	data, _ := os.ReadFile(filepath.Join(s.state, "exec", "events.jsonl"))
	return strings.Count(string(data), fmt.Sprintf(`"sessionId":%q`, id))
}

// records counts the records of this run's sessions, by session id.
func (s *soak) records() map[string]int {
	out := map[string]int{}
	for _, name := range []string{"runs.jsonl.1", "runs.jsonl"} {
		data, _ := os.ReadFile(filepath.Join(s.state, "exec", name))
		for line := range strings.Lines(string(data)) {
			var r struct{ SessionID, Command string }
			if json.Unmarshal([]byte(line), &r) == nil && strings.Contains(r.Command, s.tag) {
				out[r.SessionID]++
			}
		}
	}
	return out
}

func zombiesOf(parent int) []string {
	var out []string
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(data[strings.LastIndex(string(data), ")")+1:]))
		if len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(parent) {
			out = append(out, path)
		}
	}
	return out
}

func rssOf(pids []int) int {
	kb := 0
	for _, pid := range pids {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
				kb += n
			}
		}
	}
	return kb
}
