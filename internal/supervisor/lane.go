package supervisor

import (
	"bufio"
	"context"
	"fmt"
	"net"

	"openclaw/internal/session"
)

// laneMax is how many lanes a client keeps to a supervisor; more runs at once share the
// link.
const laneMax = 64

// lane is a connection for one run at a time. The caller itself writes to it and reads
// from it, and the supervisor runs the command on the goroutine that reads: a short
// command then costs half the wake-ups that it costs over the shared link.
type lane struct {
	conn *net.UnixConn
	r    *bufio.Reader
	out  []byte // kept for the next frame
}

// takeLane gives a free lane, or a new one; nil = use the link.
func (l *link) takeLane(ctx context.Context) *lane {
	l.mu.Lock()
	if n := len(l.lanes); n > 0 {
		free := l.lanes[n-1]
		l.lanes = l.lanes[:n-1]
		l.mu.Unlock()
		return free
	}
	usable := l.calls != nil && l.laneCount < laneMax && l.peer.Client != ""
	if usable {
		l.laneCount++
	}
	l.mu.Unlock()
	if !usable {
		return nil
	}
	n, err := openLane(ctx, l)
	if err != nil { // no descriptors, for example: the link still works
		l.dropLane(nil)
		return nil
	}
	return n
}

func openLane(ctx context.Context, l *link) (*lane, error) {
	conn, err := dial(l.path)
	if err != nil {
		return nil, err
	}
	n := &lane{conn: conn, r: bufio.NewReaderSize(conn, laneBuffer)}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err = n.write(frame{kind: kindRequest, op: opLane}, laneHello{Client: l.peer.Client}); err == nil {
		var f frame
		if f, err = readFrame(n.r); err == nil {
			_, err = answer(f, true)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return n, nil
}

// Ids of a run's frames on a lane: an answer with laneOver is the last one there.
const (
	laneRun  = 1
	laneOver = 0
)

// laneBuffer is what a lane reads at once: most answers are small.
const laneBuffer = 4 << 10

// giveLane takes a lane back for the next run.
func (l *link) giveLane(n *lane) {
	l.mu.Lock()
	keep := l.calls != nil
	if keep {
		l.lanes = append(l.lanes, n)
	}
	l.mu.Unlock()
	if !keep {
		n.conn.Close()
	}
}

// dropLane closes a lane that is of no more use.
func (l *link) dropLane(n *lane) {
	l.mu.Lock()
	l.laneCount--
	l.mu.Unlock()
	if n != nil {
		n.conn.Close()
	}
}

func (n *lane) write(f frame, body any) error {
	buf, err := appendFrame(n.out[:0], f, body)
	if err != nil {
		return err
	}
	if cap(buf) <= readBuffer {
		n.out = buf
	}
	if _, err := n.conn.Write(buf); err != nil {
		return errGone
	}
	return nil
}

// run is link.run over a lane. Free reports whether the lane can take another run.
func (n *lane) run(ctx context.Context, req session.RunRequest, started func(session.State)) (snap session.Snapshot, free bool, err error) {
	if err := n.write(frame{id: laneRun, kind: kindRequest, op: opRun, raw: encodeRun(req, started != nil)}, nil); err != nil {
		return snap, false, err
	}
	// The buffer of write is this goroutine's; a cancellation is a header alone.
	stop := context.AfterFunc(ctx, func() {
		if buf, err := appendFrame(nil, frame{id: laneRun, kind: kindCancel}, nil); err == nil {
			_, _ = n.conn.Write(buf) // a supervisor that has gone has ended the command
		}
	})
	defer stop()
	for {
		f, err := readFrame(n.r)
		if err != nil {
			return snap, false, errGone
		}
		free = f.id != laneOver
		if f, err = answer(f, true); err != nil {
			return snap, free, err
		}
		if f.kind == kindStarted {
			if st, err := decode[session.State](f); err == nil && started != nil {
				started(st)
			}
			continue
		}
		if snap, err = decodeSnapshot(f.raw); err != nil {
			err = fmt.Errorf("answer of the supervisor: %w", err)
		}
		return snap, free, err
	}
}

// runThrough runs over a lane if there is one, else over the link.
func (l *link) runThrough(ctx context.Context, req session.RunRequest, started func(session.State)) (session.Snapshot, error) {
	n := l.takeLane(ctx)
	if n == nil {
		return l.run(ctx, req, started)
	}
	snap, free, err := n.run(ctx, req, started)
	// A cancellation may still be on its way when the answer comes: it must not meet the
	// next run.
	if !free || ctx.Err() != nil {
		l.dropLane(n)
	} else {
		l.giveLane(n)
	}
	return snap, err
}
