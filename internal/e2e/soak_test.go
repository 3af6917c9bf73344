package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSoak starts mixed sessions while the daemon is killed with SIGKILL at random, again
// and again: no session is lost, every byte of output is accounted for, every end is told
// of once. SOAK is how long (60s; make soak: 30m), SOAK_SESSIONS and SOAK_KILLS how many,
// SOAK_SEED which dice.
func TestSoak(t *testing.T) {
	run := newSoak(t)
	t.Logf("seed %d: %d sessions and %d kills in %v", run.seed, run.sessions, run.kills, run.length)
	var work sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); work.Wait() })
	first := run.open()
	work.Go(func() { run.listen(ctx) })
	run.prime(first)
	var each sync.WaitGroup
	for i := range run.sessions {
		each.Go(func() { run.session(i) })
	}
	done := make(chan struct{})
	go func() { each.Wait(); close(done) }()
	last := run.killAlways(first, done)
	<-done
	run.settle(last)
	stop()
	work.Wait()
	run.check()
}

// soak is one run. Its daemon changes; what talks to it tries again until it answers.
type soak struct {
	*place
	seed            uint64
	length          time.Duration
	sessions, kills int
	tag             string
	program         string
	agents          []string // tokens
	operator        string
	client          *http.Client
	listening       atomic.Bool
	begun           time.Time

	killed, early  atomic.Int64 // kills; of these, of daemons that were not ready
	bytes, offsets atomic.Int64 // of output; pages asked for before a kill and after it
	missed, twice  atomic.Int64 // bytes of pollers, at a kill
	unclear        atomic.Int64 // answers to pollers that fit nowhere
	torn           atomic.Int64 // events of which a kill left a part
	before, after  holdings
	deadline       time.Time

	mu     sync.Mutex
	faults []string
	found  map[string]*soaked // by session id
	events map[string]int
}

// soaked is one session of a run.
type soaked struct {
	id     string
	token  string
	spec   soakSpec
	polled bool
	cut    bool  // the answer to its start was lost
	page   *page // asked for once, to be asked for again after a kill
}

func newSoak(t *testing.T) *soak {
	s := &soak{
		place: newPlace(t, "tools: {exec: {maxSessions: 400, notifyOnExitEmptySuccess: true}}"), length: time.Minute, tag: "soak" + strconv.FormatInt(time.Now().UnixNano()%1e9, 36),
		client: &http.Client{Timeout: 20 * time.Second}, found: map[string]*soaked{}, events: map[string]int{},
	}
	if testing.Short() {
		s.length = 20 * time.Second
	}
	s.sessions, s.kills = 60, 30
	number := func(name string, to *int) {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			*to = n
		}
	}
	if d, err := time.ParseDuration(os.Getenv("SOAK")); err == nil {
		s.length = d
	}
	seed := int(time.Now().UnixNano() % 1e6)
	number("SOAK_SESSIONS", &s.sessions)
	number("SOAK_KILLS", &s.kills)
	number("SOAK_SEED", &seed)
	s.seed = uint64(seed)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.program = program
	for i := range 1 + s.sessions/30 { // of one agent 50 finished ones are kept (S-5)
		out, problem, code := s.run("", "agents", "token", "create", fmt.Sprintf("agent%d", i))
		if code != 0 {
			t.Fatal(problem)
		}
		s.agents = append(s.agents, strings.TrimSpace(out))
	}
	s.begun = time.Now()
	s.deadline = s.begun.Add(s.length + 3*time.Minute)
	return s
}

