package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// supervised compares sessions that live with a supervisor with those of --ephemeral,
// which live in the server's own process: one call of the floor, of each of both, in turns.
func (b *bench) supervised(ctx context.Context) error {
	here, err := b.daemon(ctx, "", "--ephemeral")
	if err != nil {
		return err
	}
	defer here.stop()
	there, err := b.daemon(ctx, "")
	if err != nil {
		return err
	}
	defer there.stop()
	state, home, err := b.stateDir(0, "")
	if err != nil {
		return err
	}
	stdioHere, err := b.mcp(state, home, "--ephemeral")
	if err != nil {
		return err
	}
	defer stdioHere.stop()
	state2, home2, err := b.stateDir(0, "")
	if err != nil {
		return err
	}
	stdioThere, err := b.mcp(state2, home2)
	if err != nil {
		return err
	}
	defer b.endSupervisor(state2)
	defer stdioThere.stop()
	for _, command := range []string{"true", "echo hello"} {
		httpHere, err := here.exec(command)
		if err != nil {
			return err
		}
		httpThere, err := there.exec(command)
		if err != nil {
			return err
		}
		err = b.pair(ctx, "exec "+command+" over MCP stdio", command,
			func() error { return stdioHere.exec(command) }, func() error { return stdioThere.exec(command) })
		if err != nil {
			return err
		}
		if err := b.pair(ctx, "exec "+command+" over HTTP", command, httpHere, httpThere); err != nil {
			return err
		}
	}
	return b.pairOfLoads(ctx, here, there)
}

// pair reports the ratio of the medians of two calls, with the floor beside each.
func (b *bench) pair(ctx context.Context, title, command string, here, there func() error) error {
	const warm, rounds = 50, 800
	var raw, h, t spread
	for i := range warm + rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if i == warm {
			raw, h, t = nil, nil, nil
		}
		floor := func() error { return b.rawTrue(command) }
		for _, step := range []struct {
			into *spread
			call func() error
		}{{&raw, floor}, {&h, here}, {&raw, floor}, {&t, there}} {
			if err := step.into.time(step.call); err != nil {
				return err
			}
		}
	}
	value := fmt.Sprintf("p50 %v, in process %v (raw %v; %.2f and %.2f of it)", t.at(50), h.at(50), raw.at(50),
		float64(t.at(50))/float64(raw.at(50)), float64(h.at(50))/float64(raw.at(50)))
	b.report.line(title+", supervised", value, fmt.Sprintf("%.3f", float64(t.at(50))/float64(h.at(50))), "at most 1.12 of in process")
	return nil
}

// pairOfLoads compares the rate of calls and the speed of much output.
func (b *bench) pairOfLoads(ctx context.Context, here, there *daemon) error {
	var rates [2][]float64
	var output [2]spread
	const command = "head -c 268435456 /dev/zero"
	for range 5 {
		for i, d := range []*daemon{here, there} {
			call, err := d.exec("true")
			if err != nil {
				return err
			}
			rate, err := workers(ctx, call)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], rate)
			err = output[i].time(func() error {
				res, err := d.invoke("exec", map[string]any{"command": command, "yieldMs": 60000})
				if err == nil && res["status"] != "completed" {
					err = fmt.Errorf("status %v", res["status"])
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	h, t := median(rates[0]), median(rates[1])
	b.report.line("rate with 8 in flight, supervised", fmt.Sprintf("%.0f/s, in process %.0f/s", t, h), fmt.Sprintf("%.3f", t/h), "at least 0.88 of in process")
	b.report.line("256 MiB with its log, supervised", fmt.Sprintf("%v, in process %v", output[1].at(50), output[0].at(50)),
		fmt.Sprintf("%.3f", float64(output[1].at(50))/float64(output[0].at(50))), "at most 1.12 of in process")
	return nil
}

// endSupervisor ends the supervisor of a state directory, with what it runs.
func (b *bench) endSupervisor(state string) {
	cmd := exec.Command(b.binary, "gateway", "stop", "--sessions")
	cmd.Env = b.environ(state, b.dir)
	_ = cmd.Run() // there may be none
}

// supervisorOf finds the supervisor of a state directory; 0 = none.
func supervisorOf(state string) int {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte("supervise\x00")) && bytes.Contains(data, []byte(state+"/")) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			return pid
		}
	}
	return 0
}
