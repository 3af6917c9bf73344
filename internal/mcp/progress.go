package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

const (
	progressEvery = 100 * time.Millisecond // at most one notification in this time
	progressMax   = 4096                   // bytes of output text in one notification
)

// watchProgress returns what to hand to the call as its watcher, nil when the client
// did not ask for progress, and what to call once the call has returned.
//
// The watcher only copies into a bounded buffer, so a slow client never holds up a
// command: what does not fit is left out of the notifications, oldest first, and
// counted. The result has the output all the same.
func watchProgress(ctx context.Context, req *sdk.CallToolRequest) (watch func(protocol.Progress), finish func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	live := &liveOutput{wake: make(chan struct{}, 1)}
	done := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() {
		live.send(done, func(text string, total int64) {
			// The last error would be the connection's end, which cancels ctx anyway.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Message: text, Progress: float64(total),
			})
		})
	})
	return live.add, func() { close(done); sender.Wait() }
}

// liveOutput is the output that was not sent yet.
type liveOutput struct {
	wake chan struct{} // holds a token after add

	mu      sync.Mutex
	partial map[string][]byte // by stream: the beginning of a character
	text    []byte            // valid UTF-8, at most progressMax bytes
	skipped int64             // bytes left out before text
	total   int64             // bytes ever added; only grows, as the protocol asks
	sent    int64             // total at the last notification
}

// add takes a step of the call.
func (l *liveOutput) add(p protocol.Progress) {
	if len(p.Data) == 0 && p.Dropped == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += int64(len(p.Data)) + p.Dropped
	if p.Dropped > 0 {
		l.skipped += p.Dropped + int64(len(l.text))
		l.text = l.text[:0]
		delete(l.partial, p.Stream)
	}
	data := p.Data
	if held := l.partial[p.Stream]; len(held) > 0 {
		data = append(held, data...)
		delete(l.partial, p.Stream)
	}
	cut := len(data) - unfinished(data)
	if cut < len(data) {
		if l.partial == nil {
			l.partial = map[string][]byte{}
		}
		l.partial[p.Stream] = append([]byte(nil), data[cut:]...) // Data is valid during the call only
	}
	l.put(data[:cut])
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// put appends text and drops the oldest over the bound. The caller holds mu.
func (l *liveOutput) put(data []byte) {
	if over := len(data) - progressMax; over > 0 { // decoding makes text longer, never shorter
		for over < len(data) && !utf8.RuneStart(data[over]) {
			over++
		}
		l.skipped += int64(over) + int64(len(l.text))
		l.text, data = l.text[:0], data[over:]
	}
	l.text = append(l.text, strings.ToValidUTF8(string(data), "\uFFFD")...)
	if over := len(l.text) - progressMax; over > 0 {
		for over < len(l.text) && !utf8.RuneStart(l.text[over]) {
			over++
		}
		l.skipped += int64(over)
		l.text = append(l.text[:0], l.text[over:]...)
	}
}

// take returns what the next notification says; false = there is nothing new.
func (l *liveOutput) take(last bool) (text string, total int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last {
		for stream, held := range l.partial {
			l.put(held)
			delete(l.partial, stream)
		}
	}
	if len(l.text) == 0 || l.total == l.sent {
		return "", 0, false
	}
	text = string(l.text)
	if l.skipped > 0 {
		text = fmt.Sprintf("[%d bytes not shown here]\n%s", l.skipped, text)
	}
	l.text, l.skipped, l.sent = l.text[:0], 0, l.total
	return text, l.total, true
}

// send calls notify with what has come, at most once every progressEvery, until done is
// closed; then once more with the rest.
func (l *liveOutput) send(done <-chan struct{}, notify func(text string, total int64)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ended := false; !ended; {
		select {
		case <-l.wake:
		case <-done:
			ended = true
		}
		if text, total, ok := l.take(ended); ok {
			notify(text, total)
		}
		if ended {
			return
		}
		pause.Reset(progressEvery)
		select {
		case <-pause.C:
		case <-done:
		}
	}
}

// unfinished returns how many bytes at the end of b begin a character whose rest has
// not come yet (0 to 3).
func unfinished(b []byte) int {
	for i := 1; i <= 3 && i <= len(b); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}
