package supervisor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"openclaw/internal/proc"
)

// Role is the first argument that makes the program a supervisor. It is started by
// Client, not by people.
const Role = "supervise"

// Answers on the pipe to the program that has started a supervisor.
const (
	sayReady = "ready\n"
	sayTaken = "taken\n"
)

// Main is the whole program in its role as supervisor; it returns the exit code. One of
// the descriptors it has inherited may be a pipe that is told, in one line, whether it
// serves.
func Main(args []string, version string, stderr io.Writer) int {
	opt := Options{Version: version, Log: slog.New(slog.NewTextHandler(stderr, nil))}
	flags := flag.NewFlagSet(Role, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opt.Dir, "dir", "", "session folder")
	flags.DurationVar(&opt.Idle, "idle", idleLife, "life without sessions and clients")
	readyFD := flags.Int("ready-fd", -1, "descriptor that is told whether it serves")
	if err := flags.Parse(args); err != nil || opt.Dir == "" {
		fmt.Fprintln(stderr, "openclaw supervise is started by openclaw itself; see openclaw process --help")
		return 2
	}
	// Started through /proc/self/exe it would be "exe" in ps and top.
	_ = os.WriteFile("/proc/self/comm", []byte("openclaw"), 0)
	// Signals for a terminal's programs are none of its business. Taking them, instead of
	// ignoring them, gives commands the usual behaviour back.
	noise := make(chan os.Signal, 1)
	signal.Notify(noise, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(noise)
	if err := proc.LeaveTerminal(); err != nil {
		opt.Log.Warn("supervisor", "err", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	said := *readyFD < 3
	say := func(text string) {
		if !said {
			said = true
			ready := os.NewFile(uintptr(*readyFD), "ready")
			_, _ = io.WriteString(ready, text) // who started it may have gone
			ready.Close()
		}
	}
	opt.Ready = func() { say(sayReady) }
	err := Serve(ctx, opt)
	switch {
	case errors.Is(err, ErrTaken):
		say(sayTaken)
	case err != nil:
		say(err.Error() + "\n")
		opt.Log.Error("supervisor", "err", err, "at", time.Now())
		return 1
	}
	return 0
}
