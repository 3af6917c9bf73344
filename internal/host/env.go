package host

import (
	"os/user"
	"path/filepath"
	"strings"
)

// keptOwn are the variables of ours that a command may see: with them a command that
// calls our own binary reaches the same state. All others stay with the daemon. Keeping
// a list of what may pass, not of what may not, is why a new secret cannot leak.
var keptOwn = map[string]bool{"OPENCLAW_STATE_DIR": true, "OPENCLAW_CONFIG_PATH": true}

// dropped are inherited variables that no command gets: start-up files for shells, which
// would run before the command; and the service manager's line to the daemon, through
// which a command could declare the daemon ready, dead, or read its credentials.
var dropped = map[string]bool{
	"BASH_ENV": true, "ENV": true,
	"NOTIFY_SOCKET": true, "LISTEN_FDS": true, "LISTEN_PID": true, "LISTEN_FDNAMES": true,
	"WATCHDOG_PID": true, "WATCHDOG_USEC": true, "MAINPID": true, "CREDENTIALS_DIRECTORY": true,
	"PWD": true, "OLDPWD": true, // the daemon's directory, not the command's
}

// BaseEnv makes the environment of commands from the daemon's own: without
// PATH (added for each run), without our own variables but the two that name the state,
// without what is in dropped, with OPENCLAW_SHELL=exec, and with HOME = home where there
// is none. home may be "": then HOME stays out. environ is not changed.
func BaseEnv(environ []string, home string) []string {
	out := make([]string, 0, len(environ)+2)
	hasHome := false
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || strings.ContainsRune(entry, 0) {
			continue // Windows' hidden "=C:=..." entries are the daemon's, too
		}
		key := envKey(name)
		if key == "PATH" || dropped[key] || strings.HasPrefix(key, "OPENCLAW_") && !keptOwn[key] {
			continue
		}
		hasHome = hasHome || key == "HOME"
		out = append(out, entry)
	}
	if !hasHome && home != "" {
		out = append(out, "HOME="+home)
	}
	return append(out, "OPENCLAW_SHELL=exec")
}

// envKey is the form of a name in which equal names are equal on this machine.
func envKey(name string) string {
	if foldEnv {
		return strings.ToUpper(name)
	}
	return name
}

// getenvFrom looks up a name in environ; the last entry wins, as it does for most programs.
func getenvFrom(environ []string) func(string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if n, value, ok := strings.Cut(environ[i], "="); ok && envKey(n) == envKey(name) {
				return value
			}
		}
		return ""
	}
}

// setEnv puts name=value into env, over an entry that is there.
func setEnv(env []string, name, value string) []string {
	for i, entry := range env {
		if len(entry) > len(name) && entry[len(name)] == '=' && (entry[:len(name)] == name || foldEnv && strings.EqualFold(entry[:len(name)], name)) {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}

// findHome is the operator's home directory: HOME, else what the system's user database
// says (a service may run without HOME, X-21), else "".
func findHome(getenv func(string) string) string {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
