package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// approvals measures what stands between a question and its answer: from the call to the
// subscriber's event, and from the decision to the command's first byte, each beside two
// fsyncs of the same disk; and how long a thousand pending requests take to list.
func (b *bench) approvals(ctx context.Context) error {
	d, err := b.daemon(ctx, `mode: "ask"`)
	if err != nil {
		return err
	}
	defer d.stop()
	secret := func(name string) (string, error) {
		data, err := os.ReadFile(filepath.Join(d.state, name))
		return strings.TrimSpace(string(data)), err
	}
	operator, err := secret("gateway-token")
	if err != nil {
		return err
	}
	events, stop, err := d.approvalEvents(ctx, operator)
	if err != nil {
		return err
	}
	defer stop()
	pipe, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer pipe.Close()
	defer writer.Close()
	fifo := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), writer.Fd()) // where a command says that it runs
	var fsync, told, begun spread
	const warm, rounds = 20, 300
	for i := range warm + rounds {
		if i == warm {
			fsync, told, begun = nil, nil, nil
		}
		if err := fsync.time(func() error { return b.fsyncTwice() }); err != nil {
			return err
		}
		var id string
		err := told.time(func() error {
			if _, err := d.invoke("exec", map[string]any{"command": "dd if=/dev/zero of=" + fifo + " bs=1 count=1 status=none", "timeout": 60 + i}); err != nil {
				return err
			}
			id = <-events
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		err = begun.time(func() error {
			if err := d.rpc(operator, "approval.resolve", map[string]string{"id": id, "decision": "allow-once"}, nil); err != nil {
				return err
			}
			_, err := pipe.Read(make([]byte, 1))
			return err
		})
		if err != nil {
			return err
		}
	}
	two := fsync.at(50)
	b.report.line("request to subscriber's event", fmt.Sprintf("p50 %v (p95 %v), two fsyncs %v", told.at(50), told.at(95), two), fmt.Sprintf("%v over", told.at(50)-two), "under 2ms over two fsyncs")
	b.report.line("decision to first byte", fmt.Sprintf("p50 %v (p95 %v), two fsyncs %v", begun.at(50), begun.at(95), two), fmt.Sprintf("%v over", begun.at(50)-two), "under 5ms over two fsyncs")
	return b.manyPending(d, operator, events)
}

// manyPending lists a thousand pending requests.
func (b *bench) manyPending(d *daemon, operator string, events <-chan string) error {
	for i := range 1000 {
		params := map[string]any{"title": fmt.Sprint("action ", i), "description": "x", "twoPhase": true, "timeoutMs": 600000, "agentId": "main", "sessionKey": fmt.Sprint("s", i/50)}
		if err := d.rpc(operator, "plugin.approval.request", params, nil); err != nil {
			return err
		}
		<-events
	}
	var list spread
	for range 50 {
		var all []json.RawMessage
		if err := list.time(func() error { return d.rpc(operator, "plugin.approval.list", nil, &all) }); err != nil {
			return err
		}
		if len(all) != 1000 {
			return fmt.Errorf("%d requests are pending", len(all))
		}
	}
	b.report.line("1,000 pending listed", fmt.Sprintf("p50 %v (p95 %v)", list.at(50), list.at(95)), "", "under 50ms")
	return nil
}

// fsyncTwice writes 512 bytes and flushes them, twice.
func (b *bench) fsyncTwice() error {
	f, err := os.OpenFile(filepath.Join(b.dir, "fsync"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for range 2 {
		if _, err := f.Write(make([]byte, 512)); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// approvalEvents gives the ids of requests as they are asked.
func (d *daemon) approvalEvents(ctx context.Context, token string) (<-chan string, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/events?approvals=1", nil)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	ids := make(chan string, 16)
	go func() { // ends with the connection
		defer close(ids)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var e struct {
				ID   string `json:"id"`
				Kind string `json:"approvalKind"`
			}
			if ok && json.Unmarshal([]byte(data), &e) == nil && e.Kind != "" {
				ids <- e.ID
			}
		}
	}()
	return ids, cancel, nil
}

// rpc calls a method as the operator.
func (d *daemon) rpc(token, method string, params, result any) error {
	body, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, d.url+"/rpc", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct {
		OK     bool
		Result json.RawMessage
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err
	}
	if !answer.OK {
		return fmt.Errorf("%s: %s", method, answer.Error.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}
