package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// finishedPerAgent is how many finished sessions of one agent are kept (S-5); runs
// that returned everything to their caller are counted apart from those that an agent
// may still ask for.
const finishedPerAgent = 50

// Options of a table. Dir is required.
type Options struct {
	Dir           string // private folder for logs and records; made if missing
	MaxRunning    int    // in all; 0 = 2000
	LogTotalBytes int64  // of all logs; 0 = 2 GiB
	Recover       bool   // take over what dead programs left in Dir

	// OnExit is called once when a session that ran in the background has ended, unless
	// its exit was already returned by a poll or it was killed. It must not block.
	OnExit func(State, string)
	// OnEnd is called once for every session that has ended. It must not block.
	OnEnd func(State)
}

// Table is all process sessions of this program. Its owner calls Close.
type Table struct {
	opt     Options
	starter *proc.Starter
	store   *journal
	logUsed atomic.Int64
	later   later
	quick   atomic.Int64 // commands waited for in the short way
	nextGC  atomic.Int64 // log bytes at which the total is looked at again

	closing  context.Context // done when Close begins
	close    context.CancelFunc
	shutdown sync.Once
	starts   sync.WaitGroup // starts under way; added to under mu and only before shut
	running  sync.WaitGroup // every goroutine of every session

	reclaiming sync.Mutex // held by the one that keeps the logs within their total

	mu       sync.Mutex // guards the rest
	shut     bool
	sessions map[string]*session
	starting map[string]bool // ids of sessions that are not in the table yet
	active   map[string]int  // running and starting, by agent
	total    int             // running and starting, in all
	unpruned map[string]int  // ends since the last prune, by agent
	expiry   *time.Timer     // of the next look at what is kept too long; nil = none
	expireAt time.Time       // when it fires
	lost     []State
}

// Open makes the table, and with Options.Recover first ends and records what dead
// programs left (S-8).
func Open(opt Options) (*Table, error) {
	if opt.MaxRunning == 0 {
		opt.MaxRunning = 2000
	}
	if opt.LogTotalBytes == 0 {
		opt.LogTotalBytes = 2 << 30
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the session folder: %w", err)
	}
	starter, err := proc.NewStarter()
	if err != nil {
		return nil, err
	}
	store, err := openJournal(opt.Dir)
	if err != nil {
		starter.Close()
		return nil, err
	}
	t := &Table{
		opt: opt, starter: starter, store: store,
		sessions: map[string]*session{}, starting: map[string]bool{},
		active: map[string]int{}, unpruned: map[string]int{},
	}
	t.closing, t.close = context.WithCancel(context.Background())
	t.nextGC.Store(opt.LogTotalBytes)
	if opt.Recover {
		t.recover()
	}
	return t, nil
}

// Starter gives the process starter for our own helpers; there may be only one in a
// program.
func (t *Table) Starter() *proc.Starter { return t.starter }

// Lost returns the sessions that were running when an earlier program died, as Open
// found them.
func (t *Table) Lost() []State { return t.lost }

// Close ends every running session and returns when all goroutines have ended. What
// was finished stays on disk for the next Open with Recover. A command that nothing can
// end (another user's, for example) does not hold it up: the error names it.
func (t *Table) Close() (err error) {
	t.shutdown.Do(func() { err = t.shutDown() })
	return err
}

func (t *Table) shutDown() error {
	t.mu.Lock()
	t.shut = true // no start begins after this
	if t.expiry != nil {
		t.expiry.Stop()
	}
	t.mu.Unlock()
	t.starts.Wait()
	all := t.all()
	var ends sync.WaitGroup
	for _, s := range all {
		if !s.finished() {
			ends.Go(func() { s.end(endShutdown, killGrace) })
		}
	}
	ends.Wait()
	t.close()
	for _, s := range all { // readers that wait for something left running
		if s.proc != nil {
			_ = s.proc.Out.Close()
			_ = s.proc.Err.Close()
		}
	}
	if stuck := unended(all); len(stuck) > 0 {
		return errors.Join(fmt.Errorf("could not be ended: process sessions %s", strings.Join(stuck, ", ")), t.store.close())
	}
	t.running.Wait()
	t.settleNow()
	return errors.Join(t.store.close(), t.starter.Close())
}

