package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/event"
	"openclaw/internal/identity"
	"openclaw/internal/safefile"
	"openclaw/internal/session"
	"openclaw/internal/state"
	"openclaw/internal/tool"
)

const (
	headerTimeout = 10 * time.Second // to send the request's head
	bodyTimeout   = 30 * time.Second // to send its body
	idleTimeout   = 2 * time.Minute  // between two requests of a connection
	maxHeader     = 64 << 10         // bytes
	drainTimeout  = 5 * time.Second  // for answers that are on their way at the end
	stopGrace     = time.Second      // for a client to take a piece of an answer then
	eventHistory  = 4096             // events kept for listeners that come back
)

// Options of the daemon. Config, StateDir, Getenv and Environ are required.
type Options struct {
	Config   *config.Config
	StateDir string              // absolute
	Getenv   func(string) string // for re-reading the configuration
	Environ  []string            // the environment that commands inherit
	Program  string              // absolute path of our own program, "" = not known
	Log      *slog.Logger        // nil = nothing is logged
	LogTail  *LogTail            // what logs.tail answers from; nil = from nothing
	Version  string
	Ready    func(Info) // called once when calls are taken; may be nil

	// Sessions opens where commands run; see tool.Options. Nil = in this process.
	Sessions func(dir string, onEnd func(session.End)) (tool.Sessions, error)
}

// Info is where a daemon can be reached.
type Info struct {
	URL  string // "http://127.0.0.1:18789", for a client on this machine
	Addr string // what it listens on, "0.0.0.0:18789"
	PID  int

	// Fingerprint is the SHA-256 of the TLS certificate in hex; "" = no TLS.
	Fingerprint string
}

// Run is the daemon: it listens, serves and blocks until ctx ends; then it takes no new
// calls, ends the foreground commands (and the others, if sessions live in this process),
// lets answers go out and returns nil. Any other
// end is an error that says what is in the way: another daemon of the same state
// directory, a port that is taken, a secret file that cannot be trusted.
func Run(ctx context.Context, opt Options) error {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if err := checkOptions(opt.Config); err != nil {
		return err
	}
	place, err := claim(opt.StateDir)
	if err != nil {
		return err
	}
	defer place.release(opt.Log)
	secure, err := openTLS(opt.Config.Gateway, opt.StateDir)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, opt.Config.Gateway)
	if err != nil {
		return err
	}
	s := newServer(opt, listener.Addr().(*net.TCPAddr), secure)
	if secure != nil {
		listener = tls.NewListener(listener, secure.config)
	}

	// Listening comes first: a probe gets "not ready" instead of a refused connection,
	// and taking over what a dead daemon left can take a while (S-8).
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(opt.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { failed <- web.Serve(listener) })
	err = s.live(ctx, web, place, failed)
	s.shutdown(web)
	serving.Wait()
	return err
}

// checkOptions refuses what would be unsafe to run, whoever wrote the configuration.
func checkOptions(cfg *config.Config) error {
	g := cfg.Gateway
	if g.Auth.Mode == "none" && !g.Loopback() {
		return errors.New("gateway.auth.mode none is refused when gateway.bind reaches beyond this machine; use token or password")
	}
	return nil
}

// live opens what stands behind the routes and serves until ctx ends or serving fails.
func (s *server) live(ctx context.Context, web *http.Server, place *place, failed <-chan error) error {
	tokens, err := openTokens(s.opt)
	if err != nil {
		return err
	}
	if err := safefile.Dir(filepath.Join(s.opt.StateDir, "exec")); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	sessions := s.opt.Sessions
	if sessions == nil {
		sessions = tool.InProcess(true)
	}
	bus, err := event.Open(time.Now, filepath.Join(s.opt.StateDir, "exec", "events.jsonl"), eventHistory)
	if err != nil {
		return err
	}
	defer bus.Close()
	durable := &durable{path: state.PathIn(s.opt.StateDir)}
	defer func() {
		if err := durable.close(); err != nil {
			s.opt.Log.Error("close the store", "err", err)
		}
	}()
	service, err := tool.Open(tool.Options{
		Config: s.opt.Config, StateDir: s.opt.StateDir, Getenv: s.opt.Getenv, Environ: s.opt.Environ,
		Log: s.opt.Log, Events: bus, Sessions: sessions, Program: s.opt.Program,
		Store: func(ctx context.Context) (approval.Store, func() error, error) {
			st, err := durable.open(ctx)
			return st, func() error { return nil }, err
		},
	})
	if err != nil {
		return fmt.Errorf("open the call path: %w", err)
	}
	defer func() {
		if err := service.Close(); err != nil {
			s.opt.Log.Error("close the call path", "err", err)
		}
	}()
	defer s.shutdown(web) // before the service goes: calls still stand in it
	s.unannounced.Store(true)
	s.open(backend{tools: service, table: service.Sessions(), tokens: tokens, bus: bus, reload: service.Reload, approvals: service.Approvals, document: approval.NewFile(s.opt.StateDir), devices: durable.devices, durable: durable})
	switch err := place.announce(s.info, s.opt.Version, s.started); {
	case errors.Is(err, syscall.ENOSPC): // who knows the address is served
		s.opt.Log.Error("the disk is full; programs on this machine do not find the gateway by themselves", "url", s.info.URL, "err", err)
	case err != nil:
		return err
	}
	s.unannounced.Store(false)
	if s.opt.Ready != nil {
		s.opt.Ready(s.info)
	}
	s.opt.Log.Info("gateway ready", "url", s.info.URL, "listen", s.info.Addr, "auth", s.opt.Config.Gateway.Auth.Mode)
	s.workers.Go(func() { service.Warm(s.closing) })
	s.workers.Go(func() { s.openApprovals(service) })
	s.workers.Go(s.tick)
	s.workers.Go(func() { s.watchConfig() })
	select {
	case <-ctx.Done():
		s.opt.Log.Info("gateway stopping")
		return nil
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", s.info.Addr, err)
	}
}

// openApprovals opens the store behind the start, so that what an earlier program left is
// shown and expires; without it nothing is asked, and commands that need no answer run on.
func (s *server) openApprovals(service *tool.Service) {
	reg, err := service.Approvals(s.closing)
	if err != nil {
		if s.closing.Err() == nil {
			s.opt.Log.Error("approvals", "err", err)
		}
		return
	}
	if n, err := reg.Trim(s.closing); err != nil && s.closing.Err() == nil {
		s.opt.Log.Warn("the history of approvals is not trimmed", "err", err)
	} else if n > 0 {
		s.opt.Log.Info("the history of approvals was trimmed", "dropped", n)
	}
}

// openTokens opens the credentials with the operator's secret that the configuration
// gives, if it gives one (C-6).
func openTokens(opt Options) (*identity.Store, error) {
	tokens, err := identity.Open(opt.StateDir)
	if err != nil {
		return nil, err
	}
	auth := opt.Config.Gateway.Auth
	if auth.Mode == "password" && auth.Password.IsSet() {
		return tokens.WithOperatorToken(auth.Password.Reveal()), nil
	}
	return tokens.WithOperatorToken(auth.Token.Reveal()), nil
}
