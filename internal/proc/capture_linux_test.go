package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCapture(t *testing.T) {
	s := newPlainStarter(t)
	errCause := errors.New("the reason")
	bash := lookPath(t, "bash")
	if _, err := s.Capture(t.Context(), []string{bash, "-c", ""}, testEnv(), "/", 100); err != nil {
		t.Fatal(err) // the first one also makes the cgroup that all use
	}
	files := openFiles(t)
	for _, c := range []struct {
		name, script string
		timeout      time.Duration
		want         string
		err          string
		is           error
	}{
		{name: "output", script: "echo out; echo err >&2", want: "out\n"},
		{name: "no input", script: "cat; echo over", want: "over\n"},
		{name: "exit code", script: "echo x; exit 3", want: "x\n", err: bash + ": exit code 3"},
		{name: "signal", script: "kill -TERM $$", err: bash + ": ended by SIGTERM"},
		{name: "at the limit", script: "printf %0100d 0", want: strings.Repeat("0", 100)},
		{name: "over the limit", script: "printf %0101d 0", is: ErrTooMuchOutput},
		{name: "without end", script: "exec yes", is: ErrTooMuchOutput},
		{name: "error without end", script: "exec yes >&2", timeout: 300 * time.Millisecond, is: errCause},
		{name: "time-out", script: "trap '' TERM; while :; do sleep 0.05; done", timeout: 300 * time.Millisecond, is: errCause},
		{name: "closed output", script: "exec >&- 2>&-; sleep 300", timeout: 300 * time.Millisecond, is: errCause},
		{name: "held by a child", script: leaver + waitLeaver + "echo fine", want: "fine\n"},
		{name: "written without end by a child", script: leaver + "setsid bash -c 'echo $$ >other; exec yes' & " + waitLeaver + "while ! test -s other; do sleep 0.01; done", is: ErrTooMuchOutput},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, errCause)
				defer cancel()
			}
			dir := t.TempDir()
			begun := time.Now()
			out, err := s.Capture(ctx, []string{bash, "-c", c.script}, testEnv(), dir, 100)
			switch {
			case c.is != nil:
				if !errors.Is(err, c.is) || out != nil {
					t.Errorf("%q, %v", out, err)
				}
			case c.err != "":
				if err == nil || err.Error() != c.err || string(out) != c.want {
					t.Errorf("%q, %v", out, err)
				}
			case err != nil || string(out) != c.want:
				t.Errorf("%q, %v", out, err)
			}
			if took := time.Since(begun); took > deadline/2 {
				t.Errorf("took %v", took)
			}
			if _, err := os.Stat(filepath.Join(dir, "pid")); err == nil {
				if st := recordedPid(t, dir, "pid"); alive(st) {
					t.Error("what the helper left is still there")
				}
			}
		})
	}
	if _, err := s.Capture(t.Context(), []string{"/nosuch"}, nil, "/", 1); err == nil {
		t.Error("a missing helper was run")
	}
	if now := openFiles(t); now != files {
		t.Errorf("%d descriptors before, %d after", files, now)
	}
	waitFor(t, "the end of all zombies", func() bool { return len(zombies(t)) == 0 })
}
