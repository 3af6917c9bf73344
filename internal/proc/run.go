package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	runOutput = 64 << 10    // bytes kept of each stream of a Run
	runGrace  = time.Second // for what a helper left to let go of its pipes
)

// Result is how a helper ended and what it printed, at most 64 KiB of each stream; the
// rest was read and dropped.
type Result struct {
	Code           int
	Stdout, Stderr []byte
}

// Run runs one of our own helpers (systemctl, for example) to its end, without a shell
// and without making this program a subreaper, as a Starter does. Standard input is
// /dev/null. Env is the whole environment, to which MarkerEnv is added. A program without
// a folder in its name is looked for in env's PATH, in absolute folders only, so that a
// file in the current folder is never run by accident.
//
// Any exit code is a Result. An error means that the helper could not be started (it
// then wraps exec.ErrNotFound or what the system said), that a signal ended it, or that
// ctx did: then it was killed, and the error wraps ctx's cause.
func Run(ctx context.Context, argv, env []string) (Result, error) {
	if len(argv) == 0 {
		return Result{}, errors.New("run a helper: no program is named")
	}
	path, err := findProgram(argv[0], env)
	if err != nil {
		return Result{}, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = argv
	// Where a Starter works, an unmarked child could be taken for what a command left.
	cmd.Env = markedEnv(Spec{Env: env, Marker: helperMarker()})
	cmd.WaitDelay = runGrace
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended well; a child of it holds the pipes
	case ctx.Err() != nil:
		return Result{}, fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case errors.As(err, &exit) && exit.Exited():
	default:
		return Result{}, fmt.Errorf("%s: %w", argv[0], err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.Bytes()}, nil
}

// findProgram finds a program in the PATH of an environment.
func findProgram(name string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// head keeps the beginning of what is written to it and takes the rest, so that the
// writer never stalls.
type head struct{ buf bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.buf.Write(p[:min(len(p), runOutput-h.buf.Len())])
	return len(p), nil
}
