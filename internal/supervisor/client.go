package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"openclaw/internal/session"
)

// ClientOptions of a client. Dir, Program and Version are required.
type ClientOptions struct {
	Dir     string   // the supervisors' folder
	Program string   // absolute path of this program, which is started as supervisor
	Args    []string // of it, beside the folder
	Version string   // of this program
	Gateway bool     // a daemon: supervisors of other versions are retired, and it stays connected
	Peek    bool     // only looks: it never starts a supervisor
	OnEnd   func(session.End)
	Log     *slog.Logger // nil = nothing is logged
}

// Client talks to the supervisors of a folder: the one that takes new sessions, which it
// starts when there is none, and older ones that still have some. It has the methods of
// session.Table. Its owner calls Close.
type Client struct {
	opt ClientOptions

	ctx     context.Context // done when Close begins
	cancel  context.CancelFunc
	running sync.WaitGroup

	connecting chan struct{} // holds a token while nobody connects; guards the next
	launched   bool          // we have started a supervisor: those of other versions are no longer from before

	mu       sync.Mutex // guards the rest
	links    []*link    // the newest last
	ends     []given    // not yet handed to OnEnd
	kick     chan struct{}
	later    *time.Timer      // hands out ends of runs; nil until the first
	told     map[string]*link // who is to know that an end is safe, by key
	logTotal int64            // wanted bound of logs; 0 = theirs

	handing sync.Mutex // held while ends are handed to OnEnd; taken before mu
}

// given is an end with the supervisor that gave it.
type given struct {
	from *link
	end  session.End
}

// OpenClient makes a client. It connects when it is first used; a gateway's does so at
// once, in the background, if there is something to take over (S-8).
func OpenClient(opt ClientOptions) *Client {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{opt: opt, connecting: make(chan struct{}, 1), kick: make(chan struct{}, 1), told: map[string]*link{}}
	c.connecting <- struct{}{}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if opt.OnEnd != nil {
		c.running.Go(c.handOut)
	}
	if opt.Gateway {
		c.running.Go(func() { c.attach() })
	}
	return c
}

