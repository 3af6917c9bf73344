package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// Adopt takes over what dead programs left: what still runs is ended, sessions that
// were running read lost, finished ones and all logs can be looked at again (S-8).
//
// It may be called again at any time.
func (t *Table) Adopt() {
	t.adopting.Lock()
	defer t.adopting.Unlock()
	orphans := t.store.orphans()
	if len(orphans) == 0 && t.swept {
		return
	}
	for _, o := range orphans {
		t.takeOver(o)
		o.close()
	}
	t.sweepLogs()
	t.swept = true
	agents := map[string]bool{}
	for _, s := range t.all() {
		agents[s.plan.Agent] = true
	}
	for agent := range agents {
		t.prune(agent)
	}
}

func (t *Table) takeOver(o orphan) {
	var refs []proc.Ref
	for _, r := range o.live {
		if r.Status == "" && r.Ref != nil && !r.Hidden && !r.Outlive {
			refs = append(refs, *r.Ref)
		}
	}
	// A session of that program that its record does not have, because the disk was
	// full, ran when it died: what an ended one left is known by its record.
	recorded := map[string]bool{}
	for _, r := range o.live {
		if r.Ref != nil {
			recorded[r.Ref.Marker] = true
		}
	}
	stray := func(marker string) bool {
		return strings.HasPrefix(marker, o.instance()+".") && !recorded[marker]
	}
	found, left := proc.Lost(t.closing, refs, stray, killGrace)
	for _, r := range o.live {
		switch {
		case r.Gone && !r.Told:
			t.store.adopt(r)
			t.tellOf(&r, r.state())
		case r.Gone || r.Hidden:
		default:
			t.takeOverOne(&r, found, left)
		}
	}
}

// takeOverOne puts a session of a dead program into the table.
func (t *Table) takeOverOne(r *record, found int, left []proc.Left) {
	if r.Status == "" {
		r.Status, r.EndedMs = protocol.StatusLost, time.Now().UnixMilli()
		r.Announce = r.Background && r.Notify
		r.Background = true
		r.Warnings = append(r.Warnings, lostWarning(r, found, left))
	}
	if t.hasLog(r.LogBase) { // a program that died while it took this over had recorded it
		return
	}
	s := t.restore(r)
	if s == nil {
		return
	}
	t.store.adopt(*r)
	if r.Announce {
		r.Tail = s.tail(announceTail)
	}
	t.tellOf(r, s.state())
}

// staleNews is the age at which an end is recorded, but not announced any more.
const staleNews = 24 * time.Hour

// tellOf hands on the End of a dead program's session that nobody has safe.
func (t *Table) tellOf(r *record, st State) {
	if r.Told {
		return
	}
	if time.Since(st.Ended) > staleNews {
		r.Announce, r.Tail = false, ""
	}
	if t.opt.OnEnd == nil {
		t.Told(st.Key)
		return
	}
	t.opt.OnEnd(End{State: st, Record: r.Record, Announce: r.Announce, Tail: r.Tail, Again: st.Status != protocol.StatusLost})
}

// state is what a record says of a session that has ended.
func (r *record) state() State {
	return State{
		ID: r.ID, Agent: r.Agent, SessionKey: r.SessionKey, Key: r.key(), Host: r.Host, Command: r.Command, Dir: r.Dir,
		Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal, TimedOut: r.TimedOut,
		Started: msTime(r.StartedMs), Ended: msTime(r.EndedMs), PTY: r.PTY, Streams: r.Streams,
		Background: r.Background, Warnings: r.Warnings,
	}
}

func (t *Table) hasLog(base string) bool {
	for _, s := range t.all() {
		if filepath.Base(s.log.base) == filepath.Base(base) {
			return true
		}
	}
	return false
}

func lostWarning(r *record, found int, left []proc.Left) string {
	text := "the program that kept this session died while it ran; its log up to then is kept"
	switch {
	case r.Outlive:
		text += fmt.Sprintf("; what it runs was left alone (tools.exec.onSupervisorDeath: keep), process kill %s ends it", r.ID)
	case found > 0:
		text += fmt.Sprintf("; %d processes of such sessions were still there and were ended", found)
	}
	if len(left) > 0 {
		text += "; could not be ended: " + names(left)
	}
	return text
}

// restore puts a session of an earlier program into the table, finished. The name in
// the record is what counts of the log's path: the folder may have been moved.
func (t *Table) restore(r *record) *session {
	name := filepath.Base(r.LogBase)
	if !filepath.IsLocal(r.ID) || !strings.HasSuffix(name, ".log") {
		return nil
	}
	r.LogBase = filepath.Join(t.opt.Dir, name)
	s := &session{
		table: t,
		plan: Plan{
			ID: r.ID, Agent: r.Agent, SessionKey: r.SessionKey, Host: r.Host, Command: r.Command, Dir: r.Dir,
			PTY: r.PTY, Streams: r.Streams, Retain: time.Duration(r.RetainMs) * time.Millisecond,
			Record: r.Record, Notify: r.Notify, Outlive: r.Outlive,
		},
		key: r.key(), announce: r.Announce, told: r.Told,
		log: loadLog(r.LogBase, &t.logUsed), started: msTime(r.StartedMs), ended: msTime(r.EndedMs),
		status: r.Status, exitCode: r.ExitCode, signal: r.Signal, background: r.Background,
		warnings: r.Warnings, cols: r.Cols, rows: r.Rows, done: closedChan,
	}
	if r.TimedOut {
		s.reason = endTimeout
	}
	if r.Ref != nil {
		s.left = *r.Ref
	}
	if r.Streams && !r.PTY {
		base := strings.TrimSuffix(r.LogBase, ".log")
		s.streams[0], s.streams[1] = loadLog(base+".out", &t.logUsed), loadLog(base+".err", &t.logUsed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.freeID(s)
	r.ID = s.plan.ID
	t.sessions[r.ID] = s
	return s
}

// freeID gives s another id when two programs had used the same one. Callers hold mu.
func (t *Table) freeID(s *session) {
	id := s.plan.ID
	for n := 2; t.sessions[s.plan.ID] != nil; n++ {
		s.plan.ID = fmt.Sprintf("%s-%d", id, n)
	}
}

// sweepLogs removes log files that no session of any living program owns.
func (t *Table) sweepLogs() {
	entries, err := os.ReadDir(t.opt.Dir)
	if err != nil {
		return
	}
	owned := map[string]bool{}
	for _, s := range t.all() {
		owned[logName(s.log.base)] = true
	}
	living := t.store.living(entries) // before their records are read: one may be taking over another's
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".journal" {
			for _, r := range readJournal(filepath.Join(t.opt.Dir, e.Name())) {
				if !r.Hidden && !r.Gone {
					owned[logName(r.LogBase)] = true
				}
			}
		}
	}
	for _, e := range entries {
		instance, _, ok := strings.Cut(e.Name(), "-")
		if ok && isLog(e.Name()) && !owned[logName(e.Name())] && !living[instance] {
			_ = os.Remove(filepath.Join(t.opt.Dir, e.Name()))
		}
	}
}

// logName returns what all log files of a session have in common, from the path of one.
func logName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// isLog reports whether a file name is that of a log or of a segment of one.
func isLog(name string) bool {
	_, rest, _ := strings.Cut(name, ".")
	kind, _, _ := strings.Cut(rest, ".")
	return kind == "log" || kind == "out" || kind == "err"
}
