package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestC1_Paths(t *testing.T) {
	tests := []struct{ name, home, state, config, wantState, wantPath string }{
		{"home", "/home/u", "", "", "/home/u/.openclaw", "/home/u/.openclaw/openclaw.json"},
		{"state", "/home/u", "/s", "", "/s", "/s/openclaw.json"},
		{"config", "/home/u", "/s", "/c/x.json", "/s", "/c/x.json"},
		{"tilde", "/home/u", "~/st", "~/c.json", "/home/u/st", "/home/u/c.json"},
		{"X-21 no home", "", "/s", "", "/s", "/s/openclaw.json"},
	}
	for _, tt := range tests {
		getenv := env("HOME", tt.home, "OPENCLAW_STATE_DIR", tt.state, "OPENCLAW_CONFIG_PATH", tt.config)
		state, err := StateDir(getenv)
		if err != nil || state != filepath.FromSlash(tt.wantState) {
			t.Errorf("%s: StateDir = %s, %v", tt.name, state, err)
		}
		path, err := Path(getenv)
		if err != nil || path != filepath.FromSlash(tt.wantPath) {
			t.Errorf("%s: Path = %s, %v", tt.name, path, err)
		}
	}
}

func TestX21_NoHome(t *testing.T) {
	// Without HOME the user table decides; either answer must be usable.
	dir, err := StateDir(env("HOME", "relative"))
	if err != nil && !(errors.Is(err, errNoHome) && strings.Contains(err.Error(), "set OPENCLAW_STATE_DIR")) {
		t.Errorf("StateDir = %v", err)
	}
	if err == nil && (!filepath.IsAbs(dir) || filepath.Base(dir) != ".openclaw") {
		t.Errorf("StateDir = %s", dir)
	}
}

func TestRelativeStateDirIsMadeAbsolute(t *testing.T) {
	dir, err := StateDir(env("OPENCLAW_STATE_DIR", "rel"))
	wd, _ := os.Getwd()
	if err != nil || dir != filepath.Join(wd, "rel") {
		t.Errorf("StateDir = %s, %v", dir, err)
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir, env()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(large, env()); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
}