// attach connects to what there is, and starts a supervisor if a dead one left something.
func (c *Client) attach() {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		_, err := c.accepting(c.ctx, c.leftSomething())
		if err == nil || errors.Is(err, errNone) || c.ctx.Err() != nil {
			return
		}
		c.opt.Log.Error("process sessions cannot be reached", "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// leftSomething reports whether the folder has records of sessions.
func (c *Client) leftSomething() bool {
	found := false
	_ = filepath.WalkDir(c.opt.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipAll
		case strings.HasSuffix(path, ".journal"):
			found = true
			return fs.SkipAll
		case d.IsDir() && path != c.opt.Dir:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// errNone means that no supervisor runs, and none was to be started.
var errNone = errors.New("no supervisor runs")

// accepting returns the supervisor that takes new sessions. Start says that one is
// started if there is none; else errNone is returned.
func (c *Client) accepting(ctx context.Context, start bool) (*link, error) {
	if l := c.current(); l != nil {
		return l, nil
	}
	select {
	case <-c.connecting:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { c.connecting <- struct{}{} }()
	bad := map[string]error{} // sockets that are there, but not of a supervisor that answers
	for try := 0; ; try++ {
		if err := c.scan(ctx, bad); err != nil {
			return nil, err
		}
		if l := c.current(); l != nil {
			return l, nil
		}
		switch {
		case !start || c.opt.Peek:
			if len(bad) > 0 { // there may well be one, which cannot be reached
				return nil, errors.Join(slices.Collect(maps.Values(bad))...)
			}
			return nil, errNone
		case try == launchTries:
			return nil, errors.Join(append([]error{fmt.Errorf("no supervisor of process sessions takes new ones; %s says why", filepath.Join(c.opt.Dir, logFile))},
				slices.Collect(maps.Values(bad))...)...)
		case c.ctx.Err() != nil:
			return nil, session.ErrClosing
		}
		if try > 0 { // one is on its way out or in
			time.Sleep(time.Duration(try) * 50 * time.Millisecond)
		}
		if err := c.launch(ctx); err != nil {
			return nil, err
		}
	}
}

// launchTries is how often a supervisor is started before that is given up: one that
// was just retired may still hold the lock for a moment.
const launchTries = 5

// current is the connected supervisor that takes new sessions; nil = none.
func (c *Client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.links) - 1; i >= 0; i-- {
		if c.links[i].accepts() {
			return c.links[i]
		}
	}
	return nil
}

// scan connects to the supervisors that are not connected yet. Sockets that cannot be used
// are put into bad, and those in it are not tried again.
func (c *Client) scan(ctx context.Context, bad map[string]error) error {
	names, err := sockets(c.opt.Dir)
	if err != nil {
		return fmt.Errorf("find the supervisor: %w", err)
	}
	for _, name := range names {
		if bad[name] != nil || c.connected(name) {
			continue
		}
		l, err := connect(ctx, name, hello{Version: c.opt.Version, Gateway: c.opt.Gateway, Ends: c.opt.OnEnd != nil}, c.gave, &c.running)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !refused(err) { // else it is that of a dead one
				bad[name] = err
			}
			continue
		}
		c.enter(ctx, l)
	}
	return nil
}

func (c *Client) connected(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.links {
		if l.path == path && l.alive() {
			return true
		}
	}
	return false
}

// enter takes a connected supervisor in.
func (c *Client) enter(ctx context.Context, l *link) {
	if c.opt.Gateway && !c.launched && l.peer.Version != c.opt.Version && l.accepts() {
		c.opt.Log.Info("supervisor of another version retires", "its", l.peer.Version, "ours", c.opt.Version)
		_, _ = ask[struct{}](ctx, l, opRetire, nil) // one that has just gone needs no telling
		l.setRetired()
	}
	c.mu.Lock()
	total := c.logTotal
	c.links = append(c.links, l)
	c.mu.Unlock()
	if total > 0 {
		_, _ = ask[struct{}](ctx, l, opLimit, limitArgs{LogTotal: total})
	}
	if l.accepts() { // what in-process runs and retired supervisors have left is its
		_, _ = ask[struct{}](ctx, l, opAdopt, nil)
	}
	c.running.Go(func() { c.watch(l) })
}

// watch waits for the end of a supervisor and then sees who has its sessions.
func (c *Client) watch(l *link) {
	select {
	case <-l.gone:
	case <-c.ctx.Done():
		l.close()
		<-l.gone
	}
	if c.ctx.Err() == nil {
		c.reapLater(l.peer.PID)
	}
	c.mu.Lock()
	for i, other := range c.links {
		if other == l {
			c.links = append(c.links[:i:i], c.links[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	if c.ctx.Err() == nil && c.opt.Gateway {
		c.inherit()
	}
}

// inherit brings the sessions of a supervisor that has gone to the one that takes new
// ones. A gateway starts it for that; others leave it to their next call.
func (c *Client) inherit() {
	if l := c.current(); l != nil {
		_, _ = ask[struct{}](c.ctx, l, opAdopt, nil)
		return
	}
	c.attach()
}

// gave takes an end that a supervisor gives unasked; it must not block.
func (c *Client) gave(from *link, e session.End) {
	c.mu.Lock()
	c.ends = append(c.ends, given{from, e})
	c.mu.Unlock()
	c.wake()
}

// gaveLater takes the end of a run whose answer is on its way to the caller. It is handed
// out a little later, with others: done at once it would compete with the answer, and done
// while the next command is on its way with that, since the kernel likes to put the
// supervisor on the processor of the one that has just written to it.
func (c *Client) gaveLater(from *link, e session.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, given{from, e})
	switch {
	case c.later == nil:
		c.later = time.AfterFunc(handOutDelay, c.wake)
	case len(c.ends) == 1:
		c.later.Reset(handOutDelay)
	}
}

// handOutDelay is how late an end is handed out at most.
const handOutDelay = 50 * time.Millisecond

func (c *Client) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// handOut calls OnEnd, one end after the other, until the client closes.
func (c *Client) handOut() {
	for {
		select {
		case <-c.kick:
			c.handOutNow()
		case <-c.ctx.Done():
			return
		}
	}
}

// handOutNow hands out what there is, and returns when that is done, also what another
// call is at.
func (c *Client) handOutNow() {
	c.handing.Lock()
	defer c.handing.Unlock()
	for {
		c.mu.Lock()
		if len(c.ends) == 0 {
			c.mu.Unlock()
			return
		}
		g := c.ends[0]
		c.ends = c.ends[1:]
		c.told[g.end.State.Key] = g.from
		c.mu.Unlock()
		c.opt.OnEnd(g.end)
	}
}

// Told says that the ends of sessions are safe; see session.Table.Told.
func (c *Client) Told(keys ...string) {
	byLink := map[*link][]string{}
	c.mu.Lock()
	for _, key := range keys {
		if l := c.told[key]; l != nil {
			byLink[l] = append(byLink[l], key)
		}
		delete(c.told, key)
	}
	c.mu.Unlock()
	for l, keys := range byLink {
		l.acknowledge(keys)
	}
}

// Stop hands out what has ended by now. Commands in the background go on; those in the
// foreground have ended with their calls.
func (c *Client) Stop() error {
	if c.opt.OnEnd != nil {
		c.handOutNow()
	}
	return nil
}

// Close lets go of the supervisors; it returns when nothing of the client runs.
func (c *Client) Close() error {
	c.cancel()
	c.mu.Lock()
	links := append([]*link(nil), c.links...)
	c.mu.Unlock()
	for _, l := range links {
		l.close()
	}
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.later != nil {
		c.later.Stop()
	}
	return nil
}
