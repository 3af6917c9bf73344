package supervisor

import (
	"encoding/binary"
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
	Client   string   `json:"client"`  // names this client for its lanes
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

// pageBody is what a page says beside its snapshot, which is raw.
type pageBody struct {
	First int64 `json:"first"`
	Total int64 `json:"total"`
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

// text reads one text.
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
	all := string(r.b) // one copy that all of them share
	for ; n > 0 && !r.bad; n-- {
		size := r.count()
		if size > uint64(len(r.b)) {
			r.bad, r.b = true, nil
			break
		}
		at := len(all) - len(r.b)
		list = append(list, all[at:at+int(size)])
		r.b = r.b[size:]
	}
	return list
}
