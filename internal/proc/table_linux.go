package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, ppid, pgrp, sid int
	state                byte
	threads              int
	start                uint64 // clock ticks since boot
	comm                 string
}

// zombie reports whether nothing of the process runs any more. A process of which only
// the first thread has ended also shows as Z, with more than one thread.
func (s stat) zombie() bool { return s.state == 'X' || s.state == 'Z' && s.threads <= 1 }

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
		threads: num(17), start: start, comm: string(data[open+1 : end]),
	}, true
}

// table is one look at all processes, without zombies and without this process. It is
// not changed once it is made.
type table struct {
	procs    map[int]stat
	children map[int][]int
}

// looks shares a look at /proc among all that ask for one before it begins: a thousand
// sessions that are ended at once then cost a few looks and not thousands.
type looks struct {
	waiting atomic.Int64

	mu    sync.Mutex // guards the rest; held while looking
	begun time.Time
	last  table
}

// table returns a look that began after the call.
func (l *looks) table() table {
	l.waiting.Add(1)
	asked := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun.After(asked) {
		l.begun = time.Now()
		l.last = readTable()
	}
	t := l.last
	if l.waiting.Add(-1) == 0 {
		l.begun, l.last = time.Time{}, table{}
	}
	return t
}

func readTable() table {
	t := table{procs: map[int]stat{}, children: map[int][]int{}}
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
			t.procs[pid] = st
			t.children[st.ppid] = append(t.children[st.ppid], pid)
		}
	}
	return t
}

// target is whose tree is looked for. Pinned says that the pid still is that process
// (it has not been reaped), so that group and session ids can be trusted.
//
// Others are processes that this program has started beside it. What is below them is
// theirs: an orphan comes to us, never to one of them. So only orphans have to be asked
// for their marker, and not every process of every session.
type target struct {
	ref    Ref
	pinned bool
	others map[int]bool

	members map[int]bool    // of its cgroup
	claims  func(stat) bool // of an orphan: can only be its
}

// tree returns the target, its descendants, the members of its group and session, and
// the carriers of its marker. All of them are below this process, a subreaper.
func (t table) tree(want target) map[int]stat {
	out := map[int]stat{}
	t.walk(os.Getpid(), func(st stat) (below bool) {
		switch {
		case st.pid != want.ref.Pid && want.others[st.pid]:
			return false
		case want.pinned && (st.pid == want.ref.Pid || st.pgrp == want.ref.Pid || st.sid == want.ref.Pid),
			want.members[st.pid], hasMarker(st.pid, want.ref.Marker),
			st.ppid == os.Getpid() && want.claims != nil && want.claims(st):
			t.add(out, st.pid)
			return false
		}
		return true
	})
	return out
}

// group returns the members of the target's process group.
func (t table) group(want target) map[int]stat {
	out := map[int]stat{}
	if want.pinned {
		t.walk(os.Getpid(), func(st stat) bool {
			if st.pgrp == want.ref.Pid {
				out[st.pid] = st
			}
			return true
		})
	}
	return out
}

// walk visits what is below pid. Visit says whether to go on below it.
func (t table) walk(pid int, visit func(stat) bool) {
	for _, c := range t.children[pid] {
		if visit(t.procs[c]) {
			t.walk(c, visit)
		}
	}
}

// add adds pid and all its descendants.
func (t table) add(out map[int]stat, pid int) {
	if _, ok := out[pid]; ok {
		return
	}
	out[pid] = t.procs[pid]
	for _, c := range t.children[pid] {
		t.add(out, c)
	}
}

// trees is tree for processes of a program that has died: a pid counts only with the
// right time of start in the same boot.
func (t table) trees(refs []Ref, stray func(marker string) bool) map[int]stat {
	boot := bootID()
	markers := map[string]bool{}
	pids := map[int]Ref{}
	members := map[int]bool{}
	for _, r := range refs {
		if r.BootID != boot {
			continue
		}
		for _, pid := range cgroupPids(r.Cgroup) {
			members[pid] = true
		}
		if r.Marker != "" {
			markers[r.Marker] = true
		}
		pids[r.Pid] = r
	}
	picked := func(pid int) bool {
		if len(markers) == 0 && stray == nil {
			return false
		}
		m := markerOf(pid)
		return m != "" && (markers[m] || stray != nil && stray(m))
	}
	out := map[int]stat{}
	for pid, st := range t.procs {
		r, ok := pids[pid]
		if ok && startedWithin(st, r) || members[pid] || t.ofGroup(st, pids) || picked(pid) {
			t.add(out, pid)
		}
	}
	return out
}

// ofGroup reports whether a process is in the process group of a ref whose leader has
// gone. The group could be another's by now, so the session has to be the same, too.
func (t table) ofGroup(st stat, pids map[int]Ref) bool {
	r, ok := pids[st.pgrp]
	if !ok || st.sid != r.Sid || r.Sid == 0 || st.start < uint64(r.Before/(time.Second/ticksPerSecond)) {
		return false
	}
	leader, recycled := t.procs[r.Pid]
	return !recycled || startedWithin(leader, r)
}

func startedWithin(st stat, r Ref) bool {
	tick := time.Second / ticksPerSecond
	return st.start >= uint64(r.Before/tick) && st.start <= uint64(r.After/tick)+1
}

// markerOf returns the marker in the environment a process was started with; "" when
// there is none or it cannot be read (another user's process).
func markerOf(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	data, err := os.ReadFile(dir + "/environ")
	if len(data) == 0 && !errors.Is(err, fs.ErrPermission) { // its first thread may have ended; the others still know
		tasks, _ := filepath.Glob(dir + "/task/*/environ")
		for i := 0; i < len(tasks) && len(data) == 0; i++ {
			data, _ = os.ReadFile(tasks[i])
		}
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