// unended returns the ids of the sessions that still run.
func unended(all []*session) []string {
	var ids []string
	for _, s := range all {
		if !s.finished() {
			ids = append(ids, s.plan.ID)
		}
	}
	return ids
}

// Start starts what plan says and returns its first state.
func (t *Table) Start(plan Plan) (State, error) {
	s, err := t.start(plan, false)
	if err != nil {
		return State{}, err
	}
	return s.state(), nil
}

func (t *Table) start(plan Plan, claimed bool) (*session, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	if plan.PTY && (plan.Cols <= 0 || plan.Rows <= 0) {
		plan.Cols, plan.Rows = 120, 40
	}
	s := &session{
		table: t, plan: plan, started: time.Now(), status: protocol.StatusRunning,
		background: plan.Background, claimed: claimed, cols: plan.Cols, rows: plan.Rows, done: make(chan struct{}),
	}
	s.lastOutput.Store(s.started.UnixMilli())
	if err := t.admit(s); err != nil {
		return nil, err
	}
	defer t.starts.Done()
	s.openLogs()
	s.quick = claimed && t.mayBeQuick(&plan)
	if err := s.startProcess(); err != nil {
		if s.quick {
			t.quick.Add(-1)
		}
		t.dismiss(s)
		return nil, err
	}
	t.store.started(s)
	t.publish(s)
	if s.quick {
		t.running.Add(1) // runQuick takes it off
		t.settleIdle()
	} else {
		t.running.Go(s.run)
	}
	return s, nil
}

func (s *session) openLogs() {
	base := s.table.store.logBase(s.plan.ID)
	s.log = newLog(base+".log", s.plan.LogMaxBytes, &s.table.logUsed)
	if s.plan.Streams && !s.plan.PTY {
		s.streams[0] = newLog(base+".out", s.plan.LogMaxBytes, &s.table.logUsed)
		s.streams[1] = newLog(base+".err", s.plan.LogMaxBytes, &s.table.logUsed)
	}
}

func (s *session) startProcess() error {
	step := s.plan.Steps[0]
	spec := proc.Spec{
		Path: step.Path, Argv: step.Argv, Env: s.plan.Env, Dir: s.plan.Dir,
		Marker: s.table.store.marker(s.plan.ID), Stdin: s.plan.Stdin, Split: s.streams[0] != nil,
		// What is likely to stay gets a cgroup; for a short command it would cost too much.
		Own: s.plan.Background || s.plan.PTY || s.plan.Stdin,
	}
	if s.plan.PTY {
		spec.PTY = &proc.Size{Cols: s.plan.Cols, Rows: s.plan.Rows}
	}
	start := s.table.starter.Start
	if s.quick {
		start = s.table.starter.Begin
	}
	p, err := start(spec)
	if errors.Is(err, proc.ErrNoPTY) {
		s.warn(fmt.Sprintf("%v; the command ran with pipes", err))
		s.plan.PTY, s.plan.Stdin = false, true
		spec.PTY, spec.Stdin = nil, true
		p, err = s.table.starter.Start(spec)
	}
	if err != nil {
		return err
	}
	s.proc = p
	if !s.quick { // a timer of its own costs a short command the waking of a thread
		s.limitLife()
	}
	return nil
}

// limitLife arranges the end of a session at its time limit.
func (s *session) limitLife() {
	if limit := s.plan.Timeout; limit > 0 {
		s.timeout = time.AfterFunc(limit-time.Since(s.started), func() { s.end(endTimeout, killGrace) })
	}
}

