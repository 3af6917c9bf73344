package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Kind is the family of a shell.
type Kind string

// The shells that X-9 knows. KindFish is only ever asked for its PATH: it would not
// understand the text of a command.
const (
	KindSh         Kind = "sh"
	KindAsh        Kind = "ash"
	KindBash       Kind = "bash"
	KindDash       Kind = "dash"
	KindZsh        Kind = "zsh"
	KindKsh        Kind = "ksh"
	KindFish       Kind = "fish"
	KindPowerShell Kind = "powershell"
	KindOther      Kind = "other" // $SHELL itself, where there is neither bash nor sh
)

// Shell is a shell on this machine.
type Shell struct {
	Path string // absolute
	Kind Kind
}

// ErrNoShell says that the machine has no shell to run a command with.
var ErrNoShell = errors.New("no shell found")

// shellKind reads the family from a path: the last element without a version behind it,
// so that bash5, bash-5.2, zsh-5.9 and ksh93 are what they are.
func shellKind(path string) Kind {
	base := filepath.Base(path)
	base = strings.TrimRight(base, "0123456789.")
	base = strings.TrimSuffix(base, "-")
	switch kind := Kind(base); kind {
	case KindSh, KindAsh, KindBash, KindDash, KindZsh, KindKsh, KindFish:
		return kind
	}
	return KindOther
}

// choosePOSIX is X-9 off Windows. lookPath resolves a bare name, and answers for an
// absolute path if that is an executable file. A relative $SHELL is not trusted: it would
// mean another file in every directory.
func choosePOSIX(getenv func(string) string, lookPath func(string) (string, error)) (Shell, error) {
	own := getenv("SHELL")
	usable := false
	if filepath.IsAbs(own) {
		_, err := lookPath(own)
		usable = err == nil
	}
	kind := shellKind(own)
	if usable && kind != KindOther && kind != KindFish {
		return Shell{Path: own, Kind: kind}, nil
	}
	for _, name := range []Kind{KindBash, KindSh} {
		if path, err := lookPath(string(name)); err == nil && filepath.IsAbs(path) {
			return Shell{Path: path, Kind: name}, nil
		}
	}
	if usable && !refusesLogin(own) {
		return Shell{Path: own, Kind: KindOther}, nil
	}
	if own == "" {
		return Shell{}, fmt.Errorf("%w: SHELL is not set and PATH has neither bash nor sh; install one or set SHELL", ErrNoShell)
	}
	return Shell{}, fmt.Errorf("%w: SHELL=%q cannot be used and PATH has neither bash nor sh; install one or set SHELL", ErrNoShell, own)
}

// refusesLogin knows the programs that stand in for a shell to keep an account out.
func refusesLogin(path string) bool {
	switch filepath.Base(path) {
	case "nologin", "false", "true":
		return true
	}
	return false
}

// plainShell is the shell of P-61 for text that a person approved: bash, else sh, and
// never $SHELL, so that the prompt names what really runs.
func plainShell(lookPath func(string) (string, error)) (Shell, error) {
	none := func(string) string { return "" }
	return choosePOSIX(none, lookPath)
}

// choosePowerShell is X-9 on Windows: PowerShell 7, then Windows PowerShell 5.1.
// isFile says if a path is an executable file.
func choosePowerShell(getenv func(string) string, lookPath func(string) (string, error), isFile func(string) bool) (Shell, error) {
	for _, name := range []string{"ProgramFiles", "ProgramW6432"} {
		if root := getenv(name); root != "" {
			if path := root + `\PowerShell\7\pwsh.exe`; isFile(path) {
				return Shell{Path: path, Kind: KindPowerShell}, nil
			}
		}
	}
	if path, err := lookPath("pwsh.exe"); err == nil {
		return Shell{Path: path, Kind: KindPowerShell}, nil
	}
	root := getenv("SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	if path := root + `\System32\WindowsPowerShell\v1.0\powershell.exe`; isFile(path) {
		return Shell{Path: path, Kind: KindPowerShell}, nil
	}
	return Shell{}, fmt.Errorf("%w: neither PowerShell 7 nor Windows PowerShell 5.1; install PowerShell 7", ErrNoShell)
}

// argv is the command line that makes the shell run text and nothing else. The text is
// one argument as it stands; "--" keeps one that begins with a minus from being read as
// an option.
func (s Shell) argv(text string, startupDir bool) []string {
	switch s.Kind {
	case KindBash:
		// --norc matters although bash reads no start-up file for -c: built as most
		// distributions build it, it does read ~/.bashrc when SSH_CLIENT is set or
		// stdin is a socket, and then ignores BASH_ENV.
		return []string{s.Path, "--noprofile", "--norc", "-c", "--", text}
	case KindZsh:
		if startupDir { // ZDOTDIR is ours: its .zshenv is the snapshot
			return []string{s.Path, "-c", "--", text}
		}
		return []string{s.Path, "-f", "-c", "--", text}
	case KindPowerShell:
		return []string{s.Path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", text}
	case KindOther: // csh and the like do not know "--"
		return []string{s.Path, "-c", text}
	}
	return []string{s.Path, "-c", "--", text}
}
