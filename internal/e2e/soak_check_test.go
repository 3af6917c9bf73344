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

// settle gives what is written late the time it may take.
func (s *soak) settle() {
	time.Sleep(2 * time.Second)
	s.peers = len(s.supervisors())
	for _, pid := range s.supervisors() {
		entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		s.descriptors += len(entries)
	}
}

func (s *soak) check() {
	t := s.t
	for _, f := range s.faults {
		t.Error(f)
	}
	records := map[string]int{}
	for _, name := range []string{"runs.jsonl.1", "runs.jsonl"} {
		data, _ := os.ReadFile(filepath.Join(s.state, "exec", name))
		for line := range strings.Lines(string(data)) {
			var r struct{ SessionID string }
			if json.Unmarshal([]byte(line), &r) == nil {
				records[r.SessionID]++
			}
		}
	}
	told := 0
	for id, one := range s.found {
		n := s.events[id]
		told += n
		if n > 1 || n == 0 && !one.polled {
			t.Errorf("%v (%s): its end was told %d times", one.spec, id, n)
		}
		if records[id] != 1 {
			t.Errorf("%v (%s): %d records", one.spec, id, records[id])
		}
	}
	if s.peers != 1 {
		t.Errorf("%d supervisors", s.peers)
	}
	if s.descriptors > 100 {
		t.Errorf("the supervisor has %d descriptors open", s.descriptors)
	}
	if left := processesWith(s.tag); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	zombies := 0
	for _, pid := range s.supervisors() {
		zombies += len(zombiesOf(pid))
	}
	if zombies > 0 {
		t.Errorf("%d zombies", zombies)
	}
	t.Logf("%d sessions, %d kills, %d MB of output, %d ends told, %d records, %d bytes that pollers missed or got twice; supervisor: %d descriptors, %d KB",
		len(s.found), s.killed.Load(), s.bytes.Load()>>20, told, len(records), s.polledTwice.Load(), s.descriptors, rssOf(s.supervisors()))
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
