package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manager is a Manager over answers by the beginning of a command line, and the list of
// what it ran.
type manager struct {
	*Manager
	ran     []string
	answers map[string]Result
	broken  error
}

func newManager(t *testing.T, kind Kind) *manager {
	t.Helper()
	m := &manager{answers: map[string]Result{}}
	m.Manager = New(Options{
		Kind: kind, Home: t.TempDir(), UID: 501, User: "ann", Getenv: func(string) string { return "" },
		Run: func(_ context.Context, argv []string) (Result, error) {
			line := strings.Join(argv, " ")
			m.ran = append(m.ran, line)
			for prefix, res := range m.answers {
				if strings.HasPrefix(line, prefix) {
					return res, nil
				}
			}
			return Result{}, m.broken
		},
	})
	return m
}

// changes are the commands that were not questions.
func (m *manager) changes() string {
	list := slices.DeleteFunc(m.ran, func(line string) bool {
		return strings.Contains(line, " show") || strings.Contains(line, " print")
	})
	m.ran = nil
	return strings.Join(list, "\n")
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		kind      Kind
		xdg, want string
	}{
		{Systemd, "", "/home/ann/.config/systemd/user/openclaw-gateway.service"},
		{Systemd, "/cfg", "/cfg/systemd/user/openclaw-gateway.service"},
		{Systemd, "cfg", "/home/ann/.config/systemd/user/openclaw-gateway.service"},
		{Launchd, "/cfg", "/home/ann/Library/LaunchAgents/ai.openclaw.gateway.plist"},
		{None, "/cfg", ""},
	} {
		m := New(Options{Kind: c.kind, Home: "/home/ann", Getenv: func(string) string { return c.xdg }})
		if got := filepath.ToSlash(m.Path()); got != c.want {
			t.Errorf("%s %q: %s", c.kind, c.xdg, got)
		}
	}
}

const systemdInstall = `systemctl --user daemon-reload
systemctl --user reset-failed openclaw-gateway.service
systemctl --user enable --now openclaw-gateway.service`

const launchdInstall = `launchctl enable gui/501/ai.openclaw.gateway
launchctl bootstrap gui/501 HOME/Library/LaunchAgents/ai.openclaw.gateway.plist
launchctl kickstart gui/501/ai.openclaw.gateway`

