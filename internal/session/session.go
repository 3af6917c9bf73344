package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
	"openclaw/internal/terminal"
)

// killGrace is how long a process may take to leave after SIGTERM.
const killGrace = 2 * time.Second

// terminalFlush is how long the last output of a terminal may take to arrive after
// its program has ended; the kernel moves it in the background.
const terminalFlush = 100 * time.Millisecond

// terminalEnd bounds the wait for a terminal that nothing we know of holds.
const terminalEnd = 2 * time.Second

// endReason says why we ended a session; 0 = it ended by itself.
type endReason int

const (
	endKilled endReason = iota + 1
	endTimeout
	endCancelled
	endShutdown
)

// session is one started command.
type session struct {
	table   *Table
	plan    Plan
	proc    *proc.Process // nil for one of an earlier run of the daemon
	left    proc.Ref      // of an earlier run: by what it left is found
	log     *outlog
	streams [2]*outlog // stdout and stderr with Plan.Streams
	key     string     // names it for ever
	started time.Time
	timeout *time.Timer // nil without a limit; its function returns once done is closed

	lastOutput atomic.Int64 // Unix time in ms
	tracker    terminal.Tracker

	quick bool // waited for in the short way first; set before it starts

	mu         sync.Mutex // guards the rest
	status     protocol.Status
	exitCode   *int
	signal     string
	ended      time.Time
	reason     endReason
	background bool
	listed     bool // has left something running
	claimed    bool // a caller waits for the result: it is not forgotten before
	warnings   []string
	cols, rows int
	news       bool      // it ended in the background: nobody was given its result
	polled     int64     // poll has returned everything before this offset
	polling    int       // polls at work
	lastPoll   time.Time // for the choice whether an exit event is still news
	exitSeen   bool      // a poll has returned the exit state
	announce   bool      // what End says
	told       bool      // somebody has its End safe
	ending     chan struct{}
	leftover   []proc.Left // known after the end

	viewing sync.Mutex // guards views; held while the terminal's size follows them; taken before mu
	views   views

	done chan struct{} // closed last
}

func (s *session) readOutput(out *proc.Output, own *outlog, drained chan<- struct{}) {
	sink := s.sink(own)
	for {
		err := out.Read(sink)
		if err == nil {
			continue
		}
		if errors.Is(err, proc.ErrInterrupted) {
			if !out.Drain(sink) {
				// Something that was left running holds the pipe: the call returns now,
				// later output still goes to the log while the session is kept.
				close(drained)
				out.Resume()
				for out.Read(sink) == nil {
				}
				out.Close()
				s.closeLogs()
				return
			}
		}
		close(drained)
		if s.plan.PTY {
			// A program may close its terminal before it exits; closing ours now would
			// end it with SIGHUP.
			<-s.done
		}
		out.Close()
		return
	}
}

func (s *session) sink(own *outlog) func([]byte) {
	return func(p []byte) {
		s.log.append(p)
		if own != nil {
			own.append(p)
		}
		if s.plan.PTY {
			_, _ = s.tracker.Write(p)
		}
		s.lastOutput.Store(time.Now().UnixMilli())
		s.table.reclaim(s)
	}
}

// run waits for the end and stores it. It owns the session's goroutines.
func (s *session) run() {
	drained := s.startReaders()
	exit, group := s.proc.Wait()
	s.conclude(drained, exit, group)
	s.table.settle(s) // behind the caller's back: it has its result already
}

// conclude stores the end of a process that has been waited for.
func (s *session) conclude(drained [2]chan struct{}, exit proc.Exit, group bool) {
	s.mu.Lock()
	ending := s.ending
	if ending == nil { // from here on a kill finds a session that ends by itself
		s.ending = closedChan
	}
	s.mu.Unlock()
	if ending != nil {
		<-ending // what its children say on their way out is part of its output
		s.awaitOutput(drained, len(s.leftoverCopy()) > 0)
	} else {
		s.awaitOutput(drained, s.plan.PTY && (group || len(s.proc.Leftovers()) > 0))
		s.handleLeftovers(group)
	}
	s.finish(exit)
}