// admit makes room for s under the limits and takes its id; whoever admits calls
// starts.Done. Nobody sees s before publish, when all of it is there. Admission and
// shutdown share one lock, so nothing starts after the last list was taken.
func (t *Table) admit(s *session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	agent := s.plan.Agent
	switch {
	case t.shut:
		return ErrClosing
	case t.sessions[s.plan.ID] != nil || t.starting[s.plan.ID]:
		return ErrDuplicate
	case t.total >= t.opt.MaxRunning:
		return &LimitError{Running: t.total, Max: t.opt.MaxRunning}
	case s.plan.MaxRunning > 0 && t.active[agent] >= s.plan.MaxRunning:
		return &LimitError{Running: t.active[agent], Max: s.plan.MaxRunning, Agent: agent}
	}
	t.starts.Add(1)
	t.starting[s.plan.ID] = true
	t.active[agent]++
	t.total++
	return nil
}

// publish puts a started session where others see it.
func (t *Table) publish(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.starting, s.plan.ID)
	t.sessions[s.plan.ID] = s
}

func (t *Table) dismiss(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.starting, s.plan.ID)
	t.countDown(s)
}

func (t *Table) countDown(s *session) {
	t.total--
	if t.active[s.plan.Agent]--; t.active[s.plan.Agent] <= 0 {
		delete(t.active, s.plan.Agent)
	}
}

// leave makes room for another session; s has stored its end.
func (t *Table) leave(s *session) {
	t.mu.Lock()
	t.countDown(s)
	t.mu.Unlock()
}

// settle records an end, tells of it and drops what is kept no longer.
func (t *Table) settle(s *session) {
	t.store.ended(s)
	if t.opt.OnEnd != nil {
		t.opt.OnEnd(s.state())
	}
	t.announce(s)
	t.pruneAfter(s)
}

// get returns the agent's session; another agent's is not found (S-1).
func (t *Table) get(agent, id string) (*session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[id]
	if s == nil || agent != AnyAgent && s.plan.Agent != agent {
		return nil, fmt.Errorf("%w: %q; process list shows yours", ErrNotFound, id)
	}
	return s, nil
}

// AnyAgent, given as agent, reaches the sessions of all agents; for the operator.
const AnyAgent = "*"

// List returns the agent's sessions that somebody may want to look at: running ones,
// and finished ones that ran in the background or whose result was cut. Running ones
// come first, newest first.
func (t *Table) List(agent string) []State {
	var out []State
	for _, s := range t.all() {
		if agent != AnyAgent && s.plan.Agent != agent {
			continue
		}
		if st := s.state(); !st.Finished() || st.Background {
			out = append(out, st)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Finished() != out[j].Finished() {
			return !out[i].Finished()
		}
		return out[i].Started.After(out[j].Started)
	})
	return out
}

// Counts returns how many sessions run and how many finished ones are kept.
func (t *Table) Counts() (running, finished int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total, len(t.sessions) + len(t.starting) - t.total
}

// LogBytes returns the size of all logs on disk.
func (t *Table) LogBytes() int64 { return t.logUsed.Load() }

func (t *Table) all() []*session {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*session, 0, len(t.sessions))
	for _, s := range t.sessions {
		out = append(out, s)
	}
	return out
}

// Clear forgets a finished session and its log.
func (t *Table) Clear(agent, id string) error {
	s, err := t.get(agent, id)
	if err != nil {
		return err
	}
	if !s.finished() {
		return fmt.Errorf("%s: %w", id, ErrRunning)
	}
	t.forget(s)
	return nil
}

// Remove kills a running session, then forgets it.
func (t *Table) Remove(agent, id string) error {
	s, err := t.get(agent, id)
	if err != nil {
		return err
	}
	s.end(endKilled, killGrace)
	if !s.finished() {
		return fmt.Errorf("%s could not be ended and stays; process list says what is left of it", id)
	}
	t.forget(s)
	return nil
}

// forget drops finished sessions. Of two that do it at once, one does.
func (t *Table) forget(gone ...*session) {
	ours := make([]*session, 0, len(gone))
	t.mu.Lock()
	for _, s := range gone {
		if t.sessions[s.plan.ID] == s {
			delete(t.sessions, s.plan.ID)
			ours = append(ours, s)
		}
	}
	t.mu.Unlock()
	for _, s := range ours {
		s.release()
	}
	t.store.dropped(ours)
}

// Dir returns the folder of the logs.
func (t *Table) Dir() string { return filepath.Clean(t.opt.Dir) }
