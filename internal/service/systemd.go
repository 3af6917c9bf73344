package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// systemdCommands are the wishes of systemd. A unit that failed too often is not
// started again until that is forgotten; one that is not loaded has nothing to forget.
func systemdCommands() commands {
	user := func(args ...string) command {
		return command{argv: append([]string{"systemctl", "--user"}, args...)}
	}
	forget := user("reset-failed", unitName)
	forget.maybe = true
	reload := user("daemon-reload")
	return commands{
		install: []command{reload, forget, user("enable", "--now", unitName)},
		disable: []command{user("disable", "--now", unitName)},
		reload:  []command{reload},
		start:   []command{forget, user("start", unitName)},
		stop:    []command{user("stop", unitName)},
		restart: []command{forget, user("restart", unitName)},
	}
}

// systemdState asks for the unit's properties. A unit that is not there is no error of
// show; whatever is one means that the user's manager does not answer.
func (m *Manager) systemdState(ctx context.Context) (State, error) {
	argv := []string{"systemctl", "--user", "show", unitName, "--property=ActiveState,UnitFileState,MainPID"}
	res, err := m.run(ctx, argv...)
	if err != nil {
		return State{}, err
	}
	if res.Code != 0 {
		return State{}, fmt.Errorf("%w: %w", ErrUnreachable, failure(argv, res))
	}
	props := properties(string(res.Stdout))
	s := State{Installed: m.installed(), Enabled: props["UnitFileState"] == "enabled", Active: props["ActiveState"]}
	s.PID, _ = strconv.Atoi(props["MainPID"]) // 0 when it is not there
	if s.Active == "" {
		s.Active = "inactive"
	}
	s.Linger, err = m.linger(ctx)
	return s, err
}

// linger asks whether the user's manager goes on after the last logout. A user whom
// loginctl does not know, or no loginctl at all, leaves the question open.
func (m *Manager) linger(ctx context.Context) (*bool, error) {
	res, err := m.opt.Run(ctx, []string{"loginctl", "show-user", m.opt.User, "--property=Linger"})
	if ctx.Err() != nil {
		return nil, err
	}
	value := properties(string(res.Stdout))["Linger"]
	if err == nil && res.Code == 0 && value != "" {
		on := value == "yes"
		return &on, nil
	}
	return nil, nil
}

// properties reads lines of NAME=value.
func properties(text string) map[string]string {
	props := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			props[name] = value
		}
	}
	return props
}
