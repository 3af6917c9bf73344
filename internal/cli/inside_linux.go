package cli

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// maxAncestors bounds the walk, should the table of processes change under it.
const maxAncestors = 256

// startedByUs looks at our control group, at what this process and each one above it was
// started with, and whether one above it is this program running commands. A process
// that cannot be read belongs to somebody else, and with it the walk goes on.
func startedByUs() bool {
	if groups, err := os.ReadFile("/proc/self/cgroup"); err == nil && inOurGroup(string(groups)) {
		return true
	}
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		own = nil // an ancestor is then known by its mark alone
	}
	if marked(procList(os.Getpid(), "environ")) {
		return true
	}
	pid := os.Getpid()
	for range maxAncestors {
		if pid = parentOf(pid); pid <= 0 {
			return false
		}
		if marked(procList(pid, "environ")) || own != nil && runs(pid, own) && runsCommands(procList(pid, "cmdline")) {
			return true
		}
	}
	return false
}

// runs says whether a process runs the program whose file this is.
func runs(pid int, program os.FileInfo) bool {
	exe, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && os.SameFile(exe, program)
}

// procList reads one of the lists that a process was started with; nil when it cannot.
func procList(pid int, name string) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// parentOf reads a process's parent; the name before it may hold any character, so the
// last parenthesis counts.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return ppid
}
