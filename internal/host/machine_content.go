package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"openclaw/internal/policy"
)

// contentSeen is a file's content as it was read once.
type contentSeen struct {
	id  policy.FileID
	sum string
}

// Content looks at the content of a file that is run or interpreted. A version of a file
// that the user can write is read once (P-73).
func (m *Machine) Content(path string) (*policy.Content, error) {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return nil, errors.New("it is no absolute path")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, plainError(err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, plainError(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", real)
	}
	c := &policy.Content{Real: real, Writable: mayWrite(real) || mayWrite(filepath.Dir(real))}
	if !c.Writable {
		return c, nil
	}
	id, err := statID(real)
	if err != nil {
		return nil, plainError(err)
	}
	m.mu.Lock()
	seen, ok := m.sums[real]
	m.mu.Unlock()
	if ok && seen.id == id {
		c.SHA256 = seen.sum
		return c, nil
	}
	if c.SHA256, err = fileSum(real); err != nil {
		return nil, err
	}
	if now, err := statID(real); err != nil || now != id {
		return nil, fmt.Errorf("%s changes while it is read", real)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sums) >= keepMost {
		clear(m.sums)
	}
	m.sums[real] = contentSeen{id, c.SHA256}
	return c, nil
}
