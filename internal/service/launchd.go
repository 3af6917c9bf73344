package service

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Exit codes of launchctl that say "it is so already".
const (
	notLoaded     = 3   // bootout: no such process
	notFound      = 113 // print, bootout: could not find service
	inProgress    = 36  // bootout: it is ending
	alreadyLoaded = 37  // bootstrap: operation already in progress
	inputOutput   = 5   // bootstrap: loaded already, among other things
)

// domain is where the user's agents live.
func (m *Manager) domain() string { return "gui/" + strconv.Itoa(m.opt.UID) }

// launchdCommands are the wishes of launchd. Bootstrap does not tell "loaded already"
// from other faults in a way that lasts over its versions: the kickstart after it does,
// which fails when nothing is loaded and else leaves a running service alone.
func launchdCommands(domain, path string) commands {
	target := domain + "/" + agentLabel
	start := []command{
		{argv: []string{"launchctl", "enable", target}},
		{argv: []string{"launchctl", "bootstrap", domain, path}, fine: []int{alreadyLoaded, inputOutput}},
		{argv: []string{"launchctl", "kickstart", target}},
	}
	bootout := command{argv: []string{"launchctl", "bootout", target}, fine: []int{notLoaded, notFound, inProgress}}
	return commands{
		install: start,
		disable: []command{bootout},
		start:   start,
		stop:    []command{bootout},
		restart: []command{{argv: []string{"launchctl", "kickstart", "-k", target}}},
	}
}

// launchdState reads what print says of the agent. Its text is meant for people; the
// three facts taken from it have kept their form.
func (m *Manager) launchdState(ctx context.Context) (State, error) {
	target := m.domain() + "/" + agentLabel
	argv := []string{"launchctl", "print", target}
	res, err := m.run(ctx, argv...)
	if err != nil {
		return State{}, err
	}
	s := State{Installed: m.installed(), Active: "inactive"}
	if res.Code != 0 && !slices.Contains([]int{notLoaded, notFound}, res.Code) {
		return State{}, fmt.Errorf("%w: %w", ErrUnreachable, failure(argv, res))
	}
	if res.Code == 0 {
		s.readPrint(string(res.Stdout))
	}
	disabled, err := m.run(ctx, "launchctl", "print-disabled", m.domain())
	if err != nil {
		return State{}, err
	}
	s.Enabled = s.Installed && !isDisabled(string(disabled.Stdout))
	return s, nil
}

// readPrint takes state and pid from the agent's own level; deeper ones speak of others.
func (s *State) readPrint(text string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\t\t") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch name {
		case "state":
			if value == "running" {
				s.Active = "active"
			}
		case "pid":
			s.PID, _ = strconv.Atoi(value) // 0 when it makes no sense
		}
	}
}

// isDisabled says whether print-disabled lists the agent as switched off.
func isDisabled(text string) bool {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if ok && strings.Trim(name, `"`) == agentLabel {
			return value == "disabled" || value == "true"
		}
	}
	return false
}
