package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// cgroups gives each command a cgroup v2 group of its own, so that whatever it starts
// can be found, however it hides. Groups that have become empty are used again.
// A nil *cgroups stands for a machine where no group can be made.
type cgroups struct {
	dir string // ours, below the group this program is in

	mu   sync.Mutex // guards free and made
	free []*cgroup
	made int
}

// cgroup is one group; its directory is held open to clone children into it.
type cgroup struct {
	path string
	dir  *os.File
}

// cgroupPrefix begins the names of the directories that programs of ours make.
const cgroupPrefix = "openclaw-"

// openCgroups makes a directory for groups below parent. It returns nil when that
// cannot be done.
func openCgroups(parent string) *cgroups {
	if parent == "" {
		return nil
	}
	sweepCgroups(parent)
	dir := filepath.Join(parent, cgroupPrefix+strconv.Itoa(os.Getpid())+"-"+helperMarker()[len("helper."):])
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	return &cgroups{dir: dir}
}

// ownCgroup is the directory of the cgroup v2 group that this program is in; "" when
// there is none.
func ownCgroup() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return findCgroup(string(own), string(mounts))
}

// findCgroup reads /proc/self/cgroup and /proc/self/mountinfo.
func findCgroup(own, mounts string) string {
	group := ""
	for line := range strings.Lines(own) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			group = path
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		f := strings.Fields(before)
		if !ok || !strings.HasPrefix(after, "cgroup2 ") || len(f) < 5 {
			continue
		}
		root, at := f[3], f[4]
		if rel, below := strings.CutPrefix(group, strings.TrimSuffix(root, "/")); group != "" && below {
			return filepath.Join(at, rel)
		}
	}
	return ""
}

// sweepCgroups removes the empty directories of programs that have died.
func sweepCgroups(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, _, ok := strings.Cut(strings.TrimPrefix(e.Name(), cgroupPrefix), "-")
		n, err := strconv.Atoi(pid)
		if !strings.HasPrefix(e.Name(), cgroupPrefix) || !ok || err != nil {
			continue
		}
		if _, alive := readStat(n); !alive {
			removeCgroup(filepath.Join(parent, e.Name()))
		}
	}
}

// removeCgroup removes a group and those below it; a group with processes stays.
func removeCgroup(path string) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			removeCgroup(filepath.Join(path, e.Name()))
		}
	}
	_ = os.Remove(path)
}

// get takes an empty group; nil when none can be had.
func (c *cgroups) get() *cgroup {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		g := c.free[n-1]
		c.free = c.free[:n-1]
		return g
	}
	c.made++
	path := filepath.Join(c.dir, "s"+strconv.Itoa(c.made))
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return &cgroup{path: path, dir: dir}
}

// put gives a group back. One that still has processes, or groups that a command made
// below it, is not used again.
func (c *cgroups) put(g *cgroup) {
	if g == nil {
		return
	}
	if g.empty() && c.keep(g) {
		return
	}
	g.dir.Close()
	removeCgroup(g.path)
}

// keep puts an empty group aside for the next command.
func (c *cgroups) keep(g *cgroup) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	const spare = 64
	if len(c.free) >= spare {
		return false
	}
	c.free = append(c.free, g)
	return true
}

// close removes all groups that are empty.
func (c *cgroups) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.free {
		g.dir.Close()
	}
	c.free = nil
	removeCgroup(c.dir)
}

// empty reports whether no process is left in the group or below it.
func (g *cgroup) empty() bool {
	data, err := os.ReadFile(filepath.Join(g.path, "cgroup.events"))
	return err == nil && strings.Contains(string(data), "populated 0")
}

// cgroupPids lists the processes in a group and below it; none for "".
func cgroupPids(path string) []int {
	if path == "" {
		return nil
	}
	var out []int
	_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			if err != nil && errors.Is(err, fs.ErrNotExist) {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return nil // the group has gone
		}
		for _, line := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(line); err == nil && pid > 0 {
				out = append(out, pid)
			}
		}
		return nil
	})
	return out
}

// members lists the processes in the process's group, as long as it has it.
func (p *Process) members() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cgroup == nil {
		return nil
	}
	return cgroupPids(p.cgroup.path)
}

// inCgroup reports whether something is left in the process's group, or may be.
func (p *Process) inCgroup() bool {
	p.leaveCgroup()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cgroup != nil
}

// leaveCgroup gives the group back once the process has been reaped and nothing is
// left in it.
func (p *Process) leaveCgroup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cgroup != nil && p.reaped && p.cgroup.empty() {
		p.starter.groups.put(p.cgroup)
		p.cgroup = nil
	}
}

// killCgroup kills whatever is left in the group, in one step that nothing outruns.
func (p *Process) killCgroup() {
	p.mu.Lock()
	if p.cgroup != nil && !p.cgroup.empty() {
		_ = os.WriteFile(filepath.Join(p.cgroup.path, "cgroup.kill"), []byte("1"), 0) // since Linux 5.14
	}
	p.mu.Unlock()
	p.leaveCgroup()
}