func (s *soak) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) < 50 {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

// killAlways keeps a daemon running and kills it at random moments until done, now and
// then before it is ready. It returns the daemon that runs then.
func (s *soak) killAlways(d *daemon, done <-chan struct{}) *daemon {
	dice := rand.New(rand.NewPCG(s.seed, 1))
	mean := s.length / time.Duration(max(s.kills, 1))
	for {
		var wait <-chan time.Time
		if int(s.killed.Load()) < s.kills {
			wait = time.After(time.Duration(dice.Int64N(int64(mean)*3/2 + 1)))
		}
		select {
		case <-wait:
			d.kill9()
			s.killed.Add(1)
		case <-done:
			return d // the last one stays for the checks
		}
		for int(s.killed.Load()) < s.kills && dice.IntN(5) == 0 {
			s.killEarly(time.Duration(dice.IntN(100)) * time.Millisecond)
		}
		d = s.start("--log-level", "warn")
	}
}

// call makes a tool call; false means that its answer was lost.
func (s *soak) call(token, tool string, args map[string]any) (map[string]any, bool) {
	body, err := json.Marshal(map[string]any{"tool": tool, "args": args})
	if err != nil {
		s.fault("%v", err)
		return nil, false
	}
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/tools/invoke", s.port), strings.NewReader(string(body)))
	if err != nil {
		s.fault("%v", err)
		return nil, false
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := s.client.Do(req)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return nil, false
	}
	defer res.Body.Close()
	var answer struct {
		OK     bool
		Result struct{ Details map[string]any }
		Error  struct{ Type, Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Error.Type == "unavailable" {
		time.Sleep(10 * time.Millisecond)
		return nil, false
	}
	if !answer.OK {
		return map[string]any{"error": answer.Error.Message}, true
	}
	return answer.Result.Details, true
}

// must calls until an answer comes; only for calls that may be made twice.
func (s *soak) must(token, tool string, args map[string]any) map[string]any {
	for time.Now().Before(s.deadline) {
		if res, ok := s.call(token, tool, args); ok {
			return res
		}
	}
	s.fault("no answer to %s %v", tool, args)
	return map[string]any{}
}

// spec throws the dice for a session.
func (s *soak) spec(i int, dice *rand.Rand) (spec soakSpec, pty bool) {
	much := 200_000
	if testing.Short() {
		much = 50_000
	}
	life := time.Duration(1+dice.Int64N(int64(s.length)/4)) + time.Millisecond
	spec = soakSpec{Tag: fmt.Sprintf("%s.%d", s.tag, i), Exit: dice.IntN(7)}
	switch i % 7 {
	case 0: // slow
		spec.Lines, spec.Width = 20+dice.IntN(80), 60
		spec.Pause = life / time.Duration(spec.Lines)
	case 1: // on a terminal
		spec.Lines, spec.Width, pty = 50+dice.IntN(200), 70, true
		spec.Pause = life / time.Duration(spec.Lines)
	case 2: // short
		spec.Lines, spec.Width = 1+dice.IntN(5), 20
	case 3: // much
		spec.Lines, spec.Width = much, 200
	case 4: // fast
		spec.Lines, spec.Width, spec.Pause = 2000, 40, life/2000
	case 5: // asks
		spec.Lines, spec.Width, spec.Asks = 5+dice.IntN(20), 10, true
	case 6: // silent
		spec.Pause = life
	}
	return spec, pty
}

// session starts one session at its time, follows it to its end and checks it.
func (s *soak) session(i int) {
	dice := rand.New(rand.NewPCG(s.seed, uint64(i)+2))
	time.Sleep(time.Duration(dice.Int64N(int64(s.length) * 3 / 4)))
	spec, pty := s.spec(i, dice)
	token := s.agents[i%len(s.agents)]
	one := &soaked{token: token, spec: spec, polled: dice.IntN(2) == 0}
	if one.id, one.cut = s.begin(token, spec, pty); one.id == "" {
		s.fault("%v: not started", spec)
		return
	}
	s.mu.Lock()
	s.found[one.id] = one
	s.mu.Unlock()
	if spec.Asks {
		s.answer(token, one)
	}
	polled := s.follow(token, one)
	s.verify(token, one, pty, polled)
}

// begin starts a session. An answer that was lost may mean that it runs.
func (s *soak) begin(token string, spec soakSpec, pty bool) (id string, cut bool) {
	command := fmt.Sprintf("%s='%s' exec '%s'", soakEnv, spec, s.program)
	for time.Now().Before(s.deadline) {
		res, ok := s.call(token, "exec", map[string]any{"command": command, "background": true, "pty": pty})
		if id, _ = res["sessionId"].(string); ok && id != "" {
			return id, cut
		}
		if ok {
			s.fault("%v: %v", spec, res)
			return "", cut
		}
		cut = true
		time.Sleep(300 * time.Millisecond) // a start that is under way shows by then
		list := s.must(token, "process", map[string]any{"action": "list"})
		rows, _ := list["sessions"].([]any)
		for _, row := range rows {
			if r, _ := row.(map[string]any); r != nil && strings.Contains(fmt.Sprint(r["command"]), "='"+spec.Tag+" ") {
				return fmt.Sprint(r["sessionId"]), true
			}
		}
	}
	return "", cut
}

// answer gives a program that asks its lines. A write whose answer was lost is made again
// only if the program has not got it.
func (s *soak) answer(token string, one *soaked) {
	for n := 1; n <= one.spec.Lines; n++ {
		for time.Now().Before(s.deadline) {
			res, ok := s.call(token, "process", map[string]any{"action": "write", "sessionId": one.id, "data": "\n"})
			if ok && res["error"] != nil {
				s.fault("%v: write: %v", one.spec, res["error"])
				return
			}
			if ok {
				break
			}
			time.Sleep(300 * time.Millisecond)
			log := s.must(token, "process", map[string]any{"action": "log", "sessionId": one.id, "offset": 0})
			if total, _ := log["totalLines"].(float64); int(total) >= n {
				break
			}
		}
		time.Sleep(s.length / 500)
	}
}

// follow waits for the end, by polls or by looks at the log, and returns what polls gave.
func (s *soak) follow(token string, one *soaked) []string {
	var got []string
	for time.Now().Before(s.deadline) {
		args := map[string]any{"action": "poll", "sessionId": one.id, "timeout": 2000}
		if !one.polled { // a poll that returns the end keeps it from being announced
			args = map[string]any{"action": "log", "sessionId": one.id, "limit": 1}
			time.Sleep(200 * time.Millisecond)
		}
		res, ok := s.call(token, "process", args)
		if !ok {
			continue
		}
		if res["error"] != nil {
			s.fault("%v: lost: %v", one.spec, res["error"])
			return nil
		}
		if one.polled {
			got = append(got, fmt.Sprint(res["output"]))
		}
		s.pageAgain(one)
		if res["status"] != "running" {
			if res["status"] != "completed" || fmt.Sprint(res["exitCode"]) != strconv.Itoa(one.spec.Exit) {
				s.fault("%v: ended %v with %v", one.spec, res["status"], res["exitCode"])
			}
			return got
		}
	}
	s.fault("%v: has not ended", one.spec)
	return got
}

// verify compares every byte with what the program prints.
func (s *soak) verify(token string, one *soaked, pty bool, polled []string) {
	want := one.spec.whole()
	if pty {
		want = strings.ReplaceAll(want, "\n", "\r\n")
	}
	raw, err := s.rawLog(one.id)
	if err != nil || raw != want {
		s.fault("%v: log of %d bytes, want %d, %v", one.spec, len(raw), len(want), err)
	}
	s.bytes.Add(int64(len(raw)))
	limit := 37
	if len(want) > 20_000 {
		limit = 900 // an answer holds at most 200,000 characters
	}
	if got := s.pages(token, one.id, limit); got != want {
		s.fault("%v: pages of %d bytes, want %d", one.spec, len(got), len(want))
	}
	if one.polled && len(want) < 1<<20 { // a larger one's answers leave out the middle
		s.account(polled, want)
	}
}

// rawLog is what the log's files hold.
func (s *soak) rawLog(id string) (string, error) {
	names, err := filepath.Glob(filepath.Join(s.state, "exec", "sessions", "*-"+id+".log*"))
	if err != nil { // without output there is no file
		return "", err
	}
	sort.Strings(names)
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}

// pages reads the log by pages of lines.
func (s *soak) pages(token, id string, limit int) string {
	var all strings.Builder
	for offset := 0; time.Now().Before(s.deadline); {
		page := s.must(token, "process", map[string]any{"action": "log", "sessionId": id, "offset": offset, "limit": limit})
		all.WriteString(fmt.Sprint(page["output"]))
		total, _ := page["totalLines"].(float64)
		if offset += limit; offset >= int(total) {
			break
		}
	}
	return all.String()
}

// listen counts the ends that are told of, over all daemons.
func (s *soak) listen(ctx context.Context) {
	last := ""
	for ctx.Err() == nil {
		last = s.listenOnce(ctx, s.operator, last)
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *soak) listenOnce(ctx context.Context, operator, last string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/events", s.port), nil)
	if err != nil {
		return last
	}
	req.Header.Set("Authorization", "Bearer "+operator)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return last
	}
	defer res.Body.Close()
	s.listening.Store(true)
	lines := bufio.NewReader(res.Body)
	var id, data string
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if id != "" {
				s.torn.Add(1)
			}
			return last
		}
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
		case name == "id":
			id = value
		case name == "data":
			data = value
		case name == "" && value == "" && data != "": // the event is whole only now
			s.heard(data, last)
			if id != "" {
				last = id
			}
			id, data = "", ""
		}
	}
}

// heard counts an event.
func (s *soak) heard(data, last string) {
	var e struct{ Kind, SessionID string }
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		s.fault("event %.200q: %v", data, err)
	}
	switch e.Kind {
	case "exec.finished":
		s.mu.Lock()
		s.events[e.SessionID]++
		s.mu.Unlock()
	case "gap":
		s.fault("events may be missing after %s", last)
	}
}