func TestInstallAndUninstall(t *testing.T) {
	for _, c := range []struct {
		kind               Kind
		install, uninstall string
	}{
		{Systemd, systemdInstall, "systemctl --user disable --now openclaw-gateway.service\nsystemctl --user daemon-reload"},
		{Launchd, launchdInstall, "launchctl bootout gui/501/ai.openclaw.gateway"},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			m := newManager(t, c.kind)
			m.answers["systemctl --user reset-failed"] = Result{Code: 1} // nothing to forget
			m.answers["launchctl bootstrap"] = Result{Code: alreadyLoaded}
			m.answers["launchctl bootout"] = Result{Code: notFound}
			install := strings.ReplaceAll(c.install, "HOME", m.opt.Home)
			for _, written := range []bool{true, false} { // the second time nothing is to be written
				if got, err := m.Install(t.Context(), plain(), false); err != nil || got != written {
					t.Fatalf("written %v, %v", got, err)
				}
				if got := m.changes(); got != install {
					t.Errorf("ran\n%s\nwant\n%s", got, install)
				}
			}
			d, err := m.Definition()
			want, _ := m.Text(plain())
			if err != nil || !d.Ours || d.StateDir != plain().StateDir || d.Text != want {
				t.Errorf("%+v, %v", d, err)
			}
			if info, err := os.Stat(m.Path()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			for _, removed := range []bool{true, false} {
				if got, err := m.Uninstall(t.Context()); err != nil || got != removed {
					t.Errorf("removed %v, %v", got, err)
				}
			}
			if got := m.changes(); got != c.uninstall {
				t.Errorf("ran\n%s\nwant\n%s", got, c.uninstall)
			}
			if left, _ := os.ReadDir(filepath.Dir(m.Path())); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestInstallRefusesToOverwrite(t *testing.T) {
	m := newManager(t, Systemd)
	other := plain()
	other.Args = nil
	ours, err := UnitText(other)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{"[Service]\nExecStart=/mine\n": ErrForeign, ours: ErrDiffers, ours + "# edited\n": ErrDiffers} {
		if err := write(m.Path(), text); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Install(t.Context(), plain(), false); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if got, _ := os.ReadFile(m.Path()); string(got) != text || m.changes() != "" {
			t.Errorf("it was changed:\n%s", got)
		}
		if written, err := m.Install(t.Context(), plain(), true); err != nil || !written {
			t.Errorf("with force: %v, %v", written, err)
		}
		m.ran = nil
	}
	if err := write(m.Path(), "[Service]\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Uninstall(t.Context()); !errors.Is(err, ErrForeign) || m.changes() != "" {
		t.Errorf("uninstall: %v", err)
	}
}

// Nothing is written where nobody would read it.
func TestUnreachable(t *testing.T) {
	for name, set := range map[string]func(*manager){
		"no program": func(m *manager) { m.broken = errors.New("systemctl: not found") },
		"no bus": func(m *manager) {
			m.answers["systemctl"] = Result{Code: 1, Stderr: []byte("Failed to connect to bus: No medium found\n")}
		},
	} {
		m := newManager(t, Systemd)
		set(m)
		_, err := m.Install(t.Context(), plain(), true)
		if !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Definition(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := newManager(t, None)
	if _, err := m.Install(t.Context(), plain(), true); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	if _, err := m.State(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	if err := m.Stop(t.Context()); !errors.Is(err, ErrUnreachable) || len(m.ran) != 0 {
		t.Error(err, m.ran)
	}
}

func TestControl(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		do   func(*Manager, context.Context) error
		want string
	}{
		{Systemd, (*Manager).Start, "systemctl --user reset-failed openclaw-gateway.service\nsystemctl --user start openclaw-gateway.service"},
		{Systemd, (*Manager).Stop, "systemctl --user stop openclaw-gateway.service"},
		{Systemd, (*Manager).Restart, "systemctl --user reset-failed openclaw-gateway.service\nsystemctl --user restart openclaw-gateway.service"},
		{Launchd, (*Manager).Start, launchdInstall},
		{Launchd, (*Manager).Stop, "launchctl bootout gui/501/ai.openclaw.gateway"},
		{Launchd, (*Manager).Restart, "launchctl kickstart -k gui/501/ai.openclaw.gateway"},
	} {
		m := newManager(t, c.kind)
		if err := c.do(m.Manager, t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := m.changes(), strings.ReplaceAll(c.want, "HOME", m.opt.Home); got != want {
			t.Errorf("%s ran\n%s\nwant\n%s", c.kind, got, want)
		}
	}
	m := newManager(t, Systemd)
	m.answers["systemctl --user stop"] = Result{Code: 5, Stderr: []byte("Unit is\nmasked.\n")}
	if err := m.Stop(t.Context()); err == nil || err.Error() != "systemctl --user stop openclaw-gateway.service: exit code 5: Unit is masked." {
		t.Error(err)
	}
}

func TestSystemdState(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		show, linger string
		lingerCode   int
		want         State
	}{
		"runs":        {"MainPID=77\nActiveState=active\nUnitFileState=enabled\n", "Linger=yes\n", 0, State{Enabled: true, Active: "active", PID: 77, Linger: &yes}},
		"not there":   {"MainPID=0\nActiveState=inactive\nUnitFileState=\n", "Linger=no\n", 0, State{Active: "inactive", Linger: &no}},
		"keeps dying": {"MainPID=0\nActiveState=activating\nUnitFileState=disabled\n", "", 1, State{Active: "activating"}},
		"no answer":   {"", "", 0, State{Active: "inactive"}},
	} {
		m := newManager(t, Systemd)
		m.answers["systemctl --user show"] = Result{Stdout: []byte(c.show)}
		m.answers["loginctl show-user ann"] = Result{Stdout: []byte(c.linger), Code: c.lingerCode}
		got, err := m.State(t.Context())
		sameLinger := (got.Linger == nil) == (c.want.Linger == nil) && (got.Linger == nil || *got.Linger == *c.want.Linger)
		got.Linger, c.want.Linger = nil, nil
		if err != nil || got != c.want || !sameLinger {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

const printed = `gui/501/ai.openclaw.gateway = {
	active count = 1
	path = /Users/ann/Library/LaunchAgents/ai.openclaw.gateway.plist
	type = LaunchAgent
	state = running

	program = /usr/local/bin/openclaw
	pid = 4242
	endpoints = {
		pid = 1
		state = waiting
	}
}
`

func TestLaunchdState(t *testing.T) {
	for name, c := range map[string]struct {
		print    Result
		disabled string
		want     State
	}{
		"runs":       {Result{Stdout: []byte(printed)}, "", State{Enabled: true, Installed: true, Active: "active", PID: 4242}},
		"not loaded": {Result{Code: notFound}, "\t\"ai.openclaw.gateway\" => disabled\n", State{Installed: true, Active: "inactive"}},
		"enabled":    {Result{Code: notFound}, "\t\"ai.openclaw.gateway\" => enabled\n\t\"other\" => disabled\n", State{Installed: true, Enabled: true, Active: "inactive"}},
	} {
		m := newManager(t, Launchd)
		if err := write(m.Path(), "x"); err != nil {
			t.Fatal(err)
		}
		m.answers["launchctl print gui"] = c.print
		m.answers["launchctl print-disabled gui/501"] = Result{Stdout: []byte(c.disabled)}
		if got, err := m.State(t.Context()); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	m := newManager(t, Launchd)
	m.answers["launchctl print"] = Result{Code: 125, Stderr: []byte("Domain does not support specified action")}
	if _, err := m.State(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
}

func TestRunning(t *testing.T) {
	for active, want := range map[string]bool{"active": true, "activating": true, "failed": false, "inactive": false, "deactivating": false, "": false} {
		if got := (State{Active: active}).Running(); got != want {
			t.Errorf("%s: %v", active, got)
		}
	}
}
