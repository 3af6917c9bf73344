package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// recover takes over what dead programs left: what still runs is ended, sessions that
// were running read lost, finished ones and all logs can be looked at again (S-8).
func (t *Table) recover() {
	for _, o := range t.store.orphans() {
		t.takeOver(o)
		o.close()
	}
	t.sweepLogs()
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
		if r.Status == "" && r.Ref != nil {
			refs = append(refs, *r.Ref)
		}
	}
	found, left := 0, []proc.Left(nil)
	if len(refs) > 0 {
		found, left = proc.Lost(context.Background(), refs, killGrace)
	}
	for _, r := range o.live {
		lost := r.Status == ""
		if lost {
			r.Status, r.EndedMs = protocol.StatusLost, time.Now().UnixMilli()
			r.Background = true
			r.Warnings = append(r.Warnings, lostWarning(found, left))
		}
		s := t.restore(r)
		if s == nil {
			continue
		}
		t.store.adopt(r)
		if lost {
			t.lost = append(t.lost, s.state())
		}
	}
}

func lostWarning(found int, left []proc.Left) string {
	text := "the daemon died while this ran; its log up to then is kept"
	if found > 0 {
		text += fmt.Sprintf("; %d processes of that daemon's sessions were still there and were ended", found)
	}
	if len(left) > 0 {
		text += "; could not be ended: " + names(left)
	}
	return text
}

// restore puts a session of an earlier program into the table, finished.
func (t *Table) restore(r record) *session {
	if !filepath.IsLocal(r.ID) || filepath.Dir(r.LogBase) != filepath.Clean(t.opt.Dir) {
		return nil
	}
	s := &session{
		table: t,
		plan: Plan{
			ID: r.ID, Agent: r.Agent, SessionKey: r.SessionKey, Host: r.Host, Command: r.Command, Dir: r.Dir,
			PTY: r.PTY, Retain: time.Duration(r.RetainMs) * time.Millisecond,
		},
		log: loadLog(r.LogBase, &t.logUsed), started: msTime(r.StartedMs), ended: msTime(r.EndedMs),
		status: r.Status, exitCode: r.ExitCode, signal: r.Signal, background: r.Background,
		warnings: r.Warnings, cols: r.Cols, rows: r.Rows, done: closedChan,
	}
	if r.TimedOut {
		s.reason = endTimeout
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[r.ID] != nil {
		return nil
	}
	t.sessions[r.ID] = s
	return s
}

// sweepLogs removes log files that no session of any living program owns.
func (t *Table) sweepLogs() {
	owned := map[string]bool{}
	for _, s := range t.all() {
		owned[strings.TrimSuffix(filepath.Base(s.log.base), ".log")] = true
	}
	entries, err := os.ReadDir(t.opt.Dir)
	if err != nil {
		return
	}
	living := map[string]bool{}
	for _, e := range entries {
		if instance, ok := strings.CutSuffix(e.Name(), ".journal.lock"); ok {
			living[instance] = true
		}
	}
	for _, e := range entries {
		name, _, isLog := strings.Cut(e.Name(), ".")
		instance, _, hasID := strings.Cut(name, "-")
		if isLog && hasID && !owned[name] && !living[instance] {
			_ = os.Remove(filepath.Join(t.opt.Dir, e.Name()))
		}
	}
}
