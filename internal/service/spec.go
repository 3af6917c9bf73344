package service

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spec is what the service runs. All of it is written into a file that others may read:
// no secrets.
type Spec struct {
	Program  string            // absolute path
	Args     []string          // without the program
	Env      map[string]string // beside what the manager sets; few, and no secrets
	StateDir string            // absolute; the daemon's, so that a file says whose it is
	Log      string            // absolute path that launchd appends output to; systemd has its journal
}

// check refuses what no definition file can hold as it is meant.
func (s Spec) check() error {
	for what, path := range map[string]string{"program": s.Program, "state directory": s.StateDir} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("service definition: the %s %q is no absolute path", what, path)
		}
	}
	for _, text := range slices.Concat([]string{s.Program, s.StateDir, s.Log}, s.Args, slices.Collect(maps.Values(s.Env))) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("service definition: %q holds control characters, or bytes that are no UTF-8", text)
		}
	}
	for name := range s.Env {
		if !envName(name) {
			return fmt.Errorf("service definition: %q is no name of a variable", name)
		}
	}
	return nil
}

// envName says whether a name is one that every manager takes.
func envName(name string) bool {
	return name != "" && !unicode.IsDigit(rune(name[0])) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
}

// Each definition begins with two lines that say who wrote it and for which daemon.
const (
	writtenBy  = "Written by: openclaw gateway install"
	stateOf    = "State directory: "
	headerPart = 2048 // bytes of a file in which the two lines have to stand
)

// header is the content of the first comment. "--" would end a comment of XML.
func (s Spec) header(prefix string) string {
	dir := strings.ReplaceAll(strconv.Quote(s.StateDir), "--", `-\x2d`)
	return writtenBy + "\n" + prefix + stateOf + dir
}

var errNoHeader = errors.New("no line says for which daemon it is")

// parseHeader finds the state directory of the daemon that a definition is for.
func parseHeader(text string) (stateDir string, err error) {
	text = text[:min(len(text), headerPart)]
	_, rest, ok := strings.Cut(text, writtenBy+"\n")
	if !ok {
		return "", ErrForeign
	}
	_, rest, ok = strings.Cut(rest, stateOf)
	if !ok {
		return "", errNoHeader
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", errNoHeader
	}
	dir, err := strconv.Unquote(quoted)
	if err != nil || !filepath.IsAbs(dir) {
		return "", errNoHeader
	}
	return dir, nil
}
