package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"openclaw/internal/session"
)

const (
	helloWait = 10 * time.Second      // for a supervisor to answer
	toldDelay = 50 * time.Millisecond // how long an acknowledgement waits for a frame to go with
)

// errGone means that the supervisor has closed the connection: it has ended or died.
var errGone = errors.New("the supervisor has gone")

// link is a connection to one supervisor, as its client sees it.
type link struct {
	path string
	peer welcome
	conn *net.UnixConn
	gone chan struct{} // closed when the connection has ended
	ends func(*link, session.End)

	mu        sync.Mutex // guards the rest of this block
	next      uint64
	calls     map[uint64]chan frame // nil once gone
	told      []string              // acknowledgements on their way
	timer     *time.Timer           // sends them; nil = none waits
	retired   bool                  // starts nothing new
	lanes     []*lane               // free ones
	laneCount int                   // free and in use

	writing sync.Mutex // one frame at a time goes out; guards out; taken before mu
	out     []byte     // kept for the next frame
}

// connect dials a supervisor and says hello. Its goroutine ends with the connection.
func connect(ctx context.Context, path string, h hello, ends func(*link, session.End), owner *sync.WaitGroup) (*link, error) {
	conn, err := dial(path)
	if err != nil {
		return nil, err
	}
	l := &link{path: path, conn: conn, gone: make(chan struct{}), ends: ends, calls: map[uint64]chan frame{}}
	owner.Go(l.read)
	ctx, cancel := context.WithTimeoutCause(ctx, helloWait, errors.New("it does not answer"))
	defer cancel()
	l.peer, err = ask[welcome](ctx, l, opHello, h)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("supervisor at %s: %w", path, err)
	}
	l.retired = l.peer.Retired
	return l, nil
}

func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// accepts reports whether it takes new sessions, as far as is known.
func (l *link) accepts() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls != nil && !l.retired
}

func (l *link) setRetired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retired = true
}

// read hands answers to those who wait for them until the connection ends.
func (l *link) read() {
	r := bufio.NewReaderSize(l.conn, readBuffer)
	for {
		f, err := readFrame(r)
		if err != nil {
			break
		}
		if f.kind == kindEnd {
			if e, err := decode[session.End](f); err == nil {
				l.ends(l, e)
			}
			continue
		}
		l.mu.Lock()
		to := l.calls[f.id]
		l.mu.Unlock()
		if to != nil { // else its caller has gone
			to <- f // room for a start and an answer
		}
	}
	l.conn.Close()
	l.mu.Lock()
	for _, to := range l.calls {
		close(to)
	}
	l.calls = nil
	for _, n := range l.lanes {
		n.conn.Close()
	}
	l.lanes = nil
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	close(l.gone)
}

// request sends a request; its answer comes through the channel, which is closed when
// the supervisor goes.
func (l *link) request(o op, body any, raw []byte) (uint64, chan frame, error) {
	to := make(chan frame, 2)
	l.mu.Lock()
	if l.calls == nil {
		l.mu.Unlock()
		return 0, nil, errGone
	}
	l.next++
	id := l.next
	l.calls[id] = to
	l.mu.Unlock()
	if err := l.write(frame{id: id, kind: kindRequest, op: o, raw: raw}, body); err != nil {
		l.forget(id)
		return 0, nil, err
	}
	return id, to, nil
}

func (l *link) forget(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, id)
}

func (l *link) cancel(id uint64) { _ = l.write(frame{id: id, kind: kindCancel}, nil) }

// write sends one frame, and what is to be acknowledged with it.
func (l *link) write(f frame, body any) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	buf := l.out[:0]
	l.mu.Lock()
	told := l.told
	l.told = nil
	l.mu.Unlock()
	var err error
	if len(told) > 0 {
		if buf, err = appendFrame(buf, frame{kind: kindTold}, told); err != nil {
			return err
		}
	}
	if f.kind != kindTold {
		if buf, err = appendFrame(buf, f, body); err != nil {
			return err
		}
	}
	if cap(buf) <= readBuffer {
		l.out = buf
	}
	if _, err := l.conn.Write(buf); err != nil {
		l.conn.Close()
		return errGone
	}
	return nil
}

// acknowledge says, with the next frame or a little later, that ends are safe.
func (l *link) acknowledge(keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	none := len(l.told) == 0
	l.told = append(l.told, keys...)
	if l.calls == nil {
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(toldDelay, l.flush)
	} else if none {
		l.timer.Reset(toldDelay)
	}
}

// flush sends the acknowledgements that wait.
func (l *link) flush() {
	l.mu.Lock()
	none := len(l.told) == 0
	l.mu.Unlock()
	if !none {
		_ = l.write(frame{kind: kindTold}, nil) // a supervisor that has gone gives them to the next
	}
}

func (l *link) close() {
	l.flush()
	l.conn.Close()
}

// do makes a request and returns the answer. When ctx ends the supervisor is told and
// ctx's cause returned.
func (l *link) do(ctx context.Context, o op, body any, raw []byte) (frame, error) {
	id, to, err := l.request(o, body, raw)
	if err != nil {
		return frame{}, err
	}
	defer l.forget(id)
	select {
	case f, ok := <-to:
		return answer(f, ok)
	case <-ctx.Done():
		l.cancel(id)
		return frame{}, context.Cause(ctx)
	}
}

// answer is the frame, or the error it carries.
func answer(f frame, ok bool) (frame, error) {
	if !ok {
		return frame{}, errGone
	}
	if f.kind != kindFailure {
		return f, nil
	}
	fail, err := decode[failure](f)
	if err != nil {
		return frame{}, fmt.Errorf("answer of the supervisor: %w", err)
	}
	return f, fail.err()
}

// ask is do for answers that are one JSON value.
func ask[B any](ctx context.Context, l *link, o op, body any) (B, error) {
	f, err := l.do(ctx, o, body, nil)
	if err != nil {
		var none B
		return none, err
	}
	return decode[B](f)
}

// run starts a command and waits for its answer, also after ctx has ended: the
// supervisor then ends the command and says so.
func (l *link) run(ctx context.Context, req session.RunRequest, started func(session.State)) (session.Snapshot, error) {
	id, to, err := l.request(opRun, nil, encodeRun(req, started != nil))
	if err != nil {
		return session.Snapshot{}, err
	}
	defer l.forget(id)
	done := ctx.Done()
	for {
		select {
		case f, ok := <-to:
			if f, err = answer(f, ok); err != nil {
				return session.Snapshot{}, err
			}
			if f.kind == kindStarted {
				if st, err := decode[session.State](f); err == nil && started != nil {
					started(st)
				}
				continue
			}
			snap, err := decodeSnapshot(f.raw)
			if err != nil {
				return session.Snapshot{}, fmt.Errorf("answer of the supervisor: %w", err)
			}
			return snap, nil
		case <-done:
			done = nil
			l.cancel(id)
		}
	}
}
