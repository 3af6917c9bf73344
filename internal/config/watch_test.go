package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// call is one call of Watch's function.
type call struct {
	c   *Config
	err error
}

// startWatch runs Watch on path as loaded now and ends it with the test.
func startWatch(t *testing.T, path string) chan call {
	t.Helper()
	getenv := env("OPENCLAW_STATE_DIR", filepath.Dir(path))
	loaded, err := Load(path, getenv)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls, done := make(chan call, 16), make(chan error, 1)
	go func() {
		done <- Watch(ctx, loaded, getenv, func(c *Config, err error) { calls <- call{c, err} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return calls
}

func next(t *testing.T, calls chan call) call {
	t.Helper()
	select {
	case c := <-calls:
		return c
	case <-time.After(5 * time.Second):
		t.Fatal("no call")
		return call{}
	}
}

// none asserts that nothing comes for three times the quiet time.
func none(t *testing.T, calls chan call) {
	t.Helper()
	select {
	case c := <-calls:
		t.Fatalf("unexpected call: %+v %v", c.c, c.err)
	case <-time.After(3 * quiet):
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace writes as editors do: a temporary file renamed over the name.
func replace(t *testing.T, path, content string) {
	t.Helper()
	put(t, path+".tmp", content)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

func TestC3_Watch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openclaw.json")
	put(t, path, `{tools: {exec: {timeoutSec: 1}}}`)
	calls := startWatch(t, path)
	none(t, calls)

	put(t, path, `{tools: {exec: {timeoutSec: 2}}}`)
	if c := next(t, calls); c.err != nil || c.c.Exec("").TimeoutSec != 2 {
		t.Fatalf("written in place: %+v", c)
	}
	replace(t, path, `{tools: {exec: {timeoutSec: 3}}}`)
	if c := next(t, calls); c.err != nil || c.c.Exec("").TimeoutSec != 3 {
		t.Fatalf("replaced: %+v", c)
	}
	replace(t, path, `{tools: {exec: {timeoutSec: 3}}}`)
	put(t, filepath.Join(filepath.Dir(path), "other"), "x")
	none(t, calls)

	replace(t, path, `{tools: {exec: {timeoutSec: }}}`)
	var one *Error
	if c := next(t, calls); c.c != nil || !errors.As(c.err, &one) || one.KeyPath != "tools.exec.timeoutSec" {
		t.Fatalf("invalid: %+v", c)
	}
	replace(t, path, `{tools: {exec: {timeoutSec: 3}}}`)
	if c := next(t, calls); c.err != nil || c.c.Exec("").TimeoutSec != 3 {
		t.Fatalf("valid again: %+v", c)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if c := next(t, calls); c.c != nil || !errors.Is(c.err, fs.ErrNotExist) {
		t.Fatalf("removed: %+v", c)
	}
	put(t, path, `{}`)
	if c := next(t, calls); c.err != nil || !c.c.Exists {
		t.Fatalf("back: %+v", c)
	}
}

func TestC3_WatchBeforeTheFolderExists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "openclaw.json")
	calls := startWatch(t, path)
	none(t, calls)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	none(t, calls)
	put(t, path, `{tools: {exec: {timeoutSec: 4}}}`)
	if c := next(t, calls); c.err != nil || c.c.Exec("").TimeoutSec != 4 {
		t.Fatalf("%+v", c)
	}
}

func TestC3_WatchThroughSymlink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "real", "cfg.json")
	if err := os.Mkdir(filepath.Dir(target), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, target, `{}`)
	path := filepath.Join(dir, "openclaw.json")
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	calls := startWatch(t, path)
	none(t, calls)
	replace(t, target, `{tools: {exec: {timeoutSec: 5}}}`)
	if c := next(t, calls); c.err != nil || c.c.Exec("").TimeoutSec != 5 {
		t.Fatalf("%+v", c)
	}
}

func TestC3_WatchNoticesChangeBeforeItBegan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openclaw.json")
	put(t, path, `{}`)
	loaded, err := Load(path, env())
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, `{tools: {exec: {timeoutSec: 6}}}`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := 0
	err = Watch(ctx, loaded, env(), func(c *Config, err error) {
		if err == nil {
			got = c.Exec("").TimeoutSec
		}
		cancel()
	})
	if err != nil || got != 6 {
		t.Errorf("got %d, %v", got, err)
	}
}
