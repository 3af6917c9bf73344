package approval

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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

	mu      sync.Mutex // guards what follows
	info    fs.FileInfo
	settled bool     // info names this content for good, see settling
	sum     [32]byte // SHA-256 of the content
	doc     *Document
	agents  map[string]*Host // made from doc
}

// settling is how long after a change the content is read each time: the clock that files
// get their times from goes in steps of up to 10 ms, so two changes in one step look alike.
const settling = 100 * time.Millisecond

// NewReader makes a Reader of the document in the state directory; home is the operator's
// home directory, "" = none. Nothing is read yet.
func NewReader(stateDir, home string) *Reader { return &Reader{dir: stateDir, home: home} }

// For gives what holds for an agent now. It costs one stat while the document stays as it
// is (P-73), and reads it only after a change and shortly thereafter. An error wraps ErrDamaged: then nothing may run that would need the document.
func (r *Reader) For(agent string) (*Host, error) {
	agent = strings.ToLower(agent)
	path := filepath.Join(r.dir, FileName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := mayBeMissing(r.dir); err != nil {
			return nil, err
		}
		return &Host{List: policy.Compile(nil, r.home)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doc == nil || !r.settled || !sameVersion(r.info, info) {
		if err := r.load(path, info); err != nil {
			r.doc, r.agents = nil, nil
			return nil, err
		}
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

// load reads the document; info was taken before. Callers hold mu.
func (r *Reader) load(path string, info fs.FileInfo) error {
	changed := changeTime(info)
	if changed == 0 { // not known on this system
		changed = info.ModTime().UnixNano()
	}
	settled := time.Now().UnixNano()-changed > int64(settling)
	data, err := safefile.Read(path, maxFile)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	sum := sha256.Sum256(data)
	if r.doc == nil || sum != r.sum {
		doc, err := Parse(data)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		r.doc, r.sum, r.agents = doc, sum, map[string]*Host{}
		_ = markSeen(r.dir) // tried again with the next version; a full disk stops no command
	}
	r.info, r.settled = info, settled
	return nil
}

// sameVersion compares two looks at the document.
func sameVersion(a, b fs.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}
