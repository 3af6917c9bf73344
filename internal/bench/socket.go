package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// socket measures the WebSocket: what idle clients cost, how long a broadcast takes to
// reach the last of a thousand, and requests a second from eight.
func (b *bench) socket(ctx context.Context) error {
	d, err := b.daemon(ctx, `mode: "ask"`)
	if err != nil {
		return err
	}
	defer d.stop()
	data, err := os.ReadFile(filepath.Join(d.state, "gateway-token"))
	if err != nil {
		return err
	}
	operator := strings.TrimSpace(string(data))
	if err := b.roundTrips(ctx, d, operator); err != nil {
		return err
	}
	before := d.rss()
	const clients = 1000
	conns := make([]*websocket.Conn, clients)
	for i := range conns {
		if conns[i], err = d.dial(ctx, operator); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		defer conns[i].CloseNow() //nolint:errcheck // the end of the measurement
	}
	time.Sleep(2 * time.Second)
	added := float64(d.rss()-before) / (1 << 20)
	b.report.line("1,000 idle authenticated connections", fmt.Sprintf("+%.1f MB", added), "", "under 60 MB")
	var took spread
	for i := range 20 {
		if err := took.time(func() error { return b.broadcast(ctx, d, operator, conns, i) }); err != nil {
			return err
		}
	}
	b.report.line("broadcast to 1,000 clients, the last", fmt.Sprintf("p50 %v (p95 %v) with the request", took.at(50), took.at(95)), "", "within 50ms")
	return nil
}

// dial connects a client that shows approvals.
func (d *daemon) dial(ctx context.Context, token string) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, strings.Replace(d.url, "http", "ws", 1), nil)
	if err != nil {
		return nil, err
	}
	if _, _, err := ws.Read(ctx); err != nil { // the challenge
		return nil, err
	}
	connect := `{"type":"req","id":"1","method":"connect","params":{"minProtocol":4,"maxProtocol":4,"role":"operator","scopes":["operator.admin"],"caps":["approvals"],` +
		`"client":{"id":"cli","version":"1","platform":"linux","mode":"cli"},"auth":{"token":"` + token + `"}}}`
	if err := ws.Write(ctx, websocket.MessageText, []byte(connect)); err != nil {
		return nil, err
	}
	_, answer, err := ws.Read(ctx)
	if err == nil && !strings.Contains(string(answer), `"hello-ok"`) {
		err = fmt.Errorf("refused: %s", answer)
	}
	return ws, err
}

// broadcast asks for a decision and returns when every client was told.
func (b *bench) broadcast(ctx context.Context, d *daemon, operator string, conns []*websocket.Conn, n int) error {
	errs := make(chan error, len(conns))
	for _, c := range conns {
		go func() {
			for {
				_, data, err := c.Read(ctx)
				if err != nil || strings.Contains(string(data[:min(len(data), 80)]), "plugin.approval.requested") {
					errs <- err
					return
				}
			}
		}()
	}
	params := map[string]any{"title": fmt.Sprint("action ", n), "description": "x", "twoPhase": true, "timeoutMs": 600000, "agentId": "main", "sessionKey": fmt.Sprint("b", n)}
	err := d.rpc(operator, "plugin.approval.request", params, nil)
	for range conns {
		err = errors.Join(err, <-errs)
	}
	return err
}

// roundTrips calls health from eight connections, one request in flight on each.
func (b *bench) roundTrips(ctx context.Context, d *daemon, operator string) error {
	const clients, span = 8, 3 * time.Second
	var wg sync.WaitGroup
	var n atomic.Int64
	var failed atomic.Pointer[error]
	begun := time.Now()
	for range clients {
		ws, err := d.dial(ctx, operator)
		if err != nil {
			return err
		}
		defer ws.CloseNow() //nolint:errcheck // the end of the measurement
		wg.Go(func() {
			for time.Since(begun) < span {
				err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"req","id":"2","method":"health","params":{}}`))
				var data []byte
				if err == nil {
					_, data, err = ws.Read(ctx)
				}
				if err == nil && !json.Valid(data) {
					err = errors.New("no JSON")
				}
				if err != nil {
					failed.Store(&err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	b.report.line("requests from 8 connections", fmt.Sprintf("%.0f/s", float64(n.Load())/time.Since(begun).Seconds()), "", "at least 10000/s")
	return nil
}
