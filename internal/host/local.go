package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"openclaw/internal/policy"
)

// Options makes a Local.
type Options struct {
	StateDir     string           // $OPENCLAW_STATE_DIR, absolute; "" = nothing on disk, so no snapshots
	Environ      []string         // the daemon's environment, "NAME=value"
	OwnPath      bool             // keep the PATH of Environ as it is and ask no login shell (no daemon: P-32)
	Run          Runner           // nil = the login shell is not asked: minimal PATH with a warning
	CaptureLimit time.Duration    // for the login shell and all that belongs to it; 0 = 10 s
	Now          func() time.Time // nil = time.Now
}

// Local is this machine as a place for commands. All methods may be called at once from
// many goroutines. Close ends it.
type Local struct {
	opt      Options
	getenv   func(string) string
	home     string // operator's; "" = none
	shell    Shell  // for commands
	shellErr error  // why there is none
	plain    Shell  // for approved text (P-61)
	plainErr error
	login    Shell     // whose PATH commands get
	base     []string  // BaseEnv of the daemon's environment
	scrubbed []string  // base for judged commands (P-60)
	own      *loginEnv // with Options.OwnPath, else nil
	snapshot bool      // OPENCLAW_EXEC_SHELL_SNAPSHOT is not 0

	mu        sync.Mutex // guards what follows; nothing is called while it is held
	cur       *loginEnv
	flight    *flight
	nextCheck time.Time
	closed    bool
	wg        sync.WaitGroup // the goroutine of flight
}

// loginEnv is what commands take from the login shell. It does not change once made.
type loginEnv struct {
	fingerprint string
	zdotdir     string
	path        []string          // the login shell's entries, then the minimal ones
	vars        map[string]string // from the start-up files, for unjudged runs
	base        []string          // Local.base with vars
	snapshot    string            // file, "" = none
	warnings    []string          // for every command: PATH is not what the operator has
	notes       []string          // for commands that would have had a snapshot
	failedAt    time.Time         // zero = the shell answered
}

// flight is one capture that callers share.
type flight struct {
	done     chan struct{} // closed after Local.cur is set
	cancel   context.CancelFunc
	blocking bool // callers wait for it; else the old answer is good enough meanwhile
}

const (
	checkEvery   = time.Second      // how often start-up files are looked at, at most
	retryAfter   = 60 * time.Second // after a failed capture
	captureTime  = 10 * time.Second // default of Options.CaptureLimit
	noRunnerText = "this daemon has no way to ask the login shell"
)

// ErrClosed is returned by a Local after Close.
var ErrClosed = errors.New("host is closed")

