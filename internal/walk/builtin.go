package walk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"openclaw/internal/shell"
)

// builtin runs one of P-23's builtins and returns its exit code.
func (s *scope) builtin(st *shell.Start) int {
	argv, err := s.words(st)
	if err != nil {
		return s.complain(1, "%v", err)
	}
	switch st.Builtin {
	case ":", "true":
		return 0
	case "false":
		return 1
	case "pwd":
		return s.pwd(argv[1:])
	case "cd":
		return s.cd(argv[1:])
	case "command -v":
		return s.commandV(argv)
	}
	return s.complain(126, "the plan is damaged: %q is no builtin", st.Builtin)
}

// complain says on standard error what went wrong.
func (s *scope) complain(code int, format string, args ...any) int {
	fmt.Fprintf(s.files[2], "openclaw: "+format+"\n", args...)
	return code
}

// say writes to standard output. A reader that has gone is no fault of the command.
func (s *scope) say(text string) int {
	_, err := io.WriteString(s.files[1], text+"\n")
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return codePipe
	}
	return s.complain(1, "write error: %v", errors.Unwrap(err))
}

// pwd prints the directory, with -P without links.
func (s *scope) pwd(args []string) int {
	physical := false
	for _, a := range args {
		switch a {
		case "-P":
			physical = true
		case "-L":
			physical = false
		default:
			if strings.HasPrefix(a, "-") && a != "-" && a != "--" {
				return s.complain(2, "pwd: %s: invalid option", a)
			}
		}
	}
	if !physical {
		return s.say(s.dir)
	}
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return s.complain(1, "pwd: %v", err)
	}
	return s.say(real)
}

// cd changes the directory as bash does: .. takes off what is written. CDPATH is not
// looked at, so that a directory is where its name says.
func (s *scope) cd(args []string) int {
	physical, show := false, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		done := args[0] == "--"
		switch args[0] {
		case "--", "-L", "-e", "-@":
		case "-P":
			physical = true
		default:
			return s.complain(2, "cd: %s: invalid option", args[0])
		}
		if args = args[1:]; done {
			break
		}
	}
	var to string
	switch {
	case len(args) > 1:
		return s.complain(1, "cd: too many arguments")
	case len(args) == 0:
		if to = s.lookup("HOME"); to == "" {
			return s.complain(1, "cd: HOME not set")
		}
	case args[0] == "-":
		if to = s.lookup("OLDPWD"); to == "" {
			return s.complain(1, "cd: OLDPWD not set")
		}
		show = true
	default:
		to = args[0]
	}
	if to == "" {
		return 0 // as bash: cd "" stays
	}
	named := to
	if !filepath.IsAbs(to) {
		to = s.dir + "/" + to
	}
	if physical {
		if real, err := filepath.EvalSymlinks(to); err == nil {
			to = real
		}
	}
	to = filepath.Clean(to)
	if why := noDirectory(to); why != "" {
		return s.complain(1, "cd: %s: %s", named, why)
	}
	s.setOwn("OLDPWD", s.dir)
	s.dir = to
	s.setOwn("PWD", to)
	if show {
		return s.say(to)
	}
	return 0
}

// setOwn sets a variable of the shell's own; bash hands PWD on even where it did not come
// with the environment.
func (s *scope) setOwn(name, value string) { s.env = setEnv(s.env, name, value) }

// noDirectory says why one cannot be changed to, in bash's words.
func noDirectory(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, os.ErrPermission):
		return "Permission denied"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return "Not a directory"
	case !mayEnter(path):
		return "Permission denied"
	}
	return ""
}

// commandV says what a name means, as `command -v` does.
func (s *scope) commandV(argv []string) int {
	if len(argv) != 3 {
		return s.complain(126, "the plan is damaged: command -v takes one name")
	}
	name := argv[2]
	path := s.find(name)
	if shell.Builtin(name) != shell.NotBuiltin {
		path = name
	}
	if path == "" {
		return 1
	}
	return s.say(path)
}

// find looks a program up for command -v; nothing is started by what it says.
func (s *scope) find(name string) string {
	if name == "" {
		return ""
	}
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(s.dir, full)
		}
		if isProgram(full) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(s.lookup("PATH")) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(full) {
			return full
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && mayRun(path)
}
