package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"openclaw/internal/safefile"
	"openclaw/internal/session"
)

const (
	lockFile     = "supervisor.lock" // held by the one that takes new sessions
	socketSuffix = ".sock"
	idleLife     = 10 * time.Minute // without a running session and a client
	ackWait      = time.Second      // for clients to say that ends are safe, at the end
)

// ErrTaken means that another supervisor takes the sessions of this folder.
var ErrTaken = errors.New("another supervisor serves this folder")

// Options of a supervisor. Dir is required.
type Options struct {
	Dir     string        // private folder of logs, records and the socket
	Version string        // of this program
	Idle    time.Duration // life without a running session and a client; 0 = 10 minutes
	Log     *slog.Logger  // nil = nothing is logged
	Ready   func()        // called once when clients are let in; may be nil
}

// server is a supervisor at work.
type server struct {
	opt    Options
	table  *session.Table
	hub    *hub
	socket string

	ctx   context.Context // done when everything is to end
	end   context.CancelFunc
	conns sync.WaitGroup

	mu      sync.Mutex     // guards the rest
	lock    *safefile.Held // nil once retired
	clients map[*net.UnixConn]bool
	named   map[string]*served // clients, as their lanes find them
	idle    *time.Timer        // nil while there is a client or a running session
}

// Serve is the supervisor. It returns nil when it is no longer needed, or when ctx has
// ended and with it every session. ErrTaken is returned when there is one already.
func Serve(ctx context.Context, opt Options) (err error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Idle == 0 {
		opt.Idle = idleLife
	}
	if err := safefile.Dir(opt.Dir); err != nil {
		return fmt.Errorf("session folder: %w", err)
	}
	lock, err := safefile.TryLock(filepath.Join(opt.Dir, lockFile))
	if errors.Is(err, safefile.ErrLocked) {
		return ErrTaken
	}
	if err != nil {
		return fmt.Errorf("session folder: %w", err)
	}
	s := &server{opt: opt, hub: newHub(), lock: lock, clients: map[*net.UnixConn]bool{}, named: map[string]*served{}}
	defer func() { err = errors.Join(err, s.unlock()) }()
	s.ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	s.table, err = session.Open(session.Options{Dir: opt.Dir, Recover: true, OnEnd: s.ended})
	if err != nil {
		return err
	}
	s.hub.told = s.table.Told
	defer func() { err = errors.Join(err, s.table.Close()) }()
	return s.serve()
}

func (s *server) serve() error {
	sweepSockets(s.opt.Dir)
	s.socket = filepath.Join(s.opt.Dir, s.table.Instance()+socketSuffix)
	listener, err := listen(s.socket)
	if err != nil {
		return err
	}
	s.opt.Log.Info("supervisor ready", "socket", s.socket, "version", s.opt.Version)
	if s.opt.Ready != nil {
		s.opt.Ready()
	}
	s.conns.Go(func() { s.accept(listener) })
	s.review()
	<-s.ctx.Done()
	stopErr := s.table.Stop() // its ends still go to clients
	s.hub.drain(ackWait)
	closeErr := listener.Close()
	if errors.Is(closeErr, net.ErrClosed) {
		closeErr = nil
	}
	s.closeClients()
	s.conns.Wait()
	s.stopIdle()
	s.opt.Log.Info("supervisor ends")
	if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		closeErr = errors.Join(closeErr, err)
	}
	return errors.Join(stopErr, closeErr)
}

// accept lets clients of the same user in until the listener closes.
func (s *server) accept(listener *net.UnixListener) {
	for {
		c, err := listener.AcceptUnix()
		if err != nil {
			if s.ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				s.opt.Log.Warn("accept", "err", err)
				time.Sleep(acceptPause) // no descriptors, for example: some will be free again
				continue
			}
			return
		}
		if err := checkPeer(c); err != nil {
			s.opt.Log.Warn("client refused", "err", err)
			c.Close()
			continue
		}
		s.enter(c)
		s.conns.Go(func() {
			defer s.leave(c)
			newServed(s, c).serve()
		})
	}
}

// acceptPause is how long the supervisor waits when it cannot take a connection.
const acceptPause = 50 * time.Millisecond

// enter counts a client in.
func (s *server) enter(c *net.UnixConn) {
	s.mu.Lock()
	s.clients[c] = true
	s.mu.Unlock()
	s.review()
}

func (s *server) leave(c *net.UnixConn) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	s.review()
}

// enroll lets the lanes of a client find it.
func (s *server) enroll(c *served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named[c.name] = c
}

func (s *server) unroll(c *served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.named, c.name)
}

// client finds a client by the name it was given; nil = none.
func (s *server) client(name string) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.named[name]
}

// closeClients ends all connections.
func (s *server) closeClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.Close()
	}
}

// ended is told of every session that has ended.
func (s *server) ended(e session.End) {
	s.hub.ended(e)
	s.review()
}

// review looks whether the supervisor is still needed.
func (s *server) review() {
	if s.table == nil { // it takes over what dead ones left
		return
	}
	counts, _ := s.table.Counts(s.ctx) // a table of this process always answers
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case counts.Running > 0:
		s.stopIdleLocked()
	case s.lock == nil: // retired, and nothing is left to serve
		s.end()
	case len(s.clients) > 0:
		s.stopIdleLocked()
	case s.idle == nil:
		s.idle = time.AfterFunc(s.opt.Idle, func() {
			s.opt.Log.Info("supervisor has had nothing to do", "for", s.opt.Idle)
			s.retire()
		})
	}
}

func (s *server) stopIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopIdleLocked()
}

func (s *server) stopIdleLocked() {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// retire makes room for another supervisor: nothing new is started here, and with the
// last running session this one ends.
func (s *server) retire() {
	s.table.Retire()
	if err := s.unlock(); err != nil {
		s.opt.Log.Warn("retire", "err", err)
	}
	s.review()
}

func (s *server) retired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock == nil
}

func (s *server) unlock() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock := s.lock
	s.lock = nil
	if lock == nil {
		return nil
	}
	return lock.Close()
}

// sweepSockets removes the sockets of supervisors that have died.
func sweepSockets(dir string) {
	names, err := sockets(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		instance := strings.TrimSuffix(filepath.Base(name), socketSuffix)
		if held, err := safefile.Locked(session.LockPath(dir, instance)); err == nil && !held {
			_ = os.Remove(name) // left, it is tried in vain, no more
		}
	}
}

// sockets lists the sockets in a folder.
func sockets(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), socketSuffix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}
