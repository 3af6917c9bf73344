package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/shell"
	"openclaw/internal/walk"
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

	// OnEnd is called once for every session that has ended, in this program or in one
	// whose sessions it took over. It must not block.
	OnEnd func(End)
}

// Table is all process sessions of this program. Its owner calls Close.
type Table struct {
	opt      Options
	starter  *proc.Starter
	store    *journal
	logUsed  atomic.Int64
	later    later
	quick    atomic.Int64 // commands waited for in the short way
	nextGC   atomic.Int64 // log bytes at which the total is looked at again
	logTotal atomic.Int64 // bound of all logs together, in bytes

	closing  context.Context // done when Close begins
	close    context.CancelFunc
	shutdown sync.Once
	closed   sync.Once
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
	retired  bool            // nothing new is started

	adopting sync.Mutex // one takes over dead programs' sessions at a time; taken before mu
	swept    bool       // logs that nobody owns are gone; guarded by adopting
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
	t.LimitLogs(opt.LogTotalBytes)
	if opt.Recover {
		t.Adopt()
	}
	return t, nil
}

// Capture runs one of our own helpers; see proc.Starter.Capture.
func (t *Table) Capture(ctx context.Context, argv, env []string, dir string, limit int) ([]byte, error) {
	return t.starter.Capture(ctx, argv, env, dir, limit)
}

// Retire makes the table refuse new sessions; those it has go on.
func (t *Table) Retire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired = true
}

// LimitLogs sets the bound of all logs together, in bytes.
func (t *Table) LimitLogs(total int64) {
	t.logTotal.Store(total)
	t.nextGC.Store(total)
}

// Stop ends every running session and returns when all goroutines have ended and OnEnd
// was told of all of them. A command that nothing can end (another user's, for example)
// does not hold it up: the error names it. A second call does nothing.
func (t *Table) Stop() (err error) {
	t.shutdown.Do(func() { err = t.shutDown() })
	return err
}

// Close stops the table and lets go of its files. What was finished stays on disk for
// the next Open with Recover; a table without it leaves only what somebody may ask for.
func (t *Table) Close() error {
	err := t.Stop()
	t.closed.Do(func() {
		if !t.opt.Recover {
			t.forgetDelivered()
		}
		err = errors.Join(err, t.store.close())
		if len(unended(t.all())) == 0 { // else its goroutines still use the starter
			err = errors.Join(err, t.starter.Close())
		}
	})
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
		return fmt.Errorf("could not be ended: process sessions %s", strings.Join(stuck, ", "))
	}
	t.running.Wait()
	t.settleNow()
	return nil
}

// forgetDelivered drops the sessions that nobody comes back for: their caller has all of
// the output, and somebody their End. A program that runs one command after the other
// would else leave a record and a log of each, until a supervisor comes by.
func (t *Table) forgetDelivered() {
	var gone []*session
	for _, s := range t.all() {
		s.mu.Lock()
		told := s.told
		s.mu.Unlock()
		if told && s.finished() && s.forgettable() && !s.isBackground() {
			gone = append(gone, s)
		}
	}
	t.forget(gone...)
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
		table: t, plan: plan, key: t.store.marker(plan.ID), started: time.Now(), status: protocol.StatusRunning,
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
	spec := proc.Spec{
		Env: s.plan.Env, Dir: s.plan.Dir,
		Marker: s.table.store.marker(s.plan.ID), Stdin: s.plan.Stdin, Split: s.streams[0] != nil,
		// What is likely to stay gets a cgroup; for a short command it would cost too much.
		Own:     s.plan.Background || s.plan.PTY || s.plan.Stdin,
		Outlive: s.plan.Outlive,
	}
	letGo, err := s.program(&spec)
	if err != nil {
		return err
	}
	defer letGo()
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

// program fills in what is started: a shell with its text, or what was judged (P-60). The
// caller calls letGo after the start.
func (s *session) program(spec *proc.Spec) (letGo func(), err error) {
	if len(s.plan.Judged) == 0 {
		step := s.plan.Steps[0]
		spec.Path, spec.Argv = step.Path, step.Argv
		return func() {}, nil
	}
	plan, err := shell.DecodePlan(s.plan.Judged)
	if err != nil {
		return nil, err
	}
	l, err := walk.Prepare(plan, s.plan.Command, spec.Dir, spec.Env, !spec.Split)
	if err != nil {
		return nil, err
	}
	spec.Path, spec.Argv, spec.Env, spec.Dir, spec.Extra = l.Path, l.Argv, l.Env, l.Dir, l.Plan
	return l.Close, nil
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
	case t.shut, t.retired:
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
	t.deliver(s)
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
// come first, newest first. Each comes with its last output, at most tail characters.
func (t *Table) List(_ context.Context, agent string, tail int) ([]Listed, error) {
	var out []Listed
	for _, s := range t.all() {
		if agent != AnyAgent && s.plan.Agent != agent {
			continue
		}
		if st := s.state(); !st.Finished() || st.Background {
			out = append(out, Listed{State: st, Tail: s.tail(tail)})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Finished() != out[j].Finished() {
			return !out[i].Finished()
		}
		return out[i].Started.After(out[j].Started)
	})
	return out, nil
}

// Counts returns how many sessions run and how many finished ones are kept.
func (t *Table) Counts(context.Context) (Counts, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counts{Running: t.total, Finished: len(t.sessions) + len(t.starting) - t.total, LogBytes: t.logUsed.Load()}, nil
}

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
func (t *Table) Clear(_ context.Context, agent, id string) error {
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
func (t *Table) Remove(_ context.Context, agent, id string) error {
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
	t.store.dropped(ours) // before the logs go: what is owed has a part of them
	for _, s := range ours {
		s.release()
	}
}

// Instance is the first part of the keys of the sessions that this table starts.
func (t *Table) Instance() string { return t.store.instance }
