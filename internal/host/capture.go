package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// captureLimit bounds what a login shell may print; a machine with every completion
// loaded prints some 500 KiB.
const captureLimit = 8 << 20

// capture is what a login shell said.
type capture struct {
	path      []string          // its PATH, in order
	vars      map[string]string // of capturedVars, those that are set
	options   []string          // that the functions need to be read
	aliases   []definition
	functions []definition
	zdotdir   string // where zsh looks for start-up files, "" = home
	complete  bool   // the script reached its end: functions and aliases are all there
}

// definition is an alias or a function with the text that makes it, as the shell printed it.
type definition struct{ name, text string }

// errNoAnswer says that the shell ended without running our script to its PATH: a start-up
// file ended or replaced it.
var errNoAnswer = errors.New("it ended without an answer; a start-up file may exit or start another program")

// captureLogin asks shell for its PATH and, if it knows how, for aliases and functions. The
// shell is a login shell and interactive, because people keep both in files that only such
// a one reads. If it gives no answer although there is time (`exec tmux` in .bashrc, say), it
// is asked once more without being interactive.
func captureLogin(ctx context.Context, run Runner, shell Shell, env []string, dir string, readRC bool) (*capture, error) {
	modes := [][]string{{"-l", "-i", "-c"}, {"-l", "-c"}}
	if shell.Kind != KindBash && shell.Kind != KindZsh && shell.Kind != KindFish {
		modes = modes[1:] // dash, ash and ksh print about the missing terminal and have nothing more to tell
	}
	var lastErr error
	for _, mode := range modes {
		got, err := captureOnce(ctx, run, shell, mode, env, dir, readRC)
		if err == nil {
			return got, nil
		}
		lastErr = err
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("ask %s for its PATH: %w", shell.Path, lastErr)
}

func captureOnce(ctx context.Context, run Runner, shell Shell, mode, env []string, dir string, readRC bool) (*capture, error) {
	mark := newMark()
	env = append(env[:len(env):len(env)], "OPENCLAW_CAPTURE="+mark, "OPENCLAW_CAPTURE_SCRIPT="+captureScript(shell.Kind))
	if readRC {
		env = append(env, "OPENCLAW_CAPTURE_RC=1")
	}
	argv := append([]string{shell.Path}, mode...)
	argv = append(argv, captureStub(shell.Kind))
	out, err := run(ctx, argv, env, dir, captureLimit)
	got := parseCapture(out, mark)
	// The exit status means nothing here: a start-up file's trap may have set it. What was
	// asked for is there or it is not.
	if len(got.path) > 0 {
		return got, nil
	}
	if cause := ctx.Err(); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoAnswer, err)
	}
	return nil, errNoAnswer
}

// newMark makes the word at the beginning of each line of ours. It is random and never
// alone on a line of the environment, so nothing a start-up file prints looks like one.
func newMark() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return "openclaw-" + hex.EncodeToString(b[:])
}

// parseCapture reads the records "MARK KIND NAME\nBODY\n" and skips everything else. Only a
// record with another one behind it counts: the last one of a shell that was ended is cut.
func parseCapture(out []byte, mark string) *capture {
	got := &capture{vars: map[string]string{}}
	sep := []byte("\n" + mark + " ")
	records := bytes.Split(append([]byte("\n"), out...), sep)[1:]
	for i, record := range records {
		head, body, _ := strings.Cut(string(record), "\n")
		if i == len(records)-1 && head != "end" {
			break
		}
		kind, name, _ := strings.Cut(head, " ")
		switch kind {
		case "path":
			got.path = mergePath(filepath.SplitList(body))
		case "var":
			got.vars[name] = body
		case "zdotdir":
			got.zdotdir = body
		case "option":
			got.options = append(got.options, name)
		case "alias":
			got.aliases = append(got.aliases, definition{name, body})
		case "function":
			got.functions = append(got.functions, definition{name, body})
		case "end":
			got.complete = true
			return got // a later one would be an echo of ours
		}
	}
	return got
}
