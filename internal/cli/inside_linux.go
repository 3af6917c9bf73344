package cli

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// maxAncestors bounds the walk, should the table of processes change under it.
const maxAncestors = 256

// markedAncestor looks at what each process above us was started with. One that cannot
// be read belongs to somebody else, and with it the walk goes on.
func markedAncestor() bool {
	pid := os.Getpid()
	for range maxAncestors {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && marked(strings.Split(string(environ), "\x00")) {
			return true
		}
		if pid = parentOf(pid); pid <= 0 {
			return false
		}
	}
	return false
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
