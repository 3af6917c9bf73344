package event_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/event"
	"openclaw/internal/protocol"
)

func openBus(t *testing.T, path string, history int) *event.Bus {
	t.Helper()
	b, err := event.Open(time.Now, path, history)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// a listener that comes back after a restart gets what it missed, once, and the
// ids go on.
func TestX18_HistoryOutlivesTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	b := openBus(t, path, 10)
	first := b.Publish(protocol.Event{RunID: "a", Key: "k.a"})
	second := b.Publish(protocol.Event{RunID: "b", Key: "k.b"})
	b.Close()

	again := openBus(t, path, 10)
	if !again.Has("k.a") || !again.Has("k.b") || again.Has("k.c") {
		t.Error("the keys of the history are not known")
	}
	third := again.Publish(protocol.Event{RunID: "c"})
	if third.ID == first.ID || third.ID == second.ID {
		t.Errorf("id %s twice", third.ID)
	}
	sub := again.Subscribe(nil, first.ID)
	defer sub.Close()
	for _, want := range []string{"b", "c"} {
		e, err := sub.Next(t.Context())
		if err != nil || e.RunID != want {
			t.Errorf("%q, %v; want %q", e.RunID, err, want)
		}
	}
	if sub.Gap() {
		t.Error("a gap where there is none")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A torn line, a foreign one and a number that is missing cost what they are, no more.
func TestDamagedHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	text := `{"id":"e-1","runId":"1"}` + "\n" + `{"id":"e-3","runId":"3"}` + "\nnot json\n" + `{"id":"x"}` + "\n" +
		strings.Repeat("y", 3<<20) + "\n" + `{"id":"e-4","runId":"4"}` + "\n" + `{"id":"e-5","ru`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openBus(t, path, 10)
	sub := b.Subscribe(nil, "e-3")
	defer sub.Close()
	if e, err := sub.Next(t.Context()); err != nil || e.RunID != "4" || sub.Gap() {
		t.Errorf("%+v, %v", e, err)
	}
	lost := b.Subscribe(nil, "e-1")
	defer lost.Close()
	if !lost.Gap() {
		t.Error("no gap after an event that is missing")
	}
	if e := b.Publish(protocol.Event{}); e.ID != "e-5" {
		t.Errorf("id %s", e.ID)
	}
}

// The file stays small, and what is in it is the history.
func TestHistoryFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	b := openBus(t, path, 100)
	tail := strings.Repeat("x", 20_000)
	for i := range 1000 {
		b.Publish(protocol.Event{RunID: fmt.Sprint(i), Tail: tail})
	}
	b.Close()
	if info, err := os.Stat(path); err != nil || info.Size() > 9<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	again := openBus(t, path, 100)
	if e := again.Publish(protocol.Event{}); !strings.HasSuffix(e.ID, "-1001") {
		t.Errorf("id %s", e.ID)
	}
}
