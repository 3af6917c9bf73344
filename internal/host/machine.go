package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"openclaw/internal/policy"
)

// Machine is policy.Machine for this computer. It keeps what it has seen: a look-up that
// is asked again costs one stat for each directory of PATH before the program and one for
// the program (P-73). It may be used by many at once, and holds no resource.
type Machine struct {
	now func() time.Time

	mu    sync.Mutex // guards the maps; nothing is looked up while it is held
	names map[nameKey]*nameSeen
	files map[string]*fileSeen
	dirs  map[string]*dirSeen
	sums  map[string]contentSeen // by resolved path
}

type nameKey struct{ name, path string }

// nameSeen is a look-up along PATH, good as long as the directories up to the program and
// the program are what they were.
type nameSeen struct {
	dirs []dirStamp
	file *policy.File
	err  error
	at   time.Time
}

type dirStamp struct {
	path string
	id   policy.FileID // zero = it was not there
}

type fileSeen struct {
	file *policy.File
	at   time.Time
}

type dirSeen struct {
	id   policy.FileID
	real string
	at   time.Time
}

const (
	// keepFor bounds how long anything is believed without looking at all of it again:
	// modes of directories further up, and links to renamed ones, have no stamp here.
	keepFor = 5 * time.Second
	// keepMost bounds each map; one that is full is emptied.
	keepMost = 4096
)

// NewMachine makes a Machine. A nil now is time.Now.
func NewMachine(now func() time.Time) *Machine {
	if now == nil {
		now = time.Now
	}
	return &Machine{now: now, names: map[nameKey]*nameSeen{}, files: map[string]*fileSeen{}, dirs: map[string]*dirSeen{}, sums: map[string]contentSeen{}}
}

var (
	_ policy.Machine = (*Machine)(nil)
	_ policy.Machine = (*once)(nil)
)

// Once is the machine for one decision: each directory of PATH is looked at once in it,
// however many commands the text has. It is for one goroutine.
func (m *Machine) Once() policy.Machine { return &once{m: m} }

type once struct {
	m    *Machine
	dirs []dirStamp // as they were in this decision
}

func (o *once) InPath(name, path, dir string) (*policy.File, error) {
	return o.m.inPath(name, path, dir, o.stamp)
}
func (o *once) At(path string) (*policy.File, error) { return o.m.At(path) }
func (o *once) Dir(path string) (string, error)      { return o.m.Dir(path) }

func (o *once) Content(path string) (*policy.Content, error) { return o.m.Content(path) }
func (o *once) Changeable(path string) string                { return o.m.Changeable(path) }

// stamp looks at a directory, once.
func (o *once) stamp(path string) policy.FileID {
	for i := range o.dirs {
		if o.dirs[i].path == path {
			return o.dirs[i].id
		}
	}
	id := stampDir(path)
	o.dirs = append(o.dirs, dirStamp{path, id})
	return id
}

// stampDir is a directory's identity, zero when it is not there.
func stampDir(path string) policy.FileID {
	id, _ := statID(path)
	return id
}

var errNotFound = errors.New("it is not found in PATH")

// InPath looks a bare name up along path as a shell would (P-32).
func (m *Machine) InPath(name, path, dir string) (*policy.File, error) {
	return m.inPath(name, path, dir, stampDir)
}

func (m *Machine) inPath(name, path, dir string, stamp func(string) policy.FileID) (*policy.File, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return nil, errors.New("it is no program's name")
	}
	key := nameKey{name, path}
	m.mu.Lock()
	seen := m.names[key]
	m.mu.Unlock()
	if seen != nil && m.fresh(seen.at) && seen.holds(stamp) {
		return seen.file, seen.err
	}
	next, cacheable := m.search(name, path, dir, stamp)
	if cacheable {
		m.mu.Lock()
		if len(m.names) >= keepMost {
			clear(m.names)
		}
		m.names[key] = next
		m.mu.Unlock()
	}
	return next.file, next.err
}

func (m *Machine) fresh(at time.Time) bool {
	age := m.now().Sub(at)
	return age >= 0 && age < keepFor
}

// holds says if nothing that was looked at has changed.
func (s *nameSeen) holds(stamp func(string) policy.FileID) bool {
	for i := range s.dirs {
		if stamp(s.dirs[i].path) != s.dirs[i].id {
			return false
		}
	}
	if s.file == nil {
		return true
	}
	id, err := statID(s.file.Path)
	return err == nil && id == s.file.ID
}

// search walks PATH. Stamps are taken before a directory is looked into, so that a change
// in between is seen next time. What depends on the working directory is not kept.
func (m *Machine) search(name, path, dir string, stamp func(string) policy.FileID) (seen *nameSeen, cacheable bool) {
	seen, cacheable = &nameSeen{at: m.now()}, true
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			cacheable = false
			if err := relativeEntry(name, entry, dir); err != nil {
				seen.err = err
				return seen, false
			}
			continue
		}
		seen.dirs = append(seen.dirs, dirStamp{entry, stamp(entry)})
		full := filepath.Join(entry, name)
		if isExecutable(full) != nil || !mayExecute(full) {
			continue
		}
		seen.file, seen.err = look(full)
		return seen, cacheable
	}
	seen.err = errNotFound
	return seen, cacheable
}

// relativeEntry refuses a program that an empty or relative PATH entry would find.
func relativeEntry(name, entry, dir string) error {
	if dir == "" {
		return fmt.Errorf("PATH has the entry %q, and the directory it leads to is not known", entry)
	}
	full := filepath.Join(dir, entry, name)
	if isExecutable(full) == nil {
		return fmt.Errorf("PATH finds it through the entry %q, which is not absolute (%s)", entry, full)
	}
	return nil
}

// At looks at the program at an absolute path.
func (m *Machine) At(path string) (*policy.File, error) {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return nil, errors.New("it is no absolute path")
	}
	m.mu.Lock()
	seen := m.files[path]
	m.mu.Unlock()
	if seen != nil && m.fresh(seen.at) {
		if id, err := statID(path); err == nil && id == seen.file.ID {
			return seen.file, nil
		}
	}
	at := m.now()
	file, err := look(path)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	if len(m.files) >= keepMost {
		clear(m.files)
	}
	m.files[path] = &fileSeen{file, at}
	m.mu.Unlock()
	return file, nil
}

// Dir resolves the links of a directory's path.
func (m *Machine) Dir(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return "", errors.New("it is no absolute path")
	}
	id, err := statDir(path)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	seen := m.dirs[path]
	m.mu.Unlock()
	if seen != nil && m.fresh(seen.at) && seen.id == id {
		return seen.real, nil
	}
	at := m.now()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", plainError(err)
	}
	m.mu.Lock()
	if len(m.dirs) >= keepMost {
		clear(m.dirs)
	}
	m.dirs[path] = &dirSeen{id, real, at}
	m.mu.Unlock()
	return real, nil
}

// Home is the operator's home directory, "" if there is none.
func Home(getenv func(string) string) string { return findHome(getenv) }