// New looks at the environment and picks the shells. It starts nothing; the login shell is
// asked by the first call that needs its PATH. A machine without a shell makes no error
// here but in Prepare: the daemon has other work too.
func New(o Options) *Local {
	if o.CaptureLimit <= 0 {
		o.CaptureLimit = captureTime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if !filepath.IsAbs(o.StateDir) {
		o.StateDir = ""
	}
	getenv := getenvFrom(o.Environ)
	look := lookPathIn(append(MinimalPath(), filepath.SplitList(getenv("PATH"))...))
	l := &Local{opt: o, getenv: getenv, home: findHome(getenv)}
	l.shell, l.shellErr = ChooseShell(getenv, look)
	l.plain, l.plainErr = choosePlainShell(getenv, look)
	l.login = l.shell
	if own := getenv("SHELL"); shellKind(own) == KindFish && filepath.IsAbs(own) {
		if _, err := look(own); err == nil {
			l.login = Shell{Path: own, Kind: KindFish} // runs no command, but knows the operator's PATH
		}
	}
	l.base = BaseEnv(o.Environ, l.home)
	l.scrubbed = policy.Scrub(l.base)
	switch getenv("OPENCLAW_EXEC_SHELL_SNAPSHOT") {
	case "0", "false", "off":
	default:
		l.snapshot = o.StateDir != ""
	}
	if o.OwnPath {
		l.own = &loginEnv{path: filepath.SplitList(getenv("PATH")), base: l.base}
	}
	return l
}

// Close ends a capture that is under way and waits for it. Calls that still wait get the
// minimal PATH; later ones ErrClosed.
func (l *Local) Close() {
	l.mu.Lock()
	l.closed = true
	if l.flight != nil {
		l.flight.cancel()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// Shell is the shell that unjudged commands run in; the error wraps ErrNoShell.
func (l *Local) Shell() (Shell, error) { return l.shell, l.shellErr }

// PlainShell is the shell that text runs in which a person approved as it stands (P-61).
func (l *Local) PlainShell() (Shell, error) { return l.plain, l.plainErr }

// Home is the operator's home directory, "" if there is none.
func (l *Local) Home() string { return l.home }

// Path is the PATH that commands get now, for the look-ups of P-32. The first call
// may take as long as Options.CaptureLimit; ctx ends the waiting, not the capture.
func (l *Local) Path(ctx context.Context, prepend []string) (path string, warnings []string, err error) {
	env, err := l.loginEnv(ctx)
	if err != nil {
		return "", nil, err
	}
	path, warnings = l.joinPath(env, prepend)
	return path, append(warnings, env.warnings...), nil
}

// JudgedEnv is the environment of a command allowed by the allowlist (P-60): the
// operator's without X-10's table, with PATH. The request's own variables are not in it.
func (l *Local) JudgedEnv(ctx context.Context, prepend []string) (environ, warnings []string, err error) {
	path, warnings, err := l.Path(ctx, prepend)
	if err != nil {
		return nil, nil, err
	}
	return append(l.scrubbed[:len(l.scrubbed):len(l.scrubbed)], "PATH="+path), warnings, nil
}

func (l *Local) joinPath(env *loginEnv, prepend []string) (path string, warnings []string) {
	if len(prepend) == 0 {
		return strings.Join(env.path, listSep), nil
	}
	dirs, warnings := expandPrepend(prepend, l.home)
	return strings.Join(mergePath(dirs, env.path), listSep), warnings
}

// loginEnv returns what is known of the login shell: at once when it is younger than a
// second or no start-up file has changed since, else after a capture that all callers share.
func (l *Local) loginEnv(ctx context.Context) (*loginEnv, error) {
	if l.own != nil {
		return l.own, nil
	}
	l.mu.Lock()
	now := l.opt.Now()
	if l.closed {
		l.mu.Unlock()
		return nil, ErrClosed
	}
	if l.cur == nil && l.flight == nil {
		l.startFlight(ctx, true)
	}
	if f := l.flight; f != nil && f.blocking {
		l.mu.Unlock()
		return l.wait(ctx, f)
	}
	cur := l.cur
	if now.Before(l.nextCheck) || !hasLogin {
		l.mu.Unlock()
		return cur, nil
	}
	l.nextCheck = now.Add(checkEvery)
	l.mu.Unlock()

	changed := fingerprint(l.shell, l.login, l.home, cur.zdotdir) != cur.fingerprint || cur.snapshotGone()
	retry := !cur.failedAt.IsZero() && now.Sub(cur.failedAt) >= retryAfter
	if !changed && !retry {
		return cur, nil
	}
	l.mu.Lock()
	f := l.flight
	if f == nil && l.cur == cur && !l.closed {
		// A retry is not waited for: a start-up file that hangs would hold up one
		// command a minute.
		f = l.startFlight(ctx, changed)
	}
	cur = l.cur
	l.mu.Unlock()
	if f != nil && f.blocking {
		return l.wait(ctx, f)
	}
	return cur, nil
}

// startFlight begins a capture; l.mu is held. The capture belongs to l, not to the caller.
func (l *Local) startFlight(ctx context.Context, blocking bool) *flight {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.opt.CaptureLimit)
	f := &flight{done: make(chan struct{}), cancel: cancel, blocking: blocking}
	first := l.cur == nil
	l.flight = f
	l.wg.Go(func() {
		defer cancel()
		env := l.ask(ctx, first)
		l.mu.Lock()
		l.cur, l.flight = env, nil
		l.nextCheck = l.opt.Now().Add(checkEvery)
		l.mu.Unlock()
		close(f.done)
	})
	return f
}

func (l *Local) wait(ctx context.Context, f *flight) (*loginEnv, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cur, nil
}
