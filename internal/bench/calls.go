package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// rawTrue is the floor: start the shell with two pipes, read them to the end, wait.
func (b *bench) rawTrue(text string) error {
	cmd := exec.Command(b.shell, "-c", text)
	cmd.Env = b.environ("", b.dir)
	cmd.Dir = b.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	errOut, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, out)
	_, _ = io.Copy(io.Discard, errOut)
	return cmd.Wait()
}

// mcpServer is `openclaw mcp` on pipes, driven by the smallest possible client.
type mcpServer struct {
	state string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
}

func (b *bench) mcp(state, home string, args ...string) (*mcpServer, error) {
	m := &mcpServer{state: state, cmd: exec.Command(b.binary, append([]string{"mcp"}, args...)...)}
	m.cmd.Env = b.environ(state, home)
	m.cmd.Dir = home
	m.cmd.Stderr = os.Stderr
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewReaderSize(out, 1<<20)
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	init := map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"},
	}
	if _, err := m.request("initialize", init); err != nil {
		return nil, err
	}
	_, err = io.WriteString(m.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return m, err
}

func (m *mcpServer) stop() {
	m.in.Close()
	_ = m.cmd.Wait()
}

func (m *mcpServer) request(method string, params any) (map[string]any, error) {
	m.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := m.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		answer, err := m.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("mcp server: %w", err)
		}
		var msg struct {
			ID     int
			Result map[string]any
			Error  any
		}
		if err := json.Unmarshal(answer, &msg); err != nil {
			return nil, err
		}
		if msg.ID == m.id {
			if msg.Error != nil {
				return nil, fmt.Errorf("%s: %v", method, msg.Error)
			}
			return msg.Result, nil
		}
	}
}

func (m *mcpServer) exec(command string) error {
	return m.call(map[string]any{"command": command})
}

func (m *mcpServer) execIn(command, dir string) error {
	return m.call(map[string]any{"command": command, "workdir": dir})
}

func (m *mcpServer) call(args map[string]any) error {
	res, err := m.request("tools/call", map[string]any{"name": "exec", "arguments": args})
	if err == nil && res["isError"] == true {
		err = fmt.Errorf("exec: %v", res["content"])
	}
	return err
}

// spread holds the times of one kind of call.
type spread []time.Duration

func (s spread) at(p int) time.Duration {
	slices.Sort(s)
	return s[min(len(s)-1, len(s)*p/100)]
}

func (s *spread) time(f func() error) error {
	begin := time.Now()
	err := f()
	*s = append(*s, time.Since(begin))
	return err
}

// latency compares sequential calls with the floor, one floor call between every two.
func (b *bench) latency(ctx context.Context) error {
	d, err := b.daemon(ctx, "")
	if err != nil {
		return err
	}
	defer d.stop()
	state, home, err := b.stateDir(0, "")
	if err != nil {
		return err
	}
	alone, err := b.mcp(state, home)
	if err != nil {
		return err
	}
	defer b.endSupervisor(state)
	defer alone.stop()
	through, err := b.mcp(d.state, home)
	if err != nil {
		return err
	}
	defer through.stop()
	snap, err := b.snapshotServer()
	if err != nil {
		return err
	}
	defer b.endSupervisor(snap.state)
	defer snap.stop()
	for _, command := range []string{"true", "echo hello"} {
		target := ""
		if command == "true" {
			target = "p50 at most 1.35"
		}
		http, err := d.exec(command)
		if err != nil {
			return err
		}
		err = b.compare(ctx, "exec "+command, command, []figure{
			{"over MCP stdio", func() error { return alone.exec(command) }, target},
			{"over HTTP", http, target},
			{"over MCP stdio through the daemon", func() error { return through.exec(command) }, ""},
			{"over MCP stdio, with a shell snapshot of 20 functions", func() error { return snap.exec(command) }, "stated apart"},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// snapshotServer is an MCP server whose operator has aliases and functions.
// Its shell is bash, since only that and zsh have snapshots.
func (b *bench) snapshotServer() (*mcpServer, error) {
	state, home, err := b.stateDir(0, "")
	if err != nil {
		return nil, err
	}
	var rc string
	for i := range 20 {
		rc += fmt.Sprintf("alias a%d='ls -l'\nf%d() {\n  local x=$1\n  if [ -n \"$x\" ]; then\n    printf '%%s\\n' \"$x\"\n  fi\n}\n", i, i)
	}
	for _, name := range []string{".bashrc", ".profile"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(rc), 0o600); err != nil {
			return nil, err
		}
	}
	old := b.shell
	b.shell = "/bin/bash"
	defer func() { b.shell = old }()
	return b.mcp(state, home)
}

type figure struct {
	name   string
	call   func() error
	target string
}

// compare measures each figure in turn, one floor call between every two of its calls,
// and against the floor of its own turn.
func (b *bench) compare(ctx context.Context, title, command string, figures []figure) error {
	const warm, rounds = 50, 800
	for _, f := range figures {
		var raw, ours spread
		for i := range warm + rounds {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if i == warm {
				raw, ours = nil, nil
			}
			if err := raw.time(func() error { return b.rawTrue(command) }); err != nil {
				return err
			}
			if err := ours.time(f.call); err != nil {
				return err
			}
		}
		ratio := fmt.Sprintf("p50 %.2f p99 %.2f", float64(ours.at(50))/float64(raw.at(50)), float64(ours.at(99))/float64(raw.at(99)))
		value := fmt.Sprintf("p50 %v p99 %v (raw %v, %v)", ours.at(50), ours.at(99), raw.at(50), raw.at(99))
		b.report.line(title+" "+f.name, value, ratio, f.target)
	}
	return nil
}

// rate compares calls a second with 8 in flight, in turns.
func (b *bench) rate(ctx context.Context) error {
	d, err := b.daemon(ctx, "")
	if err != nil {
		return err
	}
	defer d.stop()
	call, err := d.exec("true")
	if err != nil {
		return err
	}
	var raw, ours []float64
	for range 5 {
		r, err := workers(ctx, func() error { return b.rawTrue("true") })
		if err != nil {
			return err
		}
		o, err := workers(ctx, call)
		if err != nil {
			return err
		}
		raw, ours = append(raw, r), append(ours, o)
	}
	b.report.line("rate with 8 in flight, raw", fmt.Sprintf("%.0f/s", median(raw)), "1.00", "")
	b.report.line("rate with 8 in flight, exec true over HTTP", fmt.Sprintf("%.0f/s", median(ours)), fmt.Sprintf("%.2f", median(ours)/median(raw)), "at least 0.80")
	return nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// workers runs f from 8 goroutines for two seconds and returns the calls a second.
func workers(ctx context.Context, f func() error) (float64, error) {
	var n atomic.Int64
	var fault atomic.Value
	var wg sync.WaitGroup
	begin := time.Now()
	for range 8 {
		wg.Go(func() {
			for time.Since(begin) < 2*time.Second && ctx.Err() == nil {
				if err := f(); err != nil {
					fault.Store(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if err, ok := fault.Load().(error); ok {
		return 0, err
	}
	return float64(n.Load()) / time.Since(begin).Seconds(), ctx.Err()
}
