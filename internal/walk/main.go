package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"openclaw/internal/shell"
)

// Role is the first argument that makes the program a walker. It is started by whoever
// owns the session, not by people.
const Role = "walk"

// planFD is the descriptor a walker finds its plan on.
const planFD = 3

// maxPlan bounds an encoded plan, in bytes; a command text has 64 KiB at most.
const maxPlan = 64 << 20

// errInterrupt ends a walk that SIGINT has ended a program of.
var errInterrupt = errors.New("interrupted")

// Main is the whole program in its role as walker; it returns the exit code, as a shell
// would.
func Main() int {
	_ = os.WriteFile("/proc/self/comm", []byte("openclaw walk"), 0) // else "exe" in ps
	data, err := readPlan()
	if err != nil {
		fmt.Fprintln(os.Stderr, "openclaw walk is started by openclaw itself:", err)
		return codeRefused
	}
	plan, err := shell.DecodePlan(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, "openclaw:", err)
		return codeRefused
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "openclaw:", err)
		return codeRefused
	}
	defer null.Close()
	ctx, stop := interruptible()
	defer stop()
	dir := os.Getenv("PWD")
	s := &scope{plan: plan, dir: dir, env: os.Environ(), vars: map[string]string{}, files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}}
	w := &walker{ctx: ctx, null: null}
	code, err := w.run(s, plan.Root)
	switch {
	case errors.Is(err, errInterrupt):
		stop()
		endBy(syscall.SIGINT)
		return 128 + int(syscall.SIGINT)
	case errors.Is(err, errPipe):
		return codePipe
	case err != nil && !errors.Is(err, errRefused):
		fmt.Fprintln(os.Stderr, "openclaw:", err)
	}
	return code
}

// interruptible gives a context that SIGINT ends. Signals are taken and not ignored, so
// that programs get the usual behaviour; SIGQUIT is for them alone, as in a shell.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ints, quits := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ints, syscall.SIGINT)
	signal.Notify(quits, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		select {
		case <-ints:
			cancel(errInterrupt)
		case <-done:
		}
	}()
	return ctx, func() {
		select {
		case <-done:
			return
		default:
		}
		close(done)
		signal.Reset(syscall.SIGINT, syscall.SIGQUIT)
		cancel(context.Canceled)
	}
}

func readPlan() ([]byte, error) {
	f := os.NewFile(planFD, "plan")
	if f == nil {
		return nil, errors.New("there is no plan")
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("there is no plan")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPlan))
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return data, nil
}
