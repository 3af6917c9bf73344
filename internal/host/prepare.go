package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// Request is what one command needs from this machine.
type Request struct {
	Command     string            // shell text, run as it stands
	Workdir     string            // as the caller gave it; "" = the default
	DefaultDir  string            // the session's directory, absolute; "" = Workspace
	Workspace   string            // the agent's workspace, absolute; made (0700) when it is needed and missing
	Env         map[string]string // overrides, from CheckEnv
	PathPrepend []string          // tools.exec.pathPrepend, ~ not yet expanded
	// Path is the PATH that the command was judged with; "" = what Local.Path says now.
	Path string
	// NoShell asks for the place only: what runs is started without a shell (P-60).
	NoShell bool
	// Judged is true for text that a person approved (P-61): it runs in bash (else sh)
	// with the operator's environment less X-10's table, and never with a snapshot.
	Judged bool
	// Snapshot asks for the operator's aliases, functions and variables. It is for
	// full/off runs only and has no effect with Judged.
	Snapshot bool
	// ChannelContext is the JSON of X-8, "" for a run that no chat channel asked for.
	ChannelContext string
}

// Launch is what to start.
type Launch struct {
	Argv     []string // absolute shell first; the command is the last element; nil with NoShell
	Env      []string // "NAME=value", each name once
	Dir      string   // absolute, clean, was a directory a moment ago
	Shell    Shell
	Warnings []string // for the result
}

// DirError refuses a working directory before anything runs.
type DirError struct {
	Param  string // "workdir", or "default directory" or "workspace" when that is at fault
	Path   string // the directory as it was understood, absolute where that was possible
	Reason string
	Err    error // the system's, or nil
}

// Error says which directory, what is wrong with it and what to do.
func (e *DirError) Error() string {
	return fmt.Sprintf("%s %q %s; give an existing directory", e.Param, e.Path, e.Reason)
}

// Unwrap returns the system's error.
func (e *DirError) Unwrap() error { return e.Err }

// RequestError refuses a command or variable that no process can be started with.
type RequestError struct {
	Param  string // "command", "env.NAME"
	Reason string
}

// Error names the parameter and what is wrong with it.
func (e *RequestError) Error() string { return e.Param + " " + e.Reason }

// Prepare turns a request into what to start. It starts nothing and checks no permission;
// of the disk it looks at the working directory only. The first call (and the first after a
// start-up file changed) waits for the login shell, at most Options.CaptureLimit; ctx ends
// that waiting. Errors: *DirError, *RequestError, *policy.EnvError, one that wraps
// ErrNoShell, ErrClosed, or ctx's.
func (l *Local) Prepare(ctx context.Context, r Request) (*Launch, error) {
	shell, err := l.shell, l.shellErr
	if r.Judged {
		shell, err = l.plain, l.plainErr
	}
	if err != nil && !r.NoShell {
		return nil, err
	}
	if err := checkText("command", r.Command, 0); err != nil {
		return nil, err
	}
	overrides, err := CheckEnv(r.Env, r.Judged) // once more: here is the last place before the start
	if err != nil {
		return nil, err
	}
	dir, err := ResolveDir(r)
	if err != nil {
		return nil, err
	}
	login, err := l.loginEnv(ctx)
	if err != nil {
		return nil, err
	}
	out := &Launch{Dir: dir, Shell: shell}
	path, warnings := l.joinPath(login, r.PathPrepend)
	if r.Path != "" {
		path = r.Path
	}
	out.Warnings = append(warnings, login.warnings...)

	withSnapshot := r.Snapshot && !r.Judged
	base := l.base
	switch {
	case r.Judged:
		base = l.scrubbed
	case withSnapshot:
		base = login.base
	}
	env := make([]string, len(base), len(base)+len(overrides)+8)
	copy(env, base)
	env = append(env, "PATH="+path, "PWD="+dir)
	if r.ChannelContext != "" {
		if !json.Valid([]byte(r.ChannelContext)) || checkText("", r.ChannelContext, len("OPENCLAW_CHANNEL_CONTEXT=")) != nil {
			return nil, &RequestError{"channel context", "is not JSON that fits a variable"}
		}
		env = append(env, "OPENCLAW_CHANNEL_CONTEXT="+r.ChannelContext)
	}
	if env, err = addOverrides(env, overrides); err != nil {
		return nil, err
	}
	startup := false
	if withSnapshot {
		out.Warnings = append(out.Warnings, login.notes...)
		if login.snapshot != "" && !l.ownStartup(overrides) {
			env, startup = l.withSnapshot(env, login.snapshot, path)
		}
	}
	out.Env = env
	if !r.NoShell {
		out.Argv = shell.argv(r.Command, startup)
	}
	return out, nil
}

