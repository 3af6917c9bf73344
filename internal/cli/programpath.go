package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// startPath is the absolute path under which this program was started, links in it
// unresolved: an upgrade often only turns a link to the new version, and then what the
// link names is the program to run. Without such a path it is the program's file; "" =
// not known.
func (e *Env) startPath() string {
	own, err := os.Stat(e.Program)
	if e.Program == "" || err != nil || len(e.Args) == 0 {
		return e.Program
	}
	var tries []string
	if name := e.Args[0]; filepath.Base(name) != name {
		if path, err := e.abs(name); err == nil {
			tries = append(tries, path)
		}
	} else {
		for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
			if filepath.IsAbs(dir) {
				tries = append(tries, filepath.Join(dir, name+strings.ToLower(filepath.Ext(e.Program))), filepath.Join(dir, name))
			}
		}
	}
	for _, path := range tries {
		// Whoever starts a program may give it any name; the file tells.
		if info, err := os.Stat(path); err == nil && os.SameFile(info, own) {
			return path
		}
	}
	return e.Program
}
