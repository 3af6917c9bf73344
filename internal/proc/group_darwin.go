package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/creack/pty"
)

func groupAttr(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
}

func (f *files) openTerminal(size Size) error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoPTY, err)
	}
	f.terminal, f.in, f.out = master, master, master
	f.child = []*os.File{slave, slave, slave}
	f.toClose, f.ours = []*os.File{slave}, []*os.File{master}
	return pty.Setsize(master, &pty.Winsize{Cols: uint16(size.Cols), Rows: uint16(size.Rows)})
}

// Resize changes the terminal's size; the program gets SIGWINCH.
func (p *Process) Resize(s Size) error {
	if p.terminal == nil {
		return errors.New("not a terminal")
	}
	return pty.Setsize(p.terminal, &pty.Winsize{Cols: uint16(s.Cols), Rows: uint16(s.Rows)})
}

func endGroup(pid int, _ *os.Process, force bool) {
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-pid, sig)
	_ = syscall.Kill(-pid, syscall.SIGCONT)
}

func signalGroup(pid int, _ *os.Process, name string) error {
	sig, err := ParseSignal(name)
	if err != nil {
		return err
	}
	return syscall.Kill(-pid, sig)
}

func exitOf(state *os.ProcessState) Exit {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: -1, Signal: signalName(ws.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}
