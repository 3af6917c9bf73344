package walk

import (
	"os"
	"strconv"
	"strings"

	"openclaw/internal/shell"
)

// scope is what a shell keeps: a subshell and each part of a pipeline has a copy.
type scope struct {
	plan   *shell.Plan
	dir    string // as it is written, links and all; PWD
	env    []string
	vars   map[string]string // of for loops, where the environment has no such name
	status int               // of the last command
	files  [3]*os.File
}

// sub is a copy whose changes nobody sees.
func (s *scope) sub() *scope {
	c := *s
	c.env = append([]string(nil), s.env...)
	c.vars = make(map[string]string, len(s.vars))
	for k, v := range s.vars {
		c.vars[k] = v
	}
	return &c
}

func (s *scope) lookup(name string) string {
	if name == "?" {
		return strconv.Itoa(s.status)
	}
	if v, ok := s.vars[name]; ok {
		return v
	}
	v, _ := lookEnv(s.env, name)
	return v
}

// set gives a variable a value; one that came with the environment is handed on (as bash
// does).
func (s *scope) set(name, value string) {
	if _, ok := lookEnv(s.env, name); ok {
		s.env = setEnv(s.env, name, value)
		return
	}
	s.vars[name] = value
}

func lookEnv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// setEnv puts name=value into env, over an entry that is there.
func setEnv(env []string, name, value string) []string {
	for i, kv := range env {
		if strings.HasPrefix(kv, name+"=") {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}
