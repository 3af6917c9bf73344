package config

import (
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"
)

// StateDir is the folder that holds everything of ours: $OPENCLAW_STATE_DIR, else
// ~/.openclaw. It need not exist. With OPENCLAW_STATE_DIR set no home folder is needed
// otherwise an unknown home folder is an error. The path is absolute.
func StateDir(getenv func(string) string) (string, error) {
	if dir := strings.TrimSpace(getenv("OPENCLAW_STATE_DIR")); dir != "" {
		return absolute(dir, "OPENCLAW_STATE_DIR", getenv)
	}
	home, err := homeDir(getenv)
	if err != nil {
		return "", fmt.Errorf("find the state folder: %w; set OPENCLAW_STATE_DIR", err)
	}
	return filepath.Join(home, ".openclaw"), nil
}

// Path is the configuration file: $OPENCLAW_CONFIG_PATH, else openclaw.json in
// StateDir (C-1). It need not exist. The path is absolute.
func Path(getenv func(string) string) (string, error) {
	if path := strings.TrimSpace(getenv("OPENCLAW_CONFIG_PATH")); path != "" {
		return absolute(path, "OPENCLAW_CONFIG_PATH", getenv)
	}
	dir, err := StateDir(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "openclaw.json"), nil
}

func absolute(path, name string, getenv func(string) string) (string, error) {
	if isTilde(path) {
		home, err := homeDir(getenv)
		if err != nil {
			return "", fmt.Errorf("expand %s=%s: %w; give an absolute path", name, path, err)
		}
		path = expand(path, home)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s=%s: %w; give an absolute path", name, path, err)
	}
	return abs, nil
}

var errNoHome = errors.New("no home folder is known")

// homeDir is $HOME (Windows: %USERPROFILE%), else what the system's user table says. A
// relative HOME would move with the working directory and is not used.
func homeDir(getenv func(string) string) (string, error) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := getenv(name); filepath.IsAbs(home) {
			return filepath.Clean(home), nil
		}
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("%w: HOME is not set and %w", errNoHome, err)
	}
	if !filepath.IsAbs(u.HomeDir) {
		return "", fmt.Errorf("%w: HOME is not set and user %s has none", errNoHome, u.Username)
	}
	return filepath.Clean(u.HomeDir), nil
}

// isTilde reports whether path means the home folder or something in it. "~name",
// another user's home, does not.
func isTilde(path string) bool {
	return path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`)
}

func expand(path, home string) string {
	if !isTilde(path) {
		return path
	}
	return filepath.Join(home, path[1:])
}
