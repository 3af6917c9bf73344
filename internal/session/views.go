package session

import (
	"context"
	"fmt"

	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// ViewRequest says that somebody looks at a session's terminal.
type ViewRequest struct {
	Agent, ID  string
	Viewer     string // one name for one viewer; again with another size = it has changed
	Seq        int    // of several views of one viewer the one with the highest number counts
	Cols, Rows int    // of the viewer's own terminal
}

// View counts a viewer in until ctx ends, the session ends or the same viewer comes
// again with another size. While somebody looks, the terminal has the smallest width and
// height of all viewers, so that each sees all of it; the last one to go leaves it as it
// is. A new viewer makes the program draw its screen again. The returned state is that
// at the end of the view.
func (t *Table) View(ctx context.Context, req ViewRequest) (State, error) {
	s, err := t.get(req.Agent, req.ID)
	if err != nil {
		return State{}, err
	}
	if !s.plan.PTY {
		return State{}, fmt.Errorf("%s: %w", req.ID, ErrNoTTY)
	}
	if req.Viewer == "" || req.Cols < 1 || req.Rows < 1 {
		return State{}, fmt.Errorf("a view of %s needs a viewer's name and its size", req.ID)
	}
	if s.finished() || s.proc == nil {
		return s.state(), nil
	}
	v, err := s.enterView(req)
	if err != nil {
		return State{}, err
	}
	defer s.leaveView(req.Viewer, v)
	select {
	case <-ctx.Done():
	case <-s.done:
	case <-v.replaced:
	}
	return s.state(), nil
}

// views are the viewers of a session, by name; guarded by session.viewing.
type views map[string]*view

type view struct {
	size     proc.Size
	seq      int
	replaced chan struct{} // closed when the same viewer has come again
}

func (s *session) enterView(req ViewRequest) (*view, error) {
	v := &view{size: proc.Size{Cols: req.Cols, Rows: req.Rows}, seq: req.Seq, replaced: make(chan struct{})}
	s.viewing.Lock()
	defer s.viewing.Unlock()
	old := s.views[req.Viewer]
	if old != nil && old.seq > req.Seq { // they met on the way
		close(v.replaced)
		return v, nil
	}
	if s.views == nil {
		s.views = views{}
	}
	s.views[req.Viewer] = v
	if err := s.fitViews(old == nil); err != nil {
		if delete(s.views, req.Viewer); old != nil {
			s.views[req.Viewer] = old
		}
		return nil, err
	}
	if old != nil {
		close(old.replaced)
	}
	return v, nil
}

func (s *session) leaveView(viewer string, v *view) {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	if s.views[viewer] != v {
		return
	}
	delete(s.views, viewer)
	if len(s.views) > 0 && s.statusNow() == protocol.StatusRunning {
		_ = s.fitViews(false) // a terminal that has just gone needs no size
	}
}

// fitViews gives the terminal the smallest size of its viewers. Redraw makes the program
// notice even if that is the size it has: the kernel tells it only of changes. Callers
// hold viewing.
func (s *session) fitViews(redraw bool) error {
	var fit proc.Size
	for _, v := range s.views {
		if fit.Cols == 0 || v.size.Cols < fit.Cols {
			fit.Cols = v.size.Cols
		}
		if fit.Rows == 0 || v.size.Rows < fit.Rows {
			fit.Rows = v.size.Rows
		}
	}
	s.mu.Lock()
	same := s.cols == fit.Cols && s.rows == fit.Rows
	s.mu.Unlock()
	if same && redraw {
		other := fit
		if other.Rows++; other.Rows > 1<<15 {
			other.Rows -= 2
		}
		if err := s.proc.Resize(other); err != nil {
			return err
		}
	}
	return s.resize(fit)
}

// resize sets the size of the terminal.
func (s *session) resize(size proc.Size) error {
	if err := s.proc.Resize(size); err != nil {
		return err
	}
	s.mu.Lock()
	s.cols, s.rows = size.Cols, size.Rows
	s.mu.Unlock()
	return nil
}
