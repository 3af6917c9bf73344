package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"openclaw/internal/policy"
	"openclaw/internal/safefile"
)

// maxFile bounds the document's size; one with ten thousand entries has about two million
// bytes.
const maxFile = 16 << 20

// Host is what the document says for one agent, ready for policy.Decide.
type Host struct {
	Policy policy.HostPolicy
	List   *policy.List
	Exists bool // false: there is no document, and the requested policy applies
}

// Reader reads the document again whenever it has changed. It may be used by many at
// once.
type Reader struct {
	dir  string // state directory
	home string // for ~ in patterns

	mu     sync.Mutex // guards what follows
	info   fs.FileInfo
	doc    *Document
	agents map[string]*Host // made from doc
}

// NewReader makes a Reader of the document in the state directory; home is the operator's
// home directory, "" = none. Nothing is read yet.
func NewReader(stateDir, home string) *Reader { return &Reader{dir: stateDir, home: home} }

// For gives what holds for an agent now. It costs one stat while the document stays as it
// is (P-73). An error wraps ErrDamaged: then nothing may run that would need the document.
func (r *Reader) For(agent string) (*Host, error) {
	agent = strings.ToLower(agent)
	path := filepath.Join(r.dir, FileName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r.missing(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doc == nil || !sameVersion(r.info, info) {
		r.doc, r.agents = nil, nil
		data, err := safefile.Read(path, maxFile)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		doc, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		r.doc, r.info, r.agents = doc, info, map[string]*Host{}
		_ = markSeen(r.dir) // tried again with the next version; a full disk stops no command
	}
	h := r.agents[agent]
	if h == nil {
		h = &Host{Exists: true}
		var entries []policy.Entry
		h.Policy, entries = r.doc.For(agent)
		h.List = policy.Compile(entries, r.home)
		r.agents[agent] = h
	}
	return h, nil
}

// missing is a document that is not there: nothing is set, unless one was there before.
func (r *Reader) missing(path string) (*Host, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%w: %s is a link to a file that is not there", ErrDamaged, path)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, SeenName)); err == nil {
		return nil, fmt.Errorf("%w: %s has gone; put it back from a copy", ErrDamaged, path)
	}
	return &Host{List: policy.Compile(nil, r.home)}, nil
}

// sameVersion compares two looks at the document.
func sameVersion(a, b fs.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}
