package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"openclaw/internal/proc"
	"openclaw/internal/service"
)

// ownService is the installed service as far as it concerns one state directory. The
// state is all zero when no service is installed for it, or its manager is silent.
type ownService struct {
	*service.Manager
	state     service.State
	installed bool
	problem   error // wraps service.ErrUnreachable: the state is not known
}

// service looks at the service. One for another state directory is not ours to stop: a
// person with two daemons means the one that OPENCLAW_STATE_DIR names.
func (e *Env) service(ctx context.Context, stateDir string) (ownService, error) {
	m, err := e.manager()
	if err != nil {
		return ownService{}, err
	}
	s := ownService{Manager: m}
	d, err := m.Definition()
	if errors.Is(err, fs.ErrNotExist) || err == nil && d.StateDir != stateDir {
		return s, nil
	}
	if err != nil {
		return ownService{}, err
	}
	s.installed = true
	s.state, err = m.State(ctx)
	if errors.Is(err, service.ErrUnreachable) {
		s.problem = err
		return s, nil
	}
	return s, err
}

// runsNow asks once more.
func (s ownService) runsNow(ctx context.Context) bool {
	now, err := s.State(ctx)
	return err != nil || now.Running() // what is not known may still come
}

// log names where the service's daemon writes what it does.
func (s ownService) log() string {
	if s.Kind() == service.Launchd {
		return "gateway.log in the state directory"
	}
	return "journalctl --user -u " + filepath.Base(s.Path())
}

// manager makes the service manager's control for this user.
func (e *Env) manager() (*service.Manager, error) {
	home, name := e.Getenv("HOME"), ""
	u, err := user.Current()
	if err == nil {
		name = u.Username
	}
	if !filepath.IsAbs(home) {
		if err != nil || !filepath.IsAbs(u.HomeDir) {
			return nil, hint("set HOME", "find the service manager's folder: no home folder is known")
		}
		home = u.HomeDir
	}
	return service.New(service.Options{
		Kind: service.Here(), Home: home, UID: os.Getuid(), User: name, Getenv: e.Getenv,
		Run: func(ctx context.Context, argv []string) (service.Result, error) {
			res, err := proc.Run(ctx, argv, e.managerEnv())
			return service.Result{Code: res.Code, Stdout: res.Stdout, Stderr: res.Stderr}, err
		},
	}), nil
}

// managerEnv is the environment for systemctl and its like. After su or sudo nothing
// says where the user's bus is, though it is always in the same place.
func (e *Env) managerEnv() []string {
	env := e.inherited()
	if e.Getenv("XDG_RUNTIME_DIR") != "" {
		return env
	}
	dir := runtimeDir()
	if _, err := os.Stat(filepath.Join(dir, "bus")); err != nil {
		return env
	}
	return append(env, "XDG_RUNTIME_DIR="+dir)
}

func runtimeDir() string { return "/run/user/" + strconv.Itoa(os.Getuid()) }

// noManager adds to an error of an unreachable manager what to do instead.
func (e *Env) noManager(err error) error {
	if !errors.Is(err, service.ErrUnreachable) {
		return err
	}
	switch service.Here() {
	case service.Systemd:
		return hint("log in with a session of your own, or on a server: "+lingerCommand()+" and XDG_RUNTIME_DIR="+runtimeDir()+
			"; without systemd: openclaw gateway run under a supervisor of yours, or nohup openclaw gateway run &", "%w", err)
	case service.Launchd:
		return hint("log in at the screen, or run openclaw gateway run under a supervisor of yours", "%w", err)
	}
	return hint("run openclaw gateway run under a supervisor of yours", "%w", err)
}

// lingerCommand makes the user's services go on after the last logout.
func lingerCommand() string {
	name := "$USER"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	command := "loginctl enable-linger " + name
	if os.Getuid() != 0 {
		command = "sudo " + command
	}
	return strings.TrimSpace(command)
}
