package supervisor

import (
	"encoding/binary"
	"errors"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// hello is what a client says first.
type hello struct {
	Version string `json:"version"`
	Gateway bool   `json:"gateway"` // a daemon: it gets the ends of sessions before others
	Ends    bool   `json:"ends"`    // wants the ends of sessions
}

// welcome is the answer.
type welcome struct {
	Version  string   `json:"version"`
	Features []string `json:"features"` // what this version can beside the first one's ops
	Instance string   `json:"instance"` // first part of its sessions' keys
	PID      int      `json:"pid"`
	Retired  bool     `json:"retired"` // starts nothing new
}

// sessionArgs are the arguments of the ops that need no more.
type sessionArgs struct {
	Agent string `json:"agent"`
	ID    string `json:"id"`
}

type pollArgs struct {
	sessionArgs
	Wait  time.Duration `json:"wait"`
	Limit int           `json:"limit"`
}

type logArgs struct {
	sessionArgs
	Offset   int64 `json:"offset"`
	Limit    int64 `json:"limit"`
	MaxChars int   `json:"maxChars"`
}

type listArgs struct {
	Agent string `json:"agent"`
	Tail  int    `json:"tail"`
}

type tailArgs struct {
	sessionArgs
	Limit int `json:"limit"`
}

type killBody struct {
	State session.State `json:"state"`
	Ended bool          `json:"ended"`
}

type signalArgs struct {
	sessionArgs
	Name string `json:"name"`
}

type writeArgs struct {
	sessionArgs
	Input session.Input `json:"input"`
}

type resizeArgs struct {
	sessionArgs
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

type screenBody struct {
	State  session.State   `json:"state"`
	Screen protocol.Screen `json:"screen"`
}

type paintBody struct { // the data is raw
	State  session.State `json:"state"`
	Cols   int           `json:"cols"`
	Rows   int           `json:"rows"`
	Offset int64         `json:"offset"`
}

type chunkBody struct { // the data is raw
	Offset int64 `json:"offset"`
	End    bool  `json:"end"`
}

type limitArgs struct {
	LogTotal int64 `json:"logTotal"`
}

// runArgs is a run without what raw carries: directory, argv and environment may hold
// any bytes, which JSON would alter.
type runArgs struct {
	Plan     session.Plan  `json:"plan"`
	Yield    time.Duration `json:"yield"`
	MaxChars int           `json:"maxChars"`
	TailTo   int           `json:"tailTo"`
	Started  bool          `json:"started"` // the caller wants to know when it has started
}

// snapshotBody is a snapshot without its texts, which are raw, one after the other.
type snapshotBody struct {
	State   session.State `json:"state"`
	Omitted int64         `json:"omitted,omitempty"`
	Final   bool          `json:"final,omitempty"`
	First   int64         `json:"first,omitempty"` // of a page
	Total   int64         `json:"total,omitempty"`
	Texts   [3]int        `json:"texts"` // lengths of output, stdout, stderr
}

func splitRun(req session.RunRequest, started bool) (runArgs, []byte) {
	p := req.Plan
	raw := appendText(nil, p.Dir)
	raw = binary.AppendUvarint(raw, uint64(len(p.Steps)))
	for _, step := range p.Steps {
		raw = appendText(raw, step.Path)
		raw = appendTexts(raw, step.Argv)
	}
	raw = appendTexts(raw, p.Env)
	p.Dir, p.Steps, p.Env = "", nil, nil
	return runArgs{Plan: p, Yield: req.Yield, MaxChars: req.MaxChars, TailTo: req.TailTo, Started: started}, raw
}

var errRaw = errors.New("the raw part of the message is damaged")

func joinRun(args runArgs, raw []byte) (session.RunRequest, error) {
	r := rawReader{b: raw}
	p := args.Plan
	p.Dir = r.text()
	for n := r.count(); n > 0 && !r.bad; n-- {
		p.Steps = append(p.Steps, session.Step{Path: r.text(), Argv: r.texts()})
	}
	p.Env = r.texts()
	if r.bad || len(r.b) > 0 {
		return session.RunRequest{}, errRaw
	}
	return session.RunRequest{Plan: p, Yield: args.Yield, MaxChars: args.MaxChars, TailTo: args.TailTo}, nil
}

func splitSnapshot(s session.Snapshot) (snapshotBody, []byte) {
	b := snapshotBody{
		State: s.State, Omitted: s.Omitted, Final: s.Final,
		Texts: [3]int{len(s.Output), len(s.Stdout), len(s.Stderr)},
	}
	raw := make([]byte, 0, len(s.Output)+len(s.Stdout)+len(s.Stderr))
	raw = append(raw, s.Output...)
	raw = append(raw, s.Stdout...)
	return b, append(raw, s.Stderr...)
}

func joinSnapshot(b snapshotBody, raw []byte) (session.Snapshot, error) {
	s := session.Snapshot{State: b.State, Omitted: b.Omitted, Final: b.Final}
	for i, to := range []*string{&s.Output, &s.Stdout, &s.Stderr} {
		n := b.Texts[i]
		if n < 0 || n > len(raw) {
			return session.Snapshot{}, errRaw
		}
		*to, raw = string(raw[:n]), raw[n:]
	}
	return s, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// rawReader takes apart what appendText and its like have put together.
type rawReader struct {
	b   []byte
	bad bool // something did not fit; everything after it is empty
}

func (r *rawReader) count() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > uint64(len(r.b)) { // each thing counted takes a byte at least
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *rawReader) text() string {
	n := r.count()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *rawReader) texts() []string {
	n := r.count()
	if r.bad {
		return nil
	}
	list := make([]string, 0, n)
	for ; n > 0 && !r.bad; n-- {
		list = append(list, r.text())
	}
	return list
}
