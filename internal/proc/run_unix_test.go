//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	env := []string{"PATH=/usr/bin:/bin", "A=1"}
	for name, c := range map[string]struct {
		script      string
		code        int
		out, errOut string
	}{
		"output":      {`echo out; echo err >&2`, 0, "out\n", "err\n"},
		"exit code":   {`exit 7`, 7, "", ""},
		"no input":    {`cat`, 0, "", ""},
		"environment": {`echo "$A$HOME"`, 0, "1\n", ""},
		"a child that keeps the pipes is not waited for": {`sleep 20 & echo up`, 0, "up\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			got, err := Run(t.Context(), []string{"sh", "-c", c.script}, env)
			if err != nil || got.Code != c.code || string(got.Stdout) != c.out || string(got.Stderr) != c.errOut {
				t.Errorf("%+v, %v", got, err)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("took %s", d)
			}
		})
	}
}

func TestRunKeepsTheHead(t *testing.T) {
	got, err := Run(t.Context(), []string{"sh", "-c", `head -c 1000000 /dev/zero; echo end >&2`}, []string{"PATH=/usr/bin:/bin"})
	if err != nil || len(got.Stdout) != runOutput || string(got.Stderr) != "end\n" {
		t.Errorf("%d bytes, stderr %q, %v", len(got.Stdout), got.Stderr, err)
	}
}

func TestRunFails(t *testing.T) {
	env := []string{"PATH=/usr/bin:/bin"}
	if _, err := Run(t.Context(), []string{"no-such-program-here"}, env); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a missing program: %v", err)
	}
	if _, err := Run(t.Context(), nil, env); err == nil {
		t.Error("no program, no error")
	}
	if _, err := Run(t.Context(), []string{"sh", "-c", "kill -9 $$"}, env); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a signal: %v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	if _, err := Run(ctx, []string{"sleep", "20"}, env); !errors.Is(err, cause) {
		t.Errorf("the context's end: %v", err)
	}
}

// Only absolute folders of the given PATH count: not ours, not the current one.
func TestRunLooksInTheGivenPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho found\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, ok := range map[string]bool{dir: true, "/nowhere:" + dir: true, ".": false, "": false, "/usr/bin": false} {
		got, err := Run(t.Context(), []string{"tool"}, []string{"PATH=" + path})
		if (err == nil) != ok || ok && string(got.Stdout) != "found\n" {
			t.Errorf("PATH=%s: %+v, %v", path, got, err)
		}
	}
}
