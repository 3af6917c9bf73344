package proc

import (
	"fmt"
	"os"
)

// Detach starts a program of ours that is to outlive this one: in a process group of its
// own (it calls LeaveTerminal first of all), standard input and output at /dev/null,
// standard error in errors, and extra as its descriptors from 3 on. Path "" is the program
// that this process runs, also when its file has been replaced meanwhile; systems that
// cannot do that start argv[0].
//
// It stays our child while we live: Reap takes its exit. A program that has a Starter must
// not use it, since that takes unknown children for strays.
func Detach(path string, argv, env []string, dir string, errors *os.File, extra ...*os.File) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	defer null.Close()
	attr := &os.ProcAttr{
		Dir: dir, Env: env, Sys: detachedAttr(),
		Files: append([]*os.File{null, null, errors}, extra...),
	}
	if path == "" {
		path = selfPath(argv[0])
	}
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	pid = p.Pid
	return pid, p.Release()
}

// selfPath is a path of the program that this process runs.
func selfPath(otherwise string) string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	return otherwise
}