// startReaders reads the streams that are open, each on a goroutine; the channels of
// the others are nil.
func (s *session) startReaders() (drained [2]chan struct{}) {
	for i, out := range []*proc.Output{s.proc.Out, s.proc.Err} {
		if out == nil {
			continue
		}
		done := make(chan struct{})
		drained[i] = done
		s.table.running.Go(func() { s.readOutput(out, s.streams[i], done) })
	}
	return drained
}

// awaitOutput returns when everything that was written before the exit is in the log.
// What still holds a pipe open cannot delay it. Held says that something may hold
// a terminal; if nothing does, its end is sure to come, on a busy machine later.
func (s *session) awaitOutput(drained [2]chan struct{}, held bool) {
	if s.plan.PTY {
		wait := terminalEnd
		if held {
			wait = terminalFlush
		}
		flush := time.NewTimer(wait)
		defer flush.Stop()
		select {
		case <-drained[0]:
		case <-flush.C:
		}
	}
	for i, out := range []*proc.Output{s.proc.Out, s.proc.Err} {
		if out == nil {
			continue
		}
		select {
		case <-drained[i]:
		default:
			out.Interrupt()
			<-drained[i]
		}
	}
}

// handleLeftovers deals with what the command left running: its process group is
// ended; children with a session of their own are left and named, or ended.
func (s *session) handleLeftovers(group bool) {
	if group {
		s.table.running.Go(func() { s.proc.EndGroup(s.table.closing, killGrace) })
	}
	left := s.proc.Leftovers()
	if len(left) == 0 {
		return
	}
	if s.plan.EndLeftovers {
		left = s.proc.End(context.Background(), killGrace)
		if len(left) == 0 {
			s.warn("children that had left the process group were ended (tools.exec.leftovers: end)")
			return
		}
	}
	s.mu.Lock()
	s.leftover = left
	s.listed = true // whoever reads the warning can act on it
	s.mu.Unlock()
	s.warn(fmt.Sprintf("still running after the command ended: %s; process kill %s ends it", names(left), s.plan.ID))
}

func names(left []proc.Left) string {
	parts := make([]string, 0, len(left))
	for i, l := range left {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more", len(left)-5))
			break
		}
		parts = append(parts, fmt.Sprintf("pid %d (%s)", l.Pid, l.Name))
	}
	return strings.Join(parts, ", ")
}

func (s *session) warn(text string) {
	s.mu.Lock()
	s.warnings = append(s.warnings, text)
	s.mu.Unlock()
}

// finish stores the end: state first, done last.
func (s *session) finish(exit proc.Exit) {
	if s.timeout != nil {
		s.timeout.Stop()
	}
	if e := s.log.extent(); e.broken != nil {
		s.warn(fmt.Sprintf("the log is not kept on disk (%v); only the last output is available", e.broken))
	}
	s.seal()
	s.mu.Lock()
	s.ended = time.Now()
	s.news = s.background
	s.signal = exit.Signal
	if exit.Signal == "" {
		code := exit.Code
		s.exitCode = &code
	}
	switch s.reason {
	case endTimeout:
		s.status = protocol.StatusFailed
	case endKilled, endShutdown:
		s.status = protocol.StatusKilled
	case endCancelled:
		s.status = protocol.StatusCancelled
	default:
		s.status = protocol.StatusCompleted
	}
	s.mu.Unlock()
	s.closeLogs() // what was left running opens it again if it writes
	s.table.leave(s)
	close(s.done)
}

func (s *session) leftoverCopy() []proc.Left {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leftover
}

// seal says that the output up to now is all of the command's own.
func (s *session) seal() {
	s.log.seal()
	for _, l := range s.streams {
		if l != nil {
			l.seal()
		}
	}
}

func (s *session) closeLogs() {
	s.log.close()
	for _, l := range s.streams {
		if l != nil {
			l.close()
		}
	}
}

