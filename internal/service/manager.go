package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is a service manager.
type Kind string

// The kinds there are; None is a system whose manager we do not know.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
	None    Kind = "none"
)

// Result is how a command ended.
type Result struct {
	Code           int
	Stdout, Stderr []byte
}

// Run runs a command, given as program and arguments, to its end. Every exit code is a
// Result; an error means that it could not run.
type Run func(ctx context.Context, argv []string) (Result, error)

// Options of a Manager. Home, Getenv and Run are required.
type Options struct {
	Kind   Kind
	Home   string              // the user's home folder, absolute
	UID    int                 // numeric user id, for launchd's domain
	User   string              // name, for loginctl
	Getenv func(string) string // XDG_CONFIG_HOME counts
	Run    Run
}

// Manager controls the one service there is. It keeps no state: each call asks.
type Manager struct {
	opt      Options
	commands commands
	path     string
}

// New makes a Manager. It neither reads nor runs anything.
func New(opt Options) *Manager {
	m := &Manager{opt: opt}
	switch opt.Kind {
	case Systemd:
		dir := opt.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(dir) { // the base directory rules say to ignore others
			dir = filepath.Join(opt.Home, ".config")
		}
		m.path = filepath.Join(dir, "systemd", "user", unitName)
		m.commands = systemdCommands()
	case Launchd:
		m.path = filepath.Join(opt.Home, "Library", "LaunchAgents", agentLabel+".plist")
		m.commands = launchdCommands(m.domain(), m.path)
	}
	return m
}

// Path is the definition file, there or not; "" when the system has no manager.
func (m *Manager) Path() string { return m.path }

// Kind says which manager it is.
func (m *Manager) Kind() Kind { return m.opt.Kind }

// Text is the definition that Install would write.
func (m *Manager) Text(s Spec) (string, error) {
	switch m.opt.Kind {
	case Systemd:
		return UnitText(s)
	case Launchd:
		return PlistText(s)
	}
	return "", m.none()
}

// Definition reads the file that is there; the error of a missing one wraps
// fs.ErrNotExist.
func (m *Manager) Definition() (Definition, error) {
	if m.path == "" {
		return Definition{}, fs.ErrNotExist
	}
	return read(m.path)
}

// Install writes the definition and has the service started, now and at each login. A
// file of somebody else (ErrForeign) or with another text (ErrDiffers) is replaced only
// with force. Written is false when the same text was there. A service that runs keeps
// running as it is. Nothing is written while the manager cannot be reached.
func (m *Manager) Install(ctx context.Context, s Spec, force bool) (written bool, err error) {
	text, err := m.Text(s)
	if err != nil {
		return false, err
	}
	if _, err := m.State(ctx); err != nil {
		return false, err
	}
	have, err := m.Definition()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		written = true
	case err != nil && !force:
		return false, err
	case have.Text == text:
	case !have.Ours && !force:
		return false, fmt.Errorf("%s %w", m.path, ErrForeign)
	case !force:
		return false, fmt.Errorf("%s %w", m.path, ErrDiffers)
	default:
		written = true
	}
	if written {
		if err := write(m.path, text); err != nil {
			return false, err
		}
	}
	return written, m.all(ctx, m.commands.install)
}

// Uninstall stops the service and takes its definition away; removed is false when
// there was none. A file of somebody else stays (ErrForeign).
func (m *Manager) Uninstall(ctx context.Context) (removed bool, err error) {
	have, err := m.Definition()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !have.Ours:
		return false, fmt.Errorf("%s %w", m.path, ErrForeign)
	}
	if _, err := m.State(ctx); err != nil {
		return false, err
	}
	if err := m.all(ctx, m.commands.disable); err != nil {
		return false, err
	}
	if err := remove(m.path); err != nil {
		return false, err
	}
	return true, m.all(ctx, m.commands.reload)
}

// Start starts the service; one that runs is left alone.
func (m *Manager) Start(ctx context.Context) error { return m.all(ctx, m.commands.start) }

// Stop ends the daemon, waits until it has ended, and leaves the definition: the next
// login starts it again. Processes that the daemon started go on.
func (m *Manager) Stop(ctx context.Context) error { return m.all(ctx, m.commands.stop) }

// Restart ends the daemon and starts it from its definition.
func (m *Manager) Restart(ctx context.Context) error { return m.all(ctx, m.commands.restart) }

// State is how the service stands.
type State struct {
	Installed bool   `json:"installed"`     // its definition file is there
	Enabled   bool   `json:"enabled"`       // it starts at login
	Active    string `json:"active"`        // "active", "inactive", "failed", "activating" or "deactivating"
	PID       int    `json:"pid,omitempty"` // of the daemon; 0 = none runs

	// Linger says whether the user's services go on after the last logout; nil = not
	// known, or no such thing here.
	Linger *bool `json:"linger,omitempty"`
}

// Running says whether the manager keeps a daemon running, or is about to start one.
func (s State) Running() bool {
	return s.Active == "active" || s.Active == "activating" || s.Active == "reloading"
}

// State asks how the service stands; ErrUnreachable when the manager does not answer.
func (m *Manager) State(ctx context.Context) (State, error) {
	switch m.opt.Kind {
	case Systemd:
		return m.systemdState(ctx)
	case Launchd:
		return m.launchdState(ctx)
	}
	return State{}, m.none()
}

func (m *Manager) none() error {
	return fmt.Errorf("%w: this system has none that openclaw knows", ErrUnreachable)
}

func (m *Manager) installed() bool {
	_, err := m.Definition()
	return !errors.Is(err, fs.ErrNotExist)
}

// commands are what each wish takes, as data.
type commands struct{ install, disable, reload, start, stop, restart []command }

// command is a command line and the exit codes, beside 0, that are as good.
type command struct {
	argv  []string
	fine  []int
	maybe bool // any exit code will do
}

// all runs commands one after the other, up to the first that does not end well.
func (m *Manager) all(ctx context.Context, list []command) error {
	if m.path == "" {
		return m.none()
	}
	for _, c := range list {
		res, err := m.run(ctx, c.argv...)
		if err != nil {
			return err
		}
		if res.Code != 0 && !c.maybe && !slices.Contains(c.fine, res.Code) {
			return failure(c.argv, res)
		}
	}
	return nil
}

// run runs a command of the manager. A program that is not there means that there is no
// manager.
func (m *Manager) run(ctx context.Context, argv ...string) (Result, error) {
	res, err := m.opt.Run(ctx, argv)
	if err != nil && ctx.Err() == nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return res, err
}

// failure is the error of a command that ended badly, with what it said.
func failure(argv []string, res Result) error {
	said := strings.TrimSpace(string(res.Stderr))
	if said == "" {
		said = strings.TrimSpace(string(res.Stdout))
	}
	err := fmt.Errorf("%s: exit code %d", strings.Join(argv, " "), res.Code)
	if said != "" {
		err = fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(said), " "))
	}
	return err
}
