package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// preflightBytes is how much of a script is looked at.
const preflightBytes = 256 << 10

// Slip is shell syntax in a script for another language.
type Slip struct {
	File  string // absolute
	Line  int    // from 1
	Text  string // the line, at most 200 bytes
	Cause string // what it looks like and what the language has instead
}

// Error shows the line and the likely cause.
func (s *Slip) Error() string {
	return fmt.Sprintf("%s:%d has shell syntax: %q; %s; correct the file and run it again", s.File, s.Line, s.Text, s.Cause)
}

// Preflight looks for the most common shell-syntax slips in the script that command runs,
// if command begins with a plain `python FILE` or `node FILE` and FILE is a regular file
// inside dir, symlinks resolved. It returns nil when there is none or when it is not
// sure: a false alarm stops good work, a miss only leaves the language's own error. The
// caller decides when to use it.
func Preflight(command, dir string) *Slip {
	words := plainWords(command)
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return nil
	}
	var file string
	var find func(text string, whole bool) (line int, cause string)
	switch name := filepath.Base(words[0]); {
	case pythonName.MatchString(name):
		file, find = scriptOperand(words[1:], "WX", "cm"), pythonSlip
	case nodeName.MatchString(name):
		file, find = scriptOperand(words[1:], "rC", "epich"), nodeSlip
	}
	if file == "" {
		return nil
	}
	path, text, whole := readScript(file, dir)
	if path == "" {
		return nil
	}
	line, cause := find(text, whole)
	if line == 0 {
		return nil
	}
	lineText := strings.Split(text, "\n")[line-1]
	if lineText = strings.TrimSpace(lineText); len(lineText) > 200 {
		lineText = lineText[:200]
	}
	return &Slip{File: path, Line: line, Text: lineText, Cause: cause}
}

var (
	pythonName = regexp.MustCompile(`^python(?:\d+(?:\.\d+)*)?$`)
	nodeName   = regexp.MustCompile(`^node(?:js)?(?:\d+)?$`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

func isAssignment(w string) bool { return assignment.MatchString(w) }

// scriptOperand is the script in an interpreter's arguments, "" if there is none or an
// option is not known well enough. withValue are short options whose value may be the next
// word; ends are those after which no script follows.
func scriptOperand(args []string, withValue, ends string) string {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-" || arg == "":
			return ""
		case arg == "--":
			if i+1 < len(args) {
				return args[i+1]
			}
			return ""
		case strings.HasPrefix(arg, "--"):
			// Options of node that take the next word as their value.
			if arg == "--require" || arg == "--import" || arg == "--loader" || arg == "--experimental-loader" || arg == "--conditions" {
				i++
			} else if arg == "--eval" || arg == "--print" || arg == "--check" || arg == "--interactive" || arg == "--test" || arg == "--run" {
				return ""
			}
		case arg[0] == '-':
			if strings.ContainsAny(arg[1:], ends) && !strings.ContainsAny(arg[1:2], withValue) {
				return ""
			}
			if len(arg) == 2 && strings.ContainsAny(arg[1:], withValue) {
				i++
			}
		default:
			return arg
		}
	}
	return ""
}

// plainWords splits the beginning of a command into words, up to the first operator. A
// word that the shell would expand ends the list: what it becomes is not known here.
func plainWords(command string) []string {
	var words []string
	var b strings.Builder
	in := false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; c {
		case ' ', '\t':
			if in {
				words = append(words, b.String())
				b.Reset()
				in = false
			}
			continue
		case '\n', ';', '&', '|', '<', '>', '(', ')':
			if in {
				words = append(words, b.String())
			}
			return words
		case '$', '`', '*', '?', '[', '{', '~', '!':
			return words
		case '#':
			if !in {
				return words
			}
			b.WriteByte(c)
		case '\\':
			if i++; i >= len(command) || command[i] == '\n' {
				return words
			}
			b.WriteByte(command[i])
		case '\'', '"':
			end := strings.IndexByte(command[i+1:], c)
			if end < 0 {
				return words
			}
			quoted := command[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(quoted, "$`\\!") {
				return words
			}
			b.WriteString(quoted)
			i += end + 1
		default:
			b.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, b.String())
	}
	return words
}

// readScript reads file if it is a regular file inside dir; path is "" if not. whole says
// that all of it was read.
func readScript(file, dir string) (path, text string, whole bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", "", false
	}
	realFile, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", "", false
	}
	rel, err := filepath.Rel(realDir, realFile)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", "", false
	}
	info, err := os.Stat(realFile)
	if err != nil || !info.Mode().IsRegular() {
		return "", "", false
	}
	f, err := os.Open(realFile)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, preflightBytes+1))
	if err != nil {
		return "", "", false
	}
	if len(b) > preflightBytes {
		return realFile, string(b[:preflightBytes]), false
	}
	return realFile, string(b), true
}

// codeLine is one line of a script with the content of strings and comments blanked out.
type codeLine struct {
	text string
	top  bool // it begins a statement: no bracket or continuation is open
}

// Slips that are a syntax error in Python and JavaScript alike, wherever a statement
// begins. Strings are blanked before, so a quote stands for a string.
var commonSlips = []struct {
	re    func() *regexp.Regexp
	cause string
}{
	{lazy(`^\s*export\s+[A-Za-z_][A-Za-z0-9_]*=(?:[^=]|$)`), "export NAME=value is shell"},
	{lazy(`^\s*(?:if|elif|while|until)\s+!?\s*\[\[?\s.*\]\s*;\s*(?:then|do)\b`), "a test in [ ] with then or do is shell"},
	{lazy(`^\s*for\s+[A-Za-z_]\w*\s+in\b[^:]*;\s*do\s*$`), "a loop with do is shell"},
	{lazy(`^\s*(?:fi|esac)\s*;?\s*$`), "fi and esac are shell"},
	{lazy(`^\s*set\s+-[a-z]+\s+pipefail\b`), "set -o pipefail is shell"},
	{lazy(`^\s*echo\s+["']`), "echo is shell"},
}

func commonSlip(line codeLine) string {
	if !line.top {
		return ""
	}
	for _, slip := range commonSlips {
		if slip.re().MatchString(line.text) {
			return slip.cause
		}
	}
	return ""
}

// lazy is a regular expression that is compiled when it is first used.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