// end ends everything the session started and returns when that is done. The first
// reason stands. It reports false when the session had ended by itself before. What
// cannot be ended is named in a warning; if it is the command itself, the session runs
// on and may be ended again.
func (s *session) end(reason endReason, grace time.Duration) bool {
	if s.proc == nil {
		return reason == endKilled && s.endStray()
	}
	s.mu.Lock()
	ending, first := s.ending, s.ending == nil
	if first {
		ending = make(chan struct{})
		s.ending, s.reason = ending, reason
	}
	s.mu.Unlock()
	if first {
		left := s.proc.End(s.table.closing, grace)
		s.warnLeft(left)
		close(ending)
		s.awaitDone(left)
		return true
	}
	<-ending
	if !s.withstood() {
		<-s.done
		return reason == endKilled && s.endLeftover() // a time-out that came too late leaves it
	}
	s.awaitDone(s.proc.End(s.table.closing, grace))
	return true
}

// stuckWait is how long a caller waits for the end of a session of which something
// could not be ended.
const stuckWait = time.Second

// awaitDone waits for the end, but not for ever when the command itself may be what
// could not be ended.
func (s *session) awaitDone(left []proc.Left) {
	if len(left) == 0 {
		<-s.done
		return
	}
	timer := time.NewTimer(stuckWait)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}

func (s *session) warnLeft(left []proc.Left) {
	if len(left) == 0 {
		return
	}
	s.mu.Lock()
	s.leftover = left
	s.mu.Unlock()
	s.warn("could not be ended: " + names(left))
}

// withstood reports whether an attempt to end the session has left something.
func (s *session) withstood() bool {
	return len(s.leftoverCopy()) > 0 && !s.finished()
}

// endStray ends what a session of an earlier program left running.
func (s *session) endStray() bool {
	if s.left.Marker == "" {
		return false
	}
	found, left := proc.Lost(s.table.closing, []proc.Ref{s.left}, nil, killGrace)
	s.warnLeft(left)
	return found > 0
}

// endLeftover ends what a finished session left running.
func (s *session) endLeftover() bool {
	if len(s.leftoverCopy()) == 0 {
		return false
	}
	left := s.proc.End(s.table.closing, killGrace)
	s.mu.Lock()
	s.leftover = left
	s.mu.Unlock()
	return true
}

// release closes what outlives the end and deletes the log.
func (s *session) release() {
	if s.proc != nil {
		_ = s.proc.Out.Close() // a trailing reader ends
		_ = s.proc.Err.Close()
	}
	s.log.remove()
	for _, l := range s.streams {
		if l != nil {
			l.remove()
		}
	}
}

// unclaim says that the caller who waited for the result has it.
func (s *session) unclaim() {
	s.mu.Lock()
	s.claimed = false
	s.mu.Unlock()
}

// forgettable reports whether a session may be dropped to make room.
func (s *session) forgettable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status != protocol.StatusRunning && !s.claimed
}

func (s *session) finished() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// state returns a copy of what is known now.
func (s *session) state() State {
	e := s.log.extent()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{
		ID: s.plan.ID, Agent: s.plan.Agent, SessionKey: s.plan.SessionKey, Key: s.key,
		Host: s.plan.Host, Command: s.plan.Command, Dir: s.plan.Dir,
		Status: s.status, ExitCode: s.exitCode, Signal: s.signal,
		TimedOut: s.reason == endTimeout, Started: s.started, Ended: s.ended,
		PTY: s.plan.PTY, Streams: s.plan.Streams, Background: s.background || s.listed,
		Bytes: e.end, Dropped: e.start, LogPath: s.log.path(),
		Warnings: append([]string(nil), s.warnings...),
	}
	if s.proc != nil {
		st.Pid = s.proc.Ref().Pid
		st.StdinOpen = s.status == protocol.StatusRunning && s.proc.In != nil && !s.proc.In.Closed()
	}
	quiet := time.Since(time.UnixMilli(s.lastOutput.Load()))
	st.WaitingForInput = st.StdinOpen && quiet >= s.plan.IdleInput
	return st
}
