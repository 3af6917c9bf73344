package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"openclaw/internal/policy"
)

// look examines one program. The path need not be clean: links and .. are followed as the
// kernel does.
func look(path string) (*policy.File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, plainError(err)
	}
	id, err := statID(real)
	if err != nil {
		return nil, plainError(err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, plainError(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", real)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", real)
	case !executableMode(info.Mode()) || !mayExecute(real):
		return nil, fmt.Errorf("%s is not executable", real)
	}
	if err := checkFormat(real); err != nil {
		return nil, err
	}
	f := &policy.File{Path: filepath.Clean(path), Real: real, ID: id}
	if clean, err := filepath.EvalSymlinks(f.Path); err != nil || clean != real {
		f.Path = real // .. led through a link: the clean spelling names something else
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(f.Path))
	if err != nil {
		return nil, plainError(err)
	}
	f.Direct = filepath.Join(dir, filepath.Base(f.Path))
	if f.Loose = whoElse(real); f.Loose == "" && f.Direct != real {
		f.Loose = whoElseDirs(filepath.Dir(f.Direct))
	}
	if f.Loose == "" && f.Path != f.Direct { // who could lead the links on the way elsewhere
		f.Loose = whoElseDirs(filepath.Dir(f.Path))
	}
	return f, nil
}

// plainError takes the operation's name off a system error.
func plainError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// maxInterpreterLine is how much of a script's first line the kernel reads.
const maxInterpreterLine = 256

// checkFormat refuses a file that the kernel would not start: a shell would then read it
// as a script of its own.
func checkFormat(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s cannot be read to see what it is: %w", path, errors.Unwrap(err))
	}
	defer f.Close() // read only
	head := make([]byte, maxInterpreterLine)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s cannot be read to see what it is", path)
	}
	head = head[:n]
	if isProgram(head) {
		return nil
	}
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return fmt.Errorf("%s is neither a program nor a script with an interpreter line", path)
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	if !ended && n == maxInterpreterLine {
		return fmt.Errorf("the interpreter line of %s is too long", path)
	}
	words := strings.Fields(string(line))
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return fmt.Errorf("the interpreter line of %s names no absolute path", path)
	}
	if isExecutable(words[0]) != nil {
		return fmt.Errorf("the interpreter of %s (%s) is not there", path, words[0])
	}
	return nil
}

// isProgram knows the first bytes of programs of Linux, the BSDs and macOS.
func isProgram(head []byte) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
