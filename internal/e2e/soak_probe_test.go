package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// holdings is what our processes hold when there is no session. Groups are descriptors
// of control groups that wait for the next command, as many as ran at once but at most
// spareGroups.
type holdings struct {
	Supervisors, SupervisorFiles, Groups, DaemonFiles, Zombies int
}

const spareGroups = 64

var groupPath = regexp.MustCompile(`/openclaw-[^/]*/s[0-9]+$`)

// within allows each process two more descriptors than at first, for a connection that
// has not ended yet.
func (h holdings) within(first holdings) bool {
	return h.Supervisors == first.Supervisors && h.Zombies == 0 && h.Groups <= spareGroups &&
		h.SupervisorFiles <= first.SupervisorFiles+2 && h.DaemonFiles <= first.DaemonFiles+2
}

func (s *soak) holds(d *daemon) holdings {
	s.client.CloseIdleConnections()
	pids := s.supervisors()
	h := holdings{Supervisors: len(pids), DaemonFiles: filesOf(d.cmd.Process.Pid), Zombies: len(zombiesOf(d.cmd.Process.Pid)) + len(zombiesOf(os.Getpid()))}
	for _, pid := range pids {
		groups, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		groups = slices.DeleteFunc(groups, func(link string) bool {
			to, _ := os.Readlink(link)
			return !groupPath.MatchString(to)
		})
		h.Groups += len(groups)
		h.SupervisorFiles += filesOf(pid) - len(groups)
		h.Zombies += len(zombiesOf(pid))
	}
	return h
}

func filesOf(pid int) int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(files)
}

// open starts the first daemon.
func (s *soak) open() *daemon {
	d := s.start("--log-level", "warn")
	s.operator = d.secret("gateway-token")
	return d
}

// prime runs one session to its event: from then on the listener has an id to come back
// with, and what our processes hold without sessions can be counted.
func (s *soak) prime(d *daemon) {
	s.await("the listener is there", s.listening.Load)
	id := d.invoke(s.agents[0], "exec", map[string]any{"command": "exit 3", "background": true})["sessionId"].(string)
	s.await("its end is told", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.events[id] > 0
	})
	d.invoke(s.agents[0], "process", map[string]any{"action": "clear", "sessionId": id})
	time.Sleep(500 * time.Millisecond) // what was needed for it is closed
	s.before = s.holds(d)
	if s.before.Supervisors != 1 {
		s.fault("at first %+v", s.before)
	}
}

// killEarly starts a daemon and kills it while it starts.
func (s *soak) killEarly(after time.Duration) {
	cmd := exec.Command(binary, "gateway", "run", "--log-level", "warn")
	cmd.Env, cmd.Dir = s.env(), s.home
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s.killed.Add(1)
	s.early.Add(1)
}

// page is an answer of process log.
type page struct {
	offset int
	text   string // whole lines
	kills  int64  // before it was asked for
}

// pageAgain asks for some lines, and after the next kill for the same.
func (s *soak) pageAgain(one *soaked) {
	const limit = 20
	kills := s.killed.Load()
	if one.page != nil && one.page.kills == kills {
		return
	}
	ask := map[string]any{"action": "log", "sessionId": one.id, "offset": 0, "limit": limit}
	if one.page != nil {
		ask["offset"] = one.page.offset
	}
	res, ok := s.call(one.token, "process", ask)
	if !ok || res["error"] != nil {
		return // the caller of this finds out
	}
	text := fmt.Sprint(res["output"])
	if one.page != nil {
		if !strings.HasPrefix(text, one.page.text) {
			s.fault("%v: lines from %d: after a kill %.80q, before it %.80q", one.spec, one.page.offset, text, one.page.text)
		}
		s.offsets.Add(1)
	}
	total, _ := res["totalLines"].(float64)
	next := rand.IntN(max(int(total), 1))
	res, ok = s.call(one.token, "process", map[string]any{"action": "log", "sessionId": one.id, "offset": next, "limit": limit})
	if !ok || res["error"] != nil {
		one.page = nil
		return
	}
	text = fmt.Sprint(res["output"])
	one.page = &page{offset: next, text: text[:strings.LastIndexByte(text, '\n')+1], kills: s.killed.Load()}
}

// account finds what a poller was given in what was printed. An answer that was on its
// way at a kill is lost to the poller, not to the log.
func (s *soak) account(given []string, want string) {
	at := 0
	for _, text := range given {
		switch i := strings.Index(want[at:], text); {
		case i >= 0:
			s.missed.Add(int64(i))
			at += i + len(text)
		case strings.Contains(want, text):
			s.twice.Add(int64(len(text)))
		default: // begins before at and ends behind it
			s.unclear.Add(1)
		}
	}
	s.missed.Add(int64(len(want) - at))
}
