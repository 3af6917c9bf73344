package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ask finds out what the login shell gives: from the cache file if this is the first time
// and nothing has changed since, else from the shell. It always has an answer; with a
// failure it is the minimal PATH and the reason as a warning.
func (l *Local) ask(ctx context.Context, first bool) *loginEnv {
	if !hasLogin {
		return l.finish(&loginEnv{})
	}
	if first && l.opt.StateDir != "" {
		if env := l.fromCache(); env != nil {
			return l.finish(env)
		}
	}
	env := &loginEnv{}
	env.fingerprint = fingerprint(l.shell, l.login, l.home, l.ownZdotdir()) // before: a change meanwhile is found by the next check
	got, err := l.capture(ctx)
	if err != nil {
		env.failedAt = l.opt.Now()
		env.zdotdir = l.ownZdotdir()
		env.warnings = []string{l.failureText(err)}
		return l.finish(env)
	}
	if env.zdotdir = got.zdotdir; env.zdotdir != l.ownZdotdir() {
		env.fingerprint = fingerprint(l.shell, l.login, l.home, env.zdotdir)
	}
	env.path = got.path
	if l.snapshot {
		env.vars = keepVars(got.vars, l.getenv)
		env.snapshot, env.notes = l.makeSnapshot(ctx, got)
	}
	l.save(env)
	return l.finish(env)
}

// capture asks the login shell, and where that is fish also the shell that commands run
// in, for its aliases.
func (l *Local) capture(ctx context.Context) (*capture, error) {
	if l.opt.Run == nil {
		return nil, errors.New(noRunnerText)
	}
	if l.login.Path == "" {
		return nil, l.shellErr
	}
	env := l.captureEnv()
	dir := l.home
	if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
		dir = string(filepath.Separator)
	}
	readRC := l.shell.Kind == KindBash && l.home != "" && !loginReadsBashrc(l.home)
	got, err := captureLogin(ctx, l.opt.Run, l.login, env, dir, readRC)
	if l.login == l.shell {
		return got, err
	}
	own, ownErr := captureLogin(ctx, l.opt.Run, l.shell, env, dir, readRC)
	switch {
	case ownErr != nil:
		return got, err
	case err == nil:
		own.path = got.path
	}
	return own, nil
}

// captureEnv is the environment the login shell starts from: what a log-in would give it.
// OPENCLAW_SHELL lets a start-up file see for whom it runs.
func (l *Local) captureEnv() []string {
	env := append([]string(nil), l.base...)
	env = setEnv(env, "PATH", strings.Join(MinimalPath(), listSep))
	env = setEnv(env, "TERM", "dumb")
	env = setEnv(env, "DISABLE_AUTO_UPDATE", "true") // a popular zsh framework asks and waits
	return env
}

func (l *Local) ownZdotdir() string { return l.getenv("ZDOTDIR") }

func (l *Local) failureText(err error) string {
	reason := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("%s gave no answer within %s", l.login.Path, l.opt.CaptureLimit)
	}
	return fmt.Sprintf("commands get the minimal PATH %s, not the login shell's: %s; check its start-up files, or set tools.exec.pathPrepend",
		strings.Join(MinimalPath(), listSep), reason)
}

// makeSnapshot writes the snapshot and has the shell read it once. A file that cannot be
// read back to its end would break every command, so it is tried without functions, then
// given up. notes say so.
func (l *Local) makeSnapshot(ctx context.Context, got *capture) (file string, notes []string) {
	if l.shell.Kind != KindBash && l.shell.Kind != KindZsh {
		return "", nil
	}
	if !got.complete {
		return "", []string{"aliases and functions of " + l.shell.Path + " could not be read: its start-up files end it; commands run without them"}
	}
	for _, withFunctions := range []bool{true, false} {
		text := snapshotText(l.shell.Kind, got, withFunctions)
		if text == "" {
			return "", notes
		}
		file = snapshotFile(l.opt.StateDir, l.shell.Kind, text)
		if old, err := readSmall(file, maxSnapshot); err != nil || string(old) != text {
			if err := writePrivate(file, []byte(text)); err != nil {
				return "", []string{fmt.Sprintf("commands run without the aliases and functions of %s: %v", l.shell.Path, err)}
			}
		}
		if err := l.trySnapshot(ctx, file); err == nil {
			pruneSnapshots(l.opt.StateDir, file, l.opt.Now())
			return file, notes
		}
		notes = []string{"functions of " + l.shell.Path + " are left out: it cannot read them back"}
	}
	return "", []string{"aliases and functions of " + l.shell.Path + " are left out: it cannot read them back"}
}

