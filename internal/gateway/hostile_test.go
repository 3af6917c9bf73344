package gateway

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestManyConnections: ten thousand clients that never sign in, some of them with nonsense,
// cost others nothing and leave nothing behind (protocol 1.1).
func TestManyConnections(t *testing.T) {
	h := start(t, &fakeTools{}, "")
	k := newKey()
	p := h.dialSocket(nil)
	if r := p.call("connect", p.connectParams(&k, h.operator, admin, nil)); !r.OK {
		t.Fatal(r.Error)
	}
	host := strings.TrimPrefix(h.url, "http://")
	count := 10_000
	if testing.Short() {
		count = 500
	}
	before := runtime.NumGoroutine()
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	used := heap.HeapAlloc

	var next atomic.Int64
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(count) {
					return
				}
				hostile(t, host, int(i))
			}
		})
	}
	done := make(chan struct{})
	go func() { clients.Wait(); close(done) }()
	var slowest time.Duration
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		began := time.Now()
		if r := p.call("health", nil); !r.OK {
			t.Fatalf("a signed-in client is refused: %+v", r.Error)
		}
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 2*time.Second {
		t.Errorf("a signed-in client waited %v", slowest)
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+5; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&heap)
	if grown := int64(heap.HeapAlloc) - int64(used); grown > 16<<20 {
		t.Errorf("%d bytes more are held", grown)
	}
	if n := h.s.hub.count(); n != 1 {
		t.Errorf("%d clients are known", n)
	}
	t.Logf("%d connections, a signed-in client waited %v at most", count, slowest)
}

// hostile opens a connection and goes away in one of several ways.
func hostile(t *testing.T, host string, i int) {
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Errorf("connection %d: %v", i, err)
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if i%5 == 0 {
		return // not a word
	}
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", host)
	if i%5 == 1 {
		return
	}
	in := bufio.NewReader(c)
	line, err := in.ReadString('\n')
	if err != nil || !strings.Contains(line, "101") && !strings.Contains(line, "429") {
		t.Errorf("connection %d: %q %v", i, line, err)
		return
	}
	switch i % 5 {
	case 2: // a frame without a mask, which the protocol forbids
		_, _ = c.Write([]byte{0x81, 0x02, '{', '}'})
	case 3: // one that claims to be larger than any may be
		_, _ = c.Write([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})
	}
}
