package policy

import (
	"errors"
	"io/fs"
	"strings"

	"openclaw/internal/shell"
)

// noScript says why what a shell is given to run is no script file (P-35): a link may lead
// to standard input.
func (s *segment) noScript(name string, words []shell.Word) string {
	files, why := shell.ScriptFiles(name, words)
	for _, file := range files {
		if why == "" && file != "" {
			why = s.scriptFault(file)
		}
	}
	return why
}

// scriptFault says why a file has no content of its own that a shell could be given.
func (s *segment) scriptFault(file string) string {
	switch {
	case file[0] == '/':
	case s.dir == "":
		return "its script is named relative to a directory that is not known: " + s.dirNo
	default:
		file = s.dir + "/" + file
	}
	c, err := s.j.m.Content(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "its script cannot be read: " + err.Error()
	case strings.HasPrefix(c.Real, "/dev/") || strings.HasPrefix(c.Real, "/proc/"):
		return "its script " + c.Real + " is no file with a content of its own"
	}
	return ""
}
