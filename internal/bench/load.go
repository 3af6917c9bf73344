package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func (b *bench) start(ctx context.Context) error {
	var starts spread
	var idle int64
	for range 10 {
		d, err := b.daemon(ctx, "")
		if err != nil {
			return err
		}
		starts = append(starts, d.started)
		time.Sleep(300 * time.Millisecond)
		idle = max(idle, d.rss())
		d.stop()
	}
	b.report.line("daemon start to /readyz", fmt.Sprintf("p50 %v max %v", starts.at(50), starts.at(100)), "", "under 100ms")
	b.report.line("idle memory", fmt.Sprintf("%.1f MB", float64(idle)/1e6), "", "under 40 MB")
	return nil
}

// throughput sends 1 GiB through a session and compares with the same bytes through a
// bare pipe into a file.
func (b *bench) throughput(ctx context.Context) error {
	d, err := b.daemon(ctx, "")
	if err != nil {
		return err
	}
	defer d.stop()
	const command = "head -c 1073741824 /dev/zero"
	var raw, ours spread
	for range 3 {
		if err := raw.time(func() error { return b.rawPipe(command) }); err != nil {
			return err
		}
		err := ours.time(func() error {
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
	speed := func(t time.Duration) float64 { return 1024 / t.Seconds() }
	b.report.line("1 GiB through a pipe into a file, raw", fmt.Sprintf("%.0f MiB/s", speed(raw.at(50))), "1.00", "")
	b.report.line("1 GiB through a session with its log", fmt.Sprintf("%.0f MiB/s", speed(ours.at(50))),
		fmt.Sprintf("%.2f", float64(raw.at(50))/float64(ours.at(50))), "at least 0.50")
	b.report.line("daemon memory while it does", fmt.Sprintf("%.1f MB peak", float64(d.peak())/1e6), "", "under 100 MB")
	return nil
}

func (b *bench) rawPipe(command string) error {
	path := filepath.Join(b.dir, "raw.out")
	defer os.Remove(path)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(b.shell, "-c", command)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	// The wrappers keep the copy in this process: read and append, as a log must.
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{out}, buf); err != nil {
		return err
	}
	return cmd.Wait()
}

func (b *bench) sessions(ctx context.Context) error {
	d, err := b.daemon(ctx, "maxSessions: 2000")
	if err != nil {
		return err
	}
	defer d.stop()
	for range 20 { // the first calls' one-time memory is not the sessions'
		if _, err := d.invoke("exec", map[string]any{"command": "true"}); err != nil {
			return err
		}
	}
	before := d.rss()
	const n = 1000
	var starts spread
	for range n {
		err := starts.time(func() error {
			_, err := d.invoke("exec", map[string]any{"command": "exec sleep 600", "background": true})
			return err
		})
		if err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	added := d.rss() - before
	b.report.line("1000 idle background sessions", fmt.Sprintf("%.1f MB added, start p50 %v", float64(added)/1e6, starts.at(50)),
		fmt.Sprintf("%.1f KB each", float64(added)/1e3/n), "under 64 MB")
	return nil
}

func (b *bench) leaks(ctx context.Context) error {
	d, err := b.daemon(ctx, "")
	if err != nil {
		return err
	}
	defer d.stop()
	measure := func(runs int) (goroutines, files int, rss int64, err error) {
		for range runs {
			if _, err := d.invoke("exec", map[string]any{"command": "true"}); err != nil {
				return 0, 0, 0, err
			}
		}
		time.Sleep(1500 * time.Millisecond)
		goroutines, err = d.goroutines()
		return goroutines, d.descriptors(), d.rss(), err
	}
	g1, f1, m1, err := measure(500)
	if err != nil {
		return err
	}
	g2, f2, m2, err := measure(10000)
	if err != nil {
		return err
	}
	value := fmt.Sprintf("goroutines %d to %d, descriptors %d to %d, zombies %d, memory %.1f to %.1f MB",
		g1, g2, f1, f2, d.zombies(), float64(m1)/1e6, float64(m2)/1e6)
	b.report.line("10,000 sequential short runs", value, "", "no growth")
	return nil
}
