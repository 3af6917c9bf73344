//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tell sends this process a signal; a test that was not to get it fails, not the run.
func tell(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Error(err)
	}
}

func TestRestartable(t *testing.T) {
	backstop := make(chan os.Signal, 8) // SIGTERM must never end the test binary
	signal.Notify(backstop, syscall.SIGTERM)
	defer signal.Stop(backstop)
	yes := func(context.Context) bool { return true }
	broken := errors.New("broken")
	await := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("no signal arrived")
		}
	}
	for name, c := range map[string]struct {
		allow func(context.Context) bool
		run   func(context.Context) error
		again bool
		code  int // of the error; 0 = none
	}{
		"restart": {yes, func(ctx context.Context) error { tell(t, syscall.SIGUSR2); return await(ctx) }, true, 0},
		"end":     {yes, func(ctx context.Context) error { tell(t, syscall.SIGTERM); return await(ctx) }, false, 0},
		"end, with an error": {yes, func(ctx context.Context) error {
			tell(t, syscall.SIGTERM)
			return errors.Join(await(ctx), ctx.Err())
		}, false, 143},
		"ends by itself": {yes, func(context.Context) error { return nil }, false, 0},
		"fails":          {yes, func(context.Context) error { return broken }, false, 1},
		"fails while it restarts": {yes, func(ctx context.Context) error {
			tell(t, syscall.SIGUSR2)
			return errors.Join(await(ctx), broken)
		}, false, 1},
		"end counts over restart": {yes, func(ctx context.Context) error {
			tell(t, syscall.SIGUSR2)
			err := await(ctx)
			tell(t, syscall.SIGTERM)
			time.Sleep(20 * time.Millisecond)
			return err
		}, false, 0},
		"end while it is looked at": {func(ctx context.Context) bool {
			tell(t, syscall.SIGTERM)
			return await(ctx) == nil
		}, func(ctx context.Context) error { tell(t, syscall.SIGUSR2); return await(ctx) }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			again, err := restartable(t.Context(), c.allow, c.run)
			if again != c.again || codeOf(err) != c.code {
				t.Errorf("again %v, %v", again, err)
			}
		})
	}
}

// A refused restart changes nothing, and the next one is looked at afresh.
func TestRestartableRefused(t *testing.T) {
	looks := make(chan int, 8)
	n := 0
	allow := func(context.Context) bool {
		n++
		looks <- n
		return n == 2
	}
	again, err := restartable(t.Context(), allow, func(ctx context.Context) error {
		tell(t, syscall.SIGUSR2)
		<-looks
		select {
		case <-ctx.Done():
			return errors.New("it was not refused")
		case <-time.After(50 * time.Millisecond):
		}
		tell(t, syscall.SIGUSR2)
		<-ctx.Done()
		return nil
	})
	if !again || err != nil || n != 2 {
		t.Errorf("again %v, %v, %d looks", again, err, n)
	}
}

func TestSuccessorCheck(t *testing.T) {
	program := filepath.Join(t.TempDir(), "next")
	env := []string{"PATH=" + os.Getenv("PATH"), "A=1"}
	for name, c := range map[string]struct{ script, want string }{
		"takes it":      {`[ "$*" = "gateway run --port 0 --check" ] && [ "$A" = 1 ]`, ""},
		"says why":      {`echo "openclaw: error: a is wrong" >&2; echo "openclaw: error: so is b" >&2; echo noise >&2; exit 1`, "a is wrong; so is b"},
		"says nothing":  {`exit 3`, program + " would end with exit code 3"},
		"cannot be run": {"", "exec format error"},
	} {
		text := "#!/bin/sh\n" + c.script + "\n"
		if c.script == "" {
			text = "\x7fELF"
		}
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		err := successor{program: program, argv: []string{"openclaw", "gateway", "run", "--port", "0"}, env: env}.check(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (successor{}).check(t.Context()); err == nil {
		t.Error("nothing to run is no successor")
	}
}
