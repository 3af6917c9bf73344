package proc

import "syscall"

// detachedProcess is DETACHED_PROCESS: without our console.
const detachedProcess = 0x8

func detachedAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// LeaveTerminal has nothing to do here.
func LeaveTerminal() error { return nil }

// Reap has nothing to do here: there are no zombies.
func Reap(int) bool { return true }