// trySnapshot runs a harmless text with the snapshot: it must print what we say and nothing
// else, and neither the variables that lead to the snapshot nor another PATH may be left.
func (l *Local) trySnapshot(ctx context.Context, file string) error {
	const text = `\builtin printf '%s %s %s' "$OPENCLAW_CAPTURE" "${BASH_ENV+left}${OPENCLAW_PATH+left}" "$PATH"`
	mark, path := newMark(), "/openclaw-first:"+strings.Join(MinimalPath(), listSep)
	env := setEnv(append([]string(nil), l.base...), "PATH", path)
	env = setEnv(env, "OPENCLAW_CAPTURE", mark)
	env, startup := l.withSnapshot(env, file, path)
	out, err := l.opt.Run(ctx, l.shell.argv(text, startup), env, string(filepath.Separator), 64<<10)
	if err != nil {
		return err
	}
	if string(out) != mark+"  "+path {
		return errors.New("it prints or changes something")
	}
	return nil
}

// withSnapshot adds to env what makes the shell read the snapshot before the command;
// startup says that zsh must be started without -f.
func (l *Local) withSnapshot(env []string, file, path string) (out []string, startup bool) {
	if l.shell.Kind == KindBash {
		return setEnv(env, "BASH_ENV", file), false
	}
	if own := l.ownZdotdir(); own != "" {
		env = setEnv(env, "OPENCLAW_ZDOTDIR", own)
	}
	env = setEnv(env, "OPENCLAW_PATH", path)
	return setEnv(env, "ZDOTDIR", filepath.Dir(file)), true
}

// fromCache is the answer of an earlier daemon, or nil.
func (l *Local) fromCache() *loginEnv {
	rec, err := loadRecord(l.opt.StateDir)
	if err != nil || rec.Fingerprint != fingerprint(l.shell, l.login, l.home, rec.Zdotdir) {
		return nil
	}
	env := &loginEnv{fingerprint: rec.Fingerprint, zdotdir: rec.Zdotdir, path: rec.Path}
	if l.snapshot != rec.WithSnapshot {
		return nil
	}
	if l.snapshot {
		env.vars, env.snapshot, env.notes = keepVars(rec.Vars, l.getenv), rec.Snapshot, rec.Notes
	}
	return env
}

// save keeps the answer for the next start. A full disk costs only that the shell is asked
// again then.
func (l *Local) save(env *loginEnv) {
	if l.opt.StateDir == "" {
		return
	}
	rec := &record{
		Fingerprint: env.fingerprint, Shell: l.login.Path, Home: l.home, Zdotdir: env.zdotdir, Path: env.path,
		WithSnapshot: l.snapshot, Vars: env.vars, Snapshot: env.snapshot, Notes: env.notes,
	}
	if env.snapshot != "" {
		text, err := readSmall(env.snapshot, maxSnapshot)
		if err != nil {
			return
		}
		rec.SnapshotSum = contentSum(text)
	}
	_ = saveRecord(l.opt.StateDir, rec) // see above
}

// finish fills in what follows from the answer.
func (l *Local) finish(env *loginEnv) *loginEnv {
	env.path = mergePath(env.path, MinimalPath())
	env.base = append([]string(nil), l.base...)
	for name, value := range env.vars {
		env.base = setEnv(env.base, name, value)
	}
	return env
}

// snapshotGone says if somebody removed the snapshot, as people do with caches.
func (e *loginEnv) snapshotGone() bool {
	if e.snapshot == "" {
		return false
	}
	_, err := os.Stat(e.snapshot)
	return err != nil
}
