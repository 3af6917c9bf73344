package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, ppid, pgrp, sid int
	state                byte
	start                uint64 // clock ticks since boot
	comm                 string
}

func (s stat) zombie() bool { return s.state == 'Z' || s.state == 'X' }

// ticksPerSecond is USER_HZ, which is 100 on every Linux architecture that Go supports.
const ticksPerSecond = 100

func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(pid, data)
}

// parseStat reads the line; the name in parentheses may itself hold parentheses and
// spaces.
func parseStat(pid int, data []byte) (stat, bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 20 {
		return stat{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return stat{}, false
	}
	return stat{
		pid: pid, state: f[0][0], ppid: num(1), pgrp: num(2), sid: num(3),
		start: start, comm: string(data[open+1 : end]),
	}, true
}

// table is one look at all processes, without zombies and without this process.
type table map[int]stat

func readTable() table {
	t := table{}
	dir, err := os.Open("/proc")
	if err != nil {
		return t
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	self := os.Getpid()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		if st, ok := readStat(pid); ok && !st.zombie() {
			t[pid] = st
		}
	}
	return t
}

// target is whose tree is looked for. Pinned says that the pid still is that process
// (it has not been reaped), so that group and session ids can be trusted.
type target struct {
	ref    Ref
	pinned bool
}

// tree returns the target, its descendants, the members of its group and session, and
// the carriers of its marker.
func (t table) tree(want target) map[int]stat {
	return t.close(func(st stat) bool {
		if want.pinned && (st.pid == want.ref.Pid || st.pgrp == want.ref.Pid || st.sid == want.ref.Pid) {
			return true
		}
		return want.ref.Marker != "" && hasMarker(st.pid, want.ref.Marker)
	})
}

// trees is tree for processes of a program that has died: a pid counts only with the
// right time of start in the same boot.
func (t table) trees(refs []Ref) map[int]stat {
	boot := bootID()
	markers := map[string]bool{}
	pids := map[int]Ref{}
	for _, r := range refs {
		if r.BootID != boot {
			continue
		}
		if r.Marker != "" {
			markers[r.Marker] = true
		}
		pids[r.Pid] = r
	}
	return t.close(func(st stat) bool {
		if r, ok := pids[st.pid]; ok && startedWithin(st, r) {
			return true
		}
		return len(markers) > 0 && markers[markerOf(st.pid)]
	})
}

// close returns the processes for which root is true and all their descendants.
func (t table) close(root func(stat) bool) map[int]stat {
	children := map[int][]int{}
	for pid, st := range t {
		children[st.ppid] = append(children[st.ppid], pid)
	}
	out := map[int]stat{}
	var add func(pid int)
	add = func(pid int) {
		if _, ok := out[pid]; ok {
			return
		}
		out[pid] = t[pid]
		for _, c := range children[pid] {
			add(c)
		}
	}
	for pid, st := range t {
		if _, ok := out[pid]; !ok && root(st) {
			add(pid)
		}
	}
	return out
}

func startedWithin(st stat, r Ref) bool {
	tick := time.Second / ticksPerSecond
	return st.start >= uint64(r.Before/tick) && st.start <= uint64(r.After/tick)+1
}

// markerOf returns the marker in the environment a process was started with; "" when
// there is none or it cannot be read (another user's process).
func markerOf(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	key := []byte(MarkerEnv + "=")
	for len(data) > 0 {
		entry, rest, _ := bytes.Cut(data, []byte{0})
		if v, ok := bytes.CutPrefix(entry, key); ok {
			return string(v)
		}
		data = rest
	}
	return ""
}

func hasMarker(pid int, marker string) bool { return marker != "" && markerOf(pid) == marker }

// describe names a process for people: its command line, at most 80 bytes.
func describe(pid int, st stat) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	line := strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(string(data), "\x00", " "), "?"))
	if err != nil || line == "" {
		return st.comm
	}
	if len(line) > 80 {
		line = strings.ToValidUTF8(line[:77], "") + "..."
	}
	return line
}

// bootID names this boot of the machine; pids and start times mean something only
// within one.
func bootID() string { return boot() }
