package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"
)

// version is set by the linker; see the Makefile.
var version = "dev"

// Env is what a command has of the world: streams, environment and place. Tests give
// buffers and maps.
type Env struct {
	Stdin          io.Reader // a terminal is looked for when it is an *os.File
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        []string // whole; commands inherit it, see inherited
	Dir            string   // absolute directory the program was started in; "" = it has gone
	Version        string   // of this program
	Program        string   // absolute path of this program; "" = not known
	Args           []string // command line as it was given, the program's name first

	elsewhere elsewhere // set by flags
}

// System is the Env of this process.
func System() *Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // who needs one says so
	}
	program, err := os.Executable()
	if err != nil {
		program = ""
	}
	return &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Dir: dir, Version: version, Program: program, Args: os.Args,
	}
}

// terminal gives a stream's descriptor when it is a terminal.
func terminal(stream any) (fd int, ok bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// inherited is the environment for commands: ours without the tokens, with which an
// agent's command could make itself the operator (C-6).
func (e *Env) inherited() []string {
	return slices.DeleteFunc(slices.Clone(e.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == gatewayTokenEnv || name == agentTokenEnv
	})
}

// attended says whether a person can see and answer what this program says.
func (e *Env) attended() bool {
	_, in := terminal(e.Stdin)
	_, out := terminal(e.Stderr)
	return in && out
}

// width is how many columns standard output has, 0 when it is no terminal: then
// nothing is cut.
func (e *Env) width() int {
	fd, ok := terminal(e.Stdout)
	if !ok {
		return 0
	}
	cols, _, err := term.GetSize(fd)
	if err != nil {
		return 0
	}
	return cols
}

// abs makes a path absolute against the directory the program was started in; "" is
// that directory.
func (e *Env) abs(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if e.Dir == "" {
		return "", errors.New("the current directory has gone; change to another one or give an absolute path")
	}
	return filepath.Join(e.Dir, path), nil
}

// self is how to call this program from a shell in the directory we were started in.
func (e *Env) self() string {
	dir, name := filepath.Split(e.Program)
	if e.Program == "" || slices.Contains(filepath.SplitList(e.Getenv("PATH")), filepath.Clean(dir)) {
		return "openclaw"
	}
	if rel, err := filepath.Rel(e.Dir, e.Program); e.Dir != "" && err == nil && filepath.IsLocal(rel) {
		if rel == name {
			return "." + string(filepath.Separator) + rel
		}
		return rel
	}
	return e.Program
}

// hinted is an error with what to do about it.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// hint makes an error that tells what to do.
func hint(text, format string, args ...any) error {
	return &hinted{err: fmt.Errorf(format, args...), hint: text}
}
