package gateway

import (
	"context"
	"strings"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
)

// watchConfig follows the configuration file until the gateway stops (C-3).
func (s *server) watchConfig() {
	err := config.Watch(s.closing, s.opt.Config, s.opt.Getenv, func(cfg *config.Config, err error) {
		if err != nil {
			s.opt.Log.Error("configuration not taken; the last good one stays in force", "err", err)
			return
		}
		s.apply(cfg)
	})
	if err != nil {
		s.opt.Log.Error("changes of the configuration are not noticed until a restart", "err", err)
	}
}

// apply makes later calls use cfg and returns the keys that wait for a restart. What
// was in force at the start stays so for these; a file that lost its sign-in settings
// changes nobody's rights (C-6).
func (s *server) apply(cfg *config.Config) (restart []string) {
	s.applying.Lock()
	defer s.applying.Unlock()
	kept := cfg.KeepAuth(s.opt.Config)
	restart = config.RestartNeeded(s.opt.Config, cfg)
	// The listener, the operator's secret and the limits are the start's; the mode has
	// to go with them.
	cfg.Gateway.Auth = s.opt.Config.Gateway.Auth
	s.cfg.Store(cfg)
	s.guard.Store(newGuard(s.addr, cfg.Gateway.ControlUI.AllowedOrigins))
	s.backend.Load().reload(cfg)
	s.opt.Log.Info("configuration taken", "file", cfg.File)
	if kept {
		s.opt.Log.Warn("the file has no gateway.auth any more; the running one stays until a restart")
	}
	if len(restart) > 0 {
		s.opt.Log.Warn("takes effect after a restart", "keys", strings.Join(restart, " "))
	}
	for _, w := range cfg.Warnings {
		s.opt.Log.Warn("configuration", "warning", w)
	}
	return restart
}

// methodConfigReload reads the file at once, for those who do not want to wait for the
// watcher or whose file system sends no changes.
func (s *server) methodConfigReload(_ context.Context, _ *backend, _ none) (any, error) {
	cfg, err := config.Load(s.opt.Config.File, s.opt.Getenv)
	if err != nil {
		return nil, &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error(), Hint: "the last good configuration stays in force"}
	}
	if s.cfg.Load().Exists && !cfg.Exists {
		return nil, &protocol.Error{Type: protocol.ErrNotFound, Message: cfg.File + " has gone", Hint: "what it said stays in force until a restart"}
	}
	return struct {
		Restart  []string `json:"restartNeeded"`
		Warnings []string `json:"warnings"`
	}{append([]string{}, s.apply(cfg)...), append([]string{}, cfg.Warnings...)}, nil
}