// ownStartup says if the caller brings a start-up file itself: then it wins over ours.
func (l *Local) ownStartup(overrides map[string]string) bool {
	name := "BASH_ENV"
	if l.shell.Kind == KindZsh {
		name = "ZDOTDIR"
	}
	_, ok := overrides[name]
	return ok
}

func addOverrides(env []string, overrides map[string]string) ([]string, error) {
	if len(overrides) == 0 {
		return env, nil
	}
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	sort.Strings(names) // the same request makes the same environment
	for _, name := range names {
		if err := checkText("env."+name, overrides[name], len(name)+1); err != nil {
			return nil, err
		}
		env = setEnv(env, name, overrides[name])
	}
	return env, nil
}

// Startable says if a command and its overrides are short enough to be started at all: a
// *RequestError as Prepare would give it later.
func Startable(command string, env map[string]string) error {
	if err := checkText("command", command, 0); err != nil {
		return err
	}
	_, err := addOverrides(nil, env)
	return err
}

// checkText refuses what the kernel would refuse with a message nobody understands.
func checkText(param, text string, extra int) error {
	if strings.IndexByte(text, 0) >= 0 {
		return &RequestError{param, "has a NUL byte; remove it"}
	}
	if maxArgBytes > 0 && len(text)+extra >= maxArgBytes {
		return &RequestError{param, fmt.Sprintf("is %d bytes long, and this system starts nothing with more than %d; write the text to a file and run that", len(text), maxArgBytes-extra-1)}
	}
	return nil
}

// ResolveDir is the working directory of a request: literal (no ~, no variables), relative
// to the default, and there. Another directory is never taken instead (pro-0045): the
// command could do its work in the wrong place. The daemon's own directory plays no part,
// so it may be gone.
func ResolveDir(r Request) (string, error) {
	base, param := r.DefaultDir, "default directory"
	if base == "" {
		base, param = r.Workspace, "workspace"
	}
	dir := base
	if r.Workdir != "" {
		param = "workdir"
		if strings.TrimSpace(r.Workdir) == "" {
			return "", &DirError{Param: param, Path: r.Workdir, Reason: "is only white space"}
		}
		dir = r.Workdir
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(base) {
				return "", &DirError{Param: "default directory", Path: base, Reason: "is not absolute, so a relative workdir means nothing"}
			}
			dir = filepath.Join(base, dir)
		}
	}
	if !filepath.IsAbs(dir) {
		return "", &DirError{Param: param, Path: dir, Reason: "is not an absolute path"}
	}
	if strings.IndexByte(dir, 0) >= 0 {
		return "", &DirError{Param: param, Path: dir, Reason: "has a NUL byte"}
	}
	dir = filepath.Clean(dir)
	err := checkDir(dir)
	if err != nil && os.IsNotExist(err) && isWorkspace(dir, r.Workspace) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = checkDir(dir)
		}
	}
	if err != nil {
		return "", &DirError{Param: param, Path: dir, Reason: dirReason(err), Err: err}
	}
	return dir, nil
}

func isWorkspace(dir, workspace string) bool {
	return filepath.IsAbs(workspace) && dir == filepath.Clean(workspace)
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
	}
	return err
}

func dirReason(err error) string {
	switch {
	case os.IsNotExist(err):
		return "does not exist"
	case os.IsPermission(err):
		return "cannot be reached: permission denied"
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return "is not a directory"
	}
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		return "cannot be used: " + pathErr.Err.Error()
	}
	return "cannot be used: " + err.Error()
}
