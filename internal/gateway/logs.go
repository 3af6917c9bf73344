package gateway

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// Bounds of logs.tail.
const (
	logLines    = 200
	logLinesMax = 5000
	logBytes    = 250_000
	logBytesMax = 1_000_000
	logWaitMax  = 60_000 // ms
)

// LogTail keeps the end of the daemon's log, for those who look from elsewhere. It is an
// io.Writer of whole lines.
type LogTail struct {
	most int

	mu    sync.Mutex
	text  []byte // whole lines, at most `most` bytes
	end   int64  // offset behind the last byte, of all that was ever written
	added chan struct{}
}

// NewLogTail makes a LogTail of at most that many bytes.
func NewLogTail(most int) *LogTail { return &LogTail{most: most, added: make(chan struct{})} }

// Write adds lines. It never fails.
func (t *LogTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.end += int64(len(p))
	if over := len(t.text) - t.most; over > 0 {
		if i := bytes.IndexByte(t.text[over-1:], '\n'); i >= 0 {
			over += i
		}
		t.text = append(t.text[:0], t.text[min(over, len(t.text)):]...)
	}
	close(t.added)
	t.added = make(chan struct{})
	return len(p), nil
}

// since gives whole lines from an offset on; below 0 = the last ones. reset says that older
// lines than asked for are gone, or that the offset is of another daemon; more closes when
// something is added.
func (t *LogTail) since(cursor int64, lines, size int) (out []string, next int64, cut, reset bool, more <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, first := t.text, t.end-int64(len(t.text))
	last := cursor < 0
	if reset = cursor > t.end || !last && cursor < first; !last && !reset {
		text = text[cursor-first:]
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	all = all[:len(all)-1] // what stands behind the last newline
	from, total := len(all), 0
	for from > 0 && len(all)-from < lines && total+len(all[from-1]) <= size {
		from--
		total += len(all[from])
	}
	cut = from > 0 && !last
	for _, line := range all[from:] {
		out = append(out, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return out, t.end, cut, reset, t.added
}

type logsParams struct {
	Cursor   *int64 `json:"cursor"` // of the answer before; left out = the last lines
	Limit    int    `json:"limit"`  // lines
	MaxBytes int    `json:"maxBytes"`
	WaitMs   int64  `json:"waitMs"` // ours: for something new, 0 to 60000
}

// logsReply has the newest lines; truncated says that there were more than fit, reset that
// the cursor stands for nothing that is kept.
type logsReply struct {
	File      string   `json:"file"` // "" = only the end of it is kept, by the daemon itself
	Cursor    int64    `json:"cursor"`
	Size      int64    `json:"size"`
	Lines     []string `json:"lines"`
	Truncated bool     `json:"truncated,omitempty"`
	Reset     bool     `json:"reset,omitempty"`
}

func (s *server) methodLogs(ctx context.Context, _ *backend, p logsParams) (any, error) {
	switch {
	case p.Limit < 0 || p.Limit > logLinesMax:
		return nil, invalid(paramsPrefix+"limit goes from 1 to %d", logLinesMax)
	case p.MaxBytes < 0 || p.MaxBytes > logBytesMax:
		return nil, invalid(paramsPrefix+"maxBytes goes from 1 to %d", logBytesMax)
	case p.WaitMs < 0 || p.WaitMs > logWaitMax:
		return nil, invalid(paramsPrefix+"waitMs goes from 0 to %d", logWaitMax)
	case p.Cursor != nil && *p.Cursor < 0:
		return nil, invalid(paramsPrefix + "cursor is that of an answer before")
	case s.opt.LogTail == nil:
		return logsReply{Lines: []string{}}, nil
	}
	if p.Limit == 0 {
		p.Limit = logLines
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = logBytes
	}
	cursor := int64(-1)
	if p.Cursor != nil {
		cursor = *p.Cursor
	}
	wait := time.NewTimer(time.Duration(p.WaitMs) * time.Millisecond)
	defer wait.Stop()
	for {
		lines, next, cut, reset, more := s.opt.LogTail.since(cursor, p.Limit, p.MaxBytes)
		if len(lines) > 0 || reset || p.WaitMs == 0 {
			return logsReply{Cursor: next, Size: next, Lines: append([]string{}, lines...), Truncated: cut, Reset: reset}, nil
		}
		select {
		case <-more:
		case <-wait.C:
			p.WaitMs = 0
		case <-s.closing.Done():
			p.WaitMs = 0
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
