//go:build unix

package proc

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName returns the name with SIG, as "SIGSEGV"; a number for one without a name.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s))
}

// ParseSignal finds a signal by its name, with or without SIG, in any case.
func ParseSignal(name string) (syscall.Signal, error) {
	up := strings.ToUpper(strings.TrimSpace(name))
	if !strings.HasPrefix(up, "SIG") {
		up = "SIG" + up
	}
	if s := unix.SignalNum(up); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("unknown signal %q; use a name such as INT, TERM, HUP, USR1", name)
}
