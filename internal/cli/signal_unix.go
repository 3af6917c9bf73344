//go:build unix

package cli

import (
	"os"
	"strings"
	"syscall"
)

// endSignals ask this program to end.
var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// hangups say that the terminal has gone.
var hangups = []os.Signal{syscall.SIGHUP}

// forwarded are the signals that exec hands to its command (C-31).
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// windowSignals say that the terminal has another size.
var windowSignals = []os.Signal{syscall.SIGWINCH}

// pipeSignals come with a write to a pipe nobody reads. They are caught so that the
// write returns an error and the command is ended, instead of us in the middle.
var pipeSignals = []os.Signal{syscall.SIGPIPE}

// signals holds the names with this system's numbers; those of real programs' ends.
var signals = map[string]syscall.Signal{
	"SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGILL": syscall.SIGILL,
	"SIGTRAP": syscall.SIGTRAP, "SIGABRT": syscall.SIGABRT, "SIGBUS": syscall.SIGBUS, "SIGFPE": syscall.SIGFPE,
	"SIGKILL": syscall.SIGKILL, "SIGUSR1": syscall.SIGUSR1, "SIGSEGV": syscall.SIGSEGV, "SIGUSR2": syscall.SIGUSR2,
	"SIGPIPE": syscall.SIGPIPE, "SIGALRM": syscall.SIGALRM, "SIGTERM": syscall.SIGTERM, "SIGCHLD": syscall.SIGCHLD,
	"SIGCONT": syscall.SIGCONT, "SIGSTOP": syscall.SIGSTOP, "SIGTSTP": syscall.SIGTSTP, "SIGTTIN": syscall.SIGTTIN,
	"SIGTTOU": syscall.SIGTTOU, "SIGURG": syscall.SIGURG, "SIGXCPU": syscall.SIGXCPU, "SIGXFSZ": syscall.SIGXFSZ,
	"SIGVTALRM": syscall.SIGVTALRM, "SIGPROF": syscall.SIGPROF, "SIGWINCH": syscall.SIGWINCH, "SIGIO": syscall.SIGIO,
	"SIGSYS": syscall.SIGSYS,
}

// signalNumber is the number of "SIGTERM" or "TERM", 0 when nobody knows it.
func signalNumber(name string) int {
	return int(signals["SIG"+strings.TrimPrefix(strings.ToUpper(name), "SIG")])
}

// signalName is "SIGTERM" for SIGTERM, "" for one without a name.
func signalName(s os.Signal) string {
	for name, sig := range signals {
		if sig == s {
			return name
		}
	}
	return ""
}
