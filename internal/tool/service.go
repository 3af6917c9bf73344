package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/event"
	"openclaw/internal/host"
	"openclaw/internal/jsonlog"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/safefile"
	"openclaw/internal/session"
)

// usageTime is how long Close waits for the document, to note its use.
const usageTime = 2 * time.Second

// recordMax is the size at which the record of runs is rotated, in bytes.
const recordMax = 32 << 20

// Options of a service. Config, StateDir, Getenv and Environ are required.
type Options struct {
	Config   *config.Config
	StateDir string
	Getenv   func(string) string
	Environ  []string // the environment commands inherit
	Log      *slog.Logger
	Events   *event.Bus // nil = exits are not announced

	// Sessions opens where commands run, with the folder of their logs and what is to be
	// called for every one that ends; nil = InProcess(false).
	Sessions func(dir string, onEnd func(session.End)) (Sessions, error)
	Program  string // absolute path of our own program, "" = not known
	// Store opens the durable store of approvals and says how it is closed; nil = they end
	// with this program, whose caller waits for the answers.
	Store   func(context.Context) (approval.Store, func() error, error)
	OwnPath bool // keep Environ's PATH as it is (no daemon: the caller's own, P-32)
}

// Service answers tool calls. Its owner calls Close.
type Service struct {
	log      *slog.Logger
	getenv   func(string) string
	stateDir string
	ownPath  bool
	cfg      atomic.Pointer[config.Config]
	host     *host.Local
	judge    *judge
	desk     *desk
	flights  *flights
	tickets  *tickets
	resumed  sync.Once // what an earlier program left has been dealt with
	ending   sync.WaitGroup
	notices  notices
	usage    *approval.Usage // of allowlist entries
	table    Sessions
	events   *event.Bus
	record   *recorder
	answers  *answers

	mu    sync.Mutex    // guards early
	early []session.End // what ended before begin; nil afterwards
}

