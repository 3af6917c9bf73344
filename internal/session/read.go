package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"openclaw/internal/protocol"
)

// join puts head and tail together with a line that says what is missing and how to
// read it.
func join(id, head, tail string, omitted int64) string {
	if omitted == 0 {
		return head
	}
	note := fmt.Sprintf("[%d bytes left out here; process log with sessionId %q pages through the rest]\n", omitted, id)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + note + tail
}

// Poll returns the output since the last poll and the state (S-3). With nothing new it
// waits up to wait for output or the end. After the end it returns the rest, and then
// the state again and again.
func (t *Table) Poll(ctx context.Context, agent, id string, wait time.Duration, limit int) (Snapshot, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return Snapshot{}, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	s.countPoll(1)
	defer s.countPoll(-1)
	for {
		s.mu.Lock()
		polled := s.polled
		s.mu.Unlock()
		changed := s.log.wait(polled + s.heldBack(polled))
		if s.finished() {
			return s.take(limit), nil
		}
		select {
		case <-changed:
			if snap := s.take(limit); snap.Output != "" || snap.Finished() {
				return snap, nil
			}
		case <-s.done:
		case <-timer.C:
			return s.take(limit), nil
		case <-ctx.Done():
			return Snapshot{}, context.Cause(ctx)
		}
	}
}

// countPoll notes that a poll begins (1) or ends (-1).
func (s *session) countPoll(n int) {
	s.mu.Lock()
	s.polling += n
	s.lastPoll = time.Now()
	s.mu.Unlock()
}

// heldBack returns the size of an incomplete character that is all there is to return.
func (s *session) heldBack(from int64) int64 {
	_, b := s.log.read(from, 4)
	if n := incomplete(b); n == len(b) {
		return int64(n)
	}
	return 0
}

// take moves the poll position to the end and returns what lies between. Two pollers
// each get a part; nothing goes to neither.
func (s *session) take(limit int) Snapshot {
	st := s.state() // before the output: with an end it must be whole
	done, end := st.Finished(), s.log.extent().end
	s.mu.Lock()
	from := s.polled
	if !done {
		end = s.whole(from, end)
	}
	s.polled = max(from, end)
	if done {
		s.exitSeen = true
	}
	s.mu.Unlock()
	head, tail, omitted := s.log.text(from, max(from, end), limit)
	return Snapshot{State: st, Output: join(s.plan.ID, head, tail, omitted), Omitted: omitted}
}

// Page is a part of a session's output by lines.
type Page struct {
	Snapshot
	First, Total int64 // first line of the page and lines in all, from 0
}

// Log returns limit lines from line offset. Negative offset = the last limit lines;
// limit 0 = to the end. Lines that the log no longer has are skipped; of a log that the
// disk refused only the tail is left, without line numbers, and all of it is returned.
func (t *Table) Log(_ context.Context, agent, id string, offset, limit int64, maxChars int) (Page, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return Page{}, err
	}
	st := s.state() // before the output: with an end it must be whole
	now := s.log.extent()
	if offset < 0 {
		offset = max(0, now.total-limit)
	}
	offset = min(max(offset, now.first), now.total)
	from, to := now.start, now.end
	if now.broken == nil || now.start == 0 {
		from = s.log.lineOffset(offset, now.end)
		if limit > 0 && limit < now.total-offset {
			to = s.log.lineOffset(offset+limit, now.end)
		}
	}
	if !st.Finished() && to == now.end {
		to = s.whole(from, to)
	}
	head, tail, omitted := s.log.text(from, to, maxChars)
	return Page{
		Snapshot: Snapshot{State: st, Output: join(id, head, tail, omitted), Omitted: omitted},
		First:    offset, Total: now.total,
	}, nil
}

// whole returns where the last whole character of the range [from, to) ends: the rest
// of one that is cut there is still to come.
func (s *session) whole(from, to int64) int64 {
	_, b := s.log.slice(max(from, to-3), to)
	return max(from, to-int64(incomplete(b)))
}

// ReadRequest asks for raw output.
type ReadRequest struct {
	Agent, ID string
	Stream    string // "" = all output in order; "stdout" or "stderr" with streams
	Offset    int64
	Max       int           // bytes
	Wait      time.Duration // for output or the end
}

// Chunk is raw output. Offset is that of the first byte, later than asked for when
// older bytes are gone. End says that the session has ended and all of its output was
// read; only what it left running may still add something.
type Chunk struct {
	Offset int64
	Data   []byte
	End    bool
}

// Read returns raw output from an offset, waiting for some.
func (t *Table) Read(ctx context.Context, req ReadRequest) (Chunk, error) {
	s, err := t.get(req.Agent, req.ID)
	if err != nil {
		return Chunk{}, err
	}
	log, err := s.stream(req.Stream)
	if err != nil {
		return Chunk{}, err
	}
	done := s.finished()
	if !done && req.Wait > 0 {
		timer := time.NewTimer(req.Wait)
		defer timer.Stop()
		select {
		case <-log.wait(req.Offset):
		case <-s.done:
		case <-timer.C:
		case <-ctx.Done():
			return Chunk{}, context.Cause(ctx)
		}
		done = s.finished()
	}
	at, data, err := log.readAt(req.Offset, req.Max)
	if err != nil {
		return Chunk{}, fmt.Errorf("read the log of %s: %w", req.ID, err)
	}
	return Chunk{Offset: at, Data: data, End: done && at+int64(len(data)) >= log.extent().final}, nil
}

func (s *session) stream(name string) (*outlog, error) {
	switch {
	case name == "":
		return s.log, nil
	case name == "stdout" && s.streams[0] != nil:
		return s.streams[0], nil
	case name == "stderr" && s.streams[1] != nil:
		return s.streams[1], nil
	}
	return nil, fmt.Errorf("session %s has no separate %s; start it with streams: true", s.plan.ID, name)
}

// Get returns the state now.
func (t *Table) Get(_ context.Context, agent, id string) (State, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return State{}, err
	}
	return s.state(), nil
}

// Tail returns the last output, at most limit characters.
func (t *Table) Tail(_ context.Context, agent, id string, limit int) (string, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return "", err
	}
	return s.tail(limit), nil
}

// Wait waits for the end, at most wait.
func (t *Table) Wait(ctx context.Context, agent, id string, wait time.Duration) (State, error) {
	s, err := t.get(agent, id)
	if err != nil {
		return State{}, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	case <-ctx.Done():
		return State{}, context.Cause(ctx)
	}
	return s.state(), nil
}

// Kill ends everything the session started and returns its last state. Killing a
// finished session ends what it left running; ended reports whether anything was.
func (t *Table) Kill(_ context.Context, agent, id string) (st State, ended bool, err error) {
	s, err := t.get(agent, id)
	if err != nil {
		return State{}, false, err
	}
	ended = s.end(endKilled, killGrace)
	return s.state(), ended, nil
}

// Signal sends a signal, by name, to the session's process group.
func (t *Table) Signal(_ context.Context, agent, id, name string) error {
	s, err := t.get(agent, id)
	if err != nil {
		return err
	}
	if s.statusNow() != protocol.StatusRunning || s.proc == nil {
		return fmt.Errorf("%s: %w", id, ErrFinished)
	}
	return s.proc.Signal(name)
}
