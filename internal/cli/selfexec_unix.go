//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// restartSignals ask the daemon to begin anew. The Go runtime drops this one when
// nobody asked for it, so that it ends no program by accident.
var restartSignals = []os.Signal{syscall.SIGUSR2}

// askEnd asks a process of ours to end in order.
func askEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// askRestart asks a daemon of ours to begin anew.
func askRestart(p *os.Process) error { return p.Signal(syscall.SIGUSR2) }

// gone says whether a process has ended.
func gone(p *os.Process) bool { return p.Signal(syscall.Signal(0)) != nil }

// become replaces this program by another one in the same process. It returns only with
// an error. A further request to restart would end the new program while it cannot hear
// it yet; it is ignored until then.
func become(program string, argv, env []string) error {
	signal.Ignore(restartSignals...)
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, argv, env))
}