// Open makes the service. It starts no process.
func Open(opt Options) (*Service, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Sessions == nil {
		opt.Sessions = InProcess(false)
	}
	dir := filepath.Join(opt.StateDir, "exec")
	if err := safefile.Dir(opt.StateDir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if err := safefile.Dir(dir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	path := filepath.Join(dir, "runs.jsonl")
	lines, err := jsonlog.Open(path, recordMax)
	if err != nil {
		return nil, fmt.Errorf("record of runs: %w", err)
	}
	s := &Service{
		log: opt.Log, getenv: opt.Getenv, stateDir: opt.StateDir, ownPath: opt.OwnPath,
		events: opt.Events, record: &recorder{lines: lines, path: path}, answers: newAnswers(), early: []session.End{},
	}
	s.cfg.Store(opt.Config)
	if opt.Store == nil {
		opt.Store = func(context.Context) (approval.Store, func() error, error) {
			return approval.NewMemory(), func() error { return nil }, nil
		}
	}
	s.flights, s.tickets = newFlights(), newTickets()
	s.desk = &desk{store: opt.Store, options: approval.Options{OnFinal: s.decided, HistoryDays: opt.Config.Approvals.HistoryDays}}
	if s.table, err = opt.Sessions(filepath.Join(dir, "sessions"), s.ended); err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	s.table.LimitLogs(opt.Config.Exec("main").LogTotalBytes)
	hostOpt := host.Options{StateDir: opt.StateDir, Environ: opt.Environ, OwnPath: opt.OwnPath}
	hostOpt.Run = s.table.Capture
	s.host = host.New(hostOpt)
	s.judge = newJudge(opt.StateDir, s.host.Home(), opt.Program)
	s.usage = s.judge.file.NewUsage(func(err error) { s.log.Warn("the use of allowlist entries is not noted", "err", err) })
	s.judge.skills.load(opt.Config)
	lines.OnWritten(func(keys []string) { s.table.Told(keys...) })
	s.begin()
	return s, nil
}

// InProcess keeps the sessions in this process: they end with it. Recover says that what
// dead programs of the folder left is taken over.
func InProcess(recover bool) func(string, func(session.End)) (Sessions, error) {
	return func(dir string, onEnd func(session.End)) (Sessions, error) {
		return session.Open(session.Options{Dir: dir, Recover: recover, OnEnd: onEnd})
	}
}

// Warm asks the login shell for its PATH ahead of the first command, and looks along it for
// the programs of the skills. It returns when that is done or ctx ends.
func (s *Service) Warm(ctx context.Context) {
	path, _, err := s.host.Path(ctx, nil)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("login shell", "err", err)
	}
	cfg := s.cfg.Load()
	if err != nil || len(cfg.SkillDirs) == 0 {
		return
	}
	s.judge.skills.rules(cfg, path)
	for _, agent := range cfg.AgentIDs() {
		if first := cfg.Exec(agent).PathPrepend; len(first) > 0 {
			if path, _, err := s.host.Path(ctx, first); err == nil {
				s.judge.skills.rules(cfg, path)
			}
		}
	}
}

// Close ends what does not outlive this program and flushes the record.
func (s *Service) Close() error {
	s.host.Close()
	s.notices.stop()
	err := s.table.Stop()
	s.answers.running.Wait()
	s.ending.Wait()
	err = errors.Join(err, s.desk.shut())
	ctx, cancel := context.WithTimeout(context.Background(), usageTime)
	defer cancel()
	if uerr := s.usage.Close(ctx); uerr != nil { // it is only a note
		s.log.Warn("the use of allowlist entries is not noted", "err", uerr)
	}
	// The record before the sessions let go: they are told of what is in it.
	return errors.Join(err, s.record.close(), s.table.Close())
}

// Reload makes later calls use cfg; running commands keep theirs (C-3).
func (s *Service) Reload(cfg *config.Config) {
	s.cfg.Store(cfg)
	s.judge.skills.load(cfg)
	s.table.LimitLogs(cfg.Exec("main").LogTotalBytes)
}

// Sessions gives the sessions to surfaces that serve the operator (status, lists).
func (s *Service) Sessions() Sessions { return s.table }

// Tools returns the tools the caller may use (C-20), for a client's list.
func (s *Service) Tools(c Caller) []protocol.ToolInfo {
	var out []protocol.ToolInfo
	for _, info := range protocol.Tools() {
		if ok, _ := s.cfg.Load().ToolAllowed(c.Agent, info.Name); ok {
			out = append(out, info)
		}
	}
	return out
}

// Call runs one tool call. Watch, which may be nil, is called with the progress of an
// exec while it runs, one call at a time, never after Call has returned. A refusal is
// a result; an error is a *protocol.Error. When ctx ends, a foreground command is ended
//
func (s *Service) Call(ctx context.Context, c Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if c.Agent == "" || c.SessionKey == "" {
		return nil, &protocol.Error{Type: protocol.ErrInternal, Message: "call without an agent or a session"}
	}
	if req.IdempotencyKey == "" {
		return s.dispatch(ctx, c, req, watch)
	}
	var through func(protocol.Progress)
	if watch != nil {
		w := &watcher{watch: watch}
		defer w.close()
		through = w.progress
	}
	return s.answers.once(ctx, c, req, s.stillRuns, func(run context.Context) (*protocol.ToolResult, error) {
		return s.dispatch(run, c, req, through)
	})
}

func (s *Service) dispatch(ctx context.Context, c Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	if err := s.available(c, req.Tool); err != nil {
		if key := s.deniedBy(c, req.Tool); req.DryRun && key != "" {
			return dryRun(policy.Decision{
				Outcome: policy.OutcomeDeny, Rule: "P-1", Reason: "the " + req.Tool + " tool is not available to agent " + c.Agent + " (" + key + ")",
				Hint: "openclaw.json: " + key + " decides this",
			}), nil
		}
		return nil, err
	}
	var res *protocol.ToolResult
	var err error
	switch req.Tool {
	case protocol.ToolExec:
		res, err = s.exec(ctx, c, req, watch)
	case protocol.ToolProcess:
		res, err = s.process(ctx, c, req)
	}
	if err != nil {
		return nil, WireError(ctx, err)
	}
	return res, nil
}

// available says whether the tool exists and the tool policy gives it (C-20).
func (s *Service) available(c Caller, name string) error {
	if name != protocol.ToolExec && name != protocol.ToolProcess {
		return &protocol.Error{Type: protocol.ErrNotFound, Message: "Tool not available: " + clip(name)}
	}
	if key := s.deniedBy(c, name); key != "" {
		return &protocol.Error{
			Type: protocol.ErrNotFound, Message: fmt.Sprintf("Tool not available: %s (denied by %s)", name, key),
			Hint: "the operator decides this in openclaw.json, key " + key,
		}
	}
	return nil
}

// deniedBy is the key of the configuration that takes a tool from the caller, "" = none.
func (s *Service) deniedBy(c Caller, name string) string {
	if ok, key := s.cfg.Load().ToolAllowed(c.Agent, name); !ok {
		return key
	}
	return ""
}

// WireError turns errors of the floors below into what callers see.
func WireError(ctx context.Context, err error) error {
	var wire *protocol.Error
	var limit *session.LimitError
	var dir *host.DirError
	var request *host.RequestError
	kind := protocol.ErrInternal
	switch {
	case errors.As(err, &wire):
		return wire
	case ctx.Err() != nil:
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: "the call was cancelled: " + context.Cause(ctx).Error()}
	case errors.As(err, &limit):
		kind = protocol.ErrLimit
	case errors.As(err, &dir), errors.As(err, &request), isEnvError(err):
		kind = protocol.ErrInvalid
	case errors.Is(err, session.ErrNotFound):
		kind = protocol.ErrNotFound
	case errors.Is(err, session.ErrClosing), errors.Is(err, host.ErrClosed):
		kind = protocol.ErrUnavailable
	case errors.Is(err, session.ErrRunning), errors.Is(err, session.ErrFinished), errors.Is(err, session.ErrNoTTY), errors.Is(err, session.ErrNoStdin), isInputError(err):
		kind = protocol.ErrInvalid
	}
	return &protocol.Error{Type: kind, Message: err.Error()}
}

// stillRuns reports whether the run of an answer is yet to come, goes on in the background,
// or ended less than an answer's life ago.
func (s *Service) stillRuns(ctx context.Context, c Caller, res *protocol.ToolResult) bool {
	r, ok := res.Details.(*protocol.ExecResult)
	if !ok || r.Status != protocol.StatusRunning && r.Status != protocol.StatusApprovalPending {
		return false
	}
	oldest := s.answers.now().Add(-answerLife)
	if r.Approval != nil {
		reg, err := s.Approvals(ctx)
		if err != nil {
			return true // not known: nothing runs twice
		}
		rec, err := reg.Get(r.Approval.ID)
		switch {
		case err != nil:
			return false
		case !rec.Final():
			return true
		case !rec.Decision.Allows():
			return time.UnixMilli(rec.ResolvedMs).After(oldest)
		}
		return !rec.Run.Over() || time.UnixMilli(rec.Run.EndedMs).After(oldest)
	}
	st, err := s.table.Get(ctx, c.Agent, r.SessionID)
	return err == nil && (!st.Finished() || st.Ended.After(oldest))
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
