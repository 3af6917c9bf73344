package session

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/safefile"
)

// journal is the durable record of one program's sessions: a line when a session
// starts and one when it ends or is forgotten. A line is one write; it survives the
// death of this program, which is what it is for. Processes found by it belong to this
// boot, so it need not survive the machine's.
type journal struct {
	dir      string
	instance string // names this program among those that share the folder
	lock     *safefile.Held

	mu     sync.Mutex // guards the rest; a line is written under it, whole
	file   *os.File
	closed bool
	torn   bool              // the last write left a part of a line
	live   map[string]record // what a rewrite keeps, by record.name
	grown  int64             // bytes since the last rewrite
	kept   int64             // size of the last rewrite
}

// record is a journal line. Op: "start", "end", "told", "drop".
type record struct {
	Op         string          `json:"op"`
	ID         string          `json:"id"`
	Agent      string          `json:"agent,omitempty"`
	SessionKey string          `json:"sessionKey,omitempty"`
	Host       string          `json:"host,omitempty"`
	Command    string          `json:"command,omitempty"`
	Dir        string          `json:"dir,omitempty"`
	PTY        bool            `json:"pty,omitempty"`
	Streams    bool            `json:"streams,omitempty"`
	Background bool            `json:"background,omitempty"`
	Cols       int             `json:"cols,omitempty"`
	Rows       int             `json:"rows,omitempty"`
	StartedMs  int64           `json:"startedMs,omitempty"`
	RetainMs   int64           `json:"retainMs,omitempty"`
	LogBase    string          `json:"logBase,omitempty"`
	Ref        *proc.Ref       `json:"ref,omitempty"`
	Status     protocol.Status `json:"status,omitempty"`
	ExitCode   *int            `json:"exitCode,omitempty"`
	Signal     string          `json:"signal,omitempty"`
	TimedOut   bool            `json:"timedOut,omitempty"`
	EndedMs    int64           `json:"endedMs,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
	Left       bool            `json:"left,omitempty"`   // of a drop: it had left something running
	Hidden     bool            `json:"hidden,omitempty"` // dropped with Left: only the marker counts
	Notify     bool            `json:"notify,omitempty"`
	Outlive    bool            `json:"outlive,omitempty"`
	Record     json.RawMessage `json:"record,omitempty"`
	Announce   bool            `json:"announce,omitempty"`
	Told       bool            `json:"told,omitempty"` // somebody has the End safe
	Gone       bool            `json:"gone,omitempty"` // dropped, but not told: only the End counts
	Tail       string          `json:"tail,omitempty"` // of a drop that is not told: End.Tail
}

// name tells a session from an earlier one with the same id.
func (r *record) name() string { return r.ID + "@" + strconv.FormatInt(r.StartedMs, 36) }

// rewriteAt is by how much a journal grows before it is rewritten without what is
// forgotten; more when what counts is more.
const rewriteAt = 2 << 20

func openJournal(dir string) (*journal, error) {
	for {
		var b [6]byte
		_, _ = rand.Read(b[:])
		j := &journal{dir: dir, instance: hex.EncodeToString(b[:]), live: map[string]record{}}
		lock, err := safefile.TryLock(LockPath(dir, j.instance))
		if err == nil {
			if _, err := os.Lstat(LockPath(dir, j.instance)); err == nil {
				j.lock = lock
				return j, nil
			}
			err = lock.Close()
		}
		// Another program may have come upon the lock file before we held it, and have
		// taken it for that of a dead one.
		if err != nil && !errors.Is(err, safefile.ErrLocked) {
			return nil, fmt.Errorf("lock the session record: %w", err)
		}
	}
}

// LockPath is the file that a program holds locked while it keeps the sessions of an
// instance in a folder.
func LockPath(dir, instance string) string {
	return filepath.Join(dir, instance+".journal.lock")
}

func (j *journal) path() string { return filepath.Join(j.dir, j.instance+".journal") }

// marker is the value of proc.MarkerEnv for a session of this program.
func (j *journal) marker(id string) string { return j.instance + "." + id }

func (j *journal) logBase(id string) string { return filepath.Join(j.dir, j.instance+"-"+id) }

func (j *journal) started(s *session) {
	ref := s.proc.Ref()
	j.put(record{
		Op: "start", ID: s.plan.ID, Agent: s.plan.Agent, SessionKey: s.plan.SessionKey, Host: s.plan.Host,
		Command: s.plan.Command, Dir: s.plan.Dir, PTY: s.plan.PTY, Streams: s.plan.Streams, Background: s.plan.Background,
		Cols: s.plan.Cols, Rows: s.plan.Rows, StartedMs: s.started.UnixMilli(),
		RetainMs: s.plan.Retain.Milliseconds(), LogBase: s.log.base, Ref: &ref,
		Notify: s.plan.Notify, Outlive: s.plan.Outlive, Record: s.plan.Record,
	})
}

// ended records the end of s as it is known now; of two at once, the later one has the
// newer state.
func (j *journal) ended(s *session) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.mu.Lock()
	r := record{
		Op: "end", ID: s.plan.ID, StartedMs: s.started.UnixMilli(), Status: s.status, ExitCode: s.exitCode, Signal: s.signal,
		TimedOut: s.reason == endTimeout, EndedMs: s.ended.UnixMilli(), Warnings: s.warnings,
		Background: s.background || s.listed, Announce: s.announce, Told: s.told,
	}
	s.mu.Unlock()
	j.putLocked(r)
}

func (j *journal) dropped(gone []*session) {
	lines := make([]record, 0, len(gone))
	for _, s := range gone {
		line := record{Op: "drop", ID: s.plan.ID, StartedMs: s.started.UnixMilli(), Left: len(s.leftoverCopy()) > 0}
		s.mu.Lock()
		line.Told = s.told
		tail := s.announce && !s.told
		s.mu.Unlock()
		if tail {
			line.Tail = s.tail(announceTail)
		}
		lines = append(lines, line)
	}
	j.put(lines...)
}

// told records that the Ends of sessions are safe elsewhere: of those in kept, and of
// forgotten ones by key.
func (j *journal) told(kept []record, forgotten map[string]bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []record
	add := func(r record) {
		if r.Status != "" && !r.Told {
			lines = append(lines, record{Op: "told", ID: r.ID, StartedMs: r.StartedMs})
		}
	}
	for _, k := range kept {
		add(j.live[k.name()])
	}
	if len(forgotten) > 0 {
		for _, r := range j.live {
			if forgotten[r.key()] {
				add(r)
			}
		}
	}
	j.putLocked(lines...)
}

// key is State.Key of the record's session.
func (r *record) key() string {
	if r.Ref == nil {
		return ""
	}
	return r.Ref.Marker
}

// put adds lines, in one write. A disk that refuses does not stop a command: full/off
// runs go on without the record.
func (j *journal) put(lines ...record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.putLocked(lines...)
}

// putLocked is put for callers that hold mu.
func (j *journal) putLocked(lines ...record) {
	if len(lines) == 0 || j.closed {
		return
	}
	var buf bytes.Buffer
	if j.torn { // what follows must not become a part of it
		buf.WriteByte('\n')
	}
	enc := json.NewEncoder(&buf)
	for _, r := range lines {
		if enc.Encode(r) != nil {
			return
		}
		apply(j.live, r)
	}
	if j.file == nil {
		f, err := os.OpenFile(j.path(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return
		}
		j.file = f
	}
	n, err := j.file.Write(buf.Bytes())
	j.torn = err != nil && (n > 0 || j.torn)
	j.grown += int64(n)
	if err == nil && j.grown > max(rewriteAt, j.kept) {
		j.grown = 0 // also when it fails: the next try comes as late
		j.rewrite()
	}
}

// apply brings a set of records, by name, up to date with a line.
func apply(live map[string]record, r record) {
	name := r.name()
	if r.Op == "start" {
		live[name] = r
		return
	}
	old, ok := live[name]
	if !ok {
		return
	}
	switch r.Op {
	case "end":
		old.Status, old.ExitCode, old.Signal = r.Status, r.ExitCode, r.Signal
		old.TimedOut, old.EndedMs, old.Warnings = r.TimedOut, r.EndedMs, r.Warnings
		old.Background, old.Announce, old.Told = r.Background, r.Announce, old.Told || r.Told
	case "told":
		old.Told = true
	case "drop":
		// What it left may stay; it must not look like a session without record.
		old.Hidden = r.Left
		old.Told = old.Told || r.Told
		old.Gone, old.Tail = true, r.Tail
	}
	if old.Gone && old.Told && !old.Hidden {
		delete(live, name)
		return
	}
	live[name] = old
}

// rewrite replaces the journal by what still counts. Callers hold mu.
func (j *journal) rewrite() {
	tmp := j.path() + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, r := range j.live {
		_ = enc.Encode(r) // a write error shows at Flush
	}
	err = w.Flush()
	info, statErr := f.Stat()
	if err != nil || statErr != nil || os.Rename(tmp, j.path()) != nil {
		f.Close()
		os.Remove(tmp)
		return
	}
	j.file.Close()
	j.file, j.kept, j.torn = f, info.Size(), false
}

// adopt takes over the record of a session of an earlier program.
func (j *journal) adopt(r record) {
	r.Op = "start"
	j.put(r)
}

func (j *journal) close() error {
	j.mu.Lock()
	j.closed = true
	empty := true
	for _, r := range j.live {
		empty = empty && r.Hidden && r.Told
	}
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	j.mu.Unlock()
	if empty {
		os.Remove(j.path())
	}
	os.Remove(j.path() + ".lock")
	if cerr := j.lock.Close(); err == nil {
		err = cerr
	}
	return err
}

// orphan is a journal whose program has died, held so that no other program takes it
// over too.
type orphan struct {
	path string
	lock *safefile.Held
	live map[string]record
}

// orphans finds the journals of dead programs and locks them.
func (j *journal) orphans() []orphan {
	// A program that died with a full disk has a lock without record, one that ended in
	// order a record without lock.
	names, _ := filepath.Glob(filepath.Join(globQuote(j.dir), "*.journal*"))
	var out []orphan
	seen := map[string]bool{j.path(): true}
	for _, name := range names {
		path := strings.TrimSuffix(name, ".lock")
		if seen[path] || filepath.Ext(path) != ".journal" {
			continue
		}
		seen[path] = true
		lock, err := safefile.TryLock(path + ".lock")
		if err != nil { // its program lives
			continue
		}
		out = append(out, orphan{path: path, lock: lock, live: readJournal(path)})
	}
	return out
}

// living returns the instances among the folder's entries whose lock is held.
func (j *journal) living(entries []os.DirEntry) map[string]bool {
	out := map[string]bool{j.instance: true}
	for _, e := range entries {
		instance, ok := strings.CutSuffix(e.Name(), ".journal.lock")
		if !ok || instance == j.instance {
			continue
		}
		if held, err := safefile.Locked(filepath.Join(j.dir, e.Name())); held || err != nil {
			out[instance] = true
		}
	}
	return out
}

// readJournal replays a journal; a torn last line is skipped.
func readJournal(path string) map[string]record {
	live := map[string]record{}
	f, err := os.Open(path)
	if err != nil {
		return live
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		var rec record
		if len(line) > 0 && json.Unmarshal(line, &rec) == nil {
			apply(live, rec)
		}
		if err != nil {
			return live
		}
	}
}

// instance names the dead program.
func (o orphan) instance() string { return strings.TrimSuffix(filepath.Base(o.path), ".journal") }

func (o orphan) close() {
	os.Remove(o.path)
	os.Remove(o.path + ".lock")
	o.lock.Close()
}

func msTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
