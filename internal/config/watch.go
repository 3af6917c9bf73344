package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	quiet   = 100 * time.Millisecond // after the last event, so that a half-written file is not read
	longest = time.Second            // after the first event, so that a busy folder cannot put it off for ever
	poll    = 15 * time.Second       // for file systems that send no events
)

// Watch follows the file that loaded was read from until ctx ends, then returns nil
// (C-3). Whenever the file's content differs from what was seen last it calls changed,
// one call at a time, with the new configuration or with what is wrong; after an error
// the caller keeps what it has. A change between Load and Watch is noticed. A file that
// does not exist yet may appear later; one that disappears is an error that wraps
// fs.ErrNotExist, because falling back to defaults could loosen what is in force. A
// change of the environment or of a secret's own file is not noticed. An error is
// returned only when watching cannot begin.
func Watch(ctx context.Context, loaded *Config, getenv func(string) string, changed func(*Config, error)) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", loaded.File, err)
	}
	defer notify.Close() // ends fsnotify's own goroutine

	w := &watch{path: loaded.File, getenv: getenv, changed: changed, exists: loaded.Exists, sum: loaded.sum}
	w.arm(notify)
	w.check()

	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	var settle <-chan time.Time // nil while nothing has happened
	var deadline time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-notify.Events:
			if !ok {
				return nil
			}
			now := time.Now()
			if settle == nil {
				deadline = now.Add(longest)
			}
			settle = time.After(min(quiet, deadline.Sub(now)))
		case <-notify.Errors: // events were lost, so look
			settle = time.After(quiet)
		case <-settle:
			settle = nil
			w.arm(notify)
			w.check()
		case <-ticker.C:
			w.arm(notify)
			w.check()
		}
	}
}

type watch struct {
	path    string
	getenv  func(string) string
	changed func(*Config, error)

	exists bool
	sum    [sha256.Size]byte // of the content seen last, good or bad
	fault  string            // the read error reported last
}

// arm watches the folder, not the file: an atomic replace puts another file under the
// name. While the folder does not exist its nearest parent is watched; where the name
// is a symbolic link also the folder it leads to. A folder that cannot be watched is
// left to the poll.
func (w *watch) arm(notify *fsnotify.Watcher) {
	want := []string{}
	dirs := []string{filepath.Dir(w.path)}
	if target, err := filepath.EvalSymlinks(w.path); err == nil {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		for {
			near := existing(dir)
			_ = notify.Add(near) // a failure is made up for by the poll
			// The folder may have appeared before its parent was watched.
			if existing(dir) == near {
				want = append(want, near)
				break
			}
		}
	}
	for _, dir := range notify.WatchList() {
		if !slices.Contains(want, dir) {
			_ = notify.Remove(dir) // it may have gone by itself
		}
	}
}

// existing gives dir or its nearest parent that exists.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

// check reads the file and reports if it differs from what was seen last.
func (w *watch) check() {
	src, err := readFile(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !w.exists {
			return
		}
		w.exists, w.sum, w.fault = false, [sha256.Size]byte{}, ""
		w.changed(nil, fmt.Errorf("%s has gone; what it said stays in force until a restart: %w", w.path, fs.ErrNotExist))
	case err != nil:
		if err.Error() != w.fault {
			w.fault = err.Error()
			w.changed(nil, err)
		}
	default:
		sum := sha256.Sum256(src)
		if w.exists && sum == w.sum && w.fault == "" {
			return
		}
		w.exists, w.sum, w.fault = true, sum, ""
		w.changed(Parse(w.path, src, w.getenv))
	}
}
