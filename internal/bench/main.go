// Command bench measures openclaw against the raw floor of the same machine in the
// same run, and prints each figure as a ratio beside its target. It starts the built
// binary as a user would: a daemon with a fresh state directory, an MCP server on
// pipes, HTTP on loopback. Usage: go run ./internal/bench [-binary PATH] [-only NAME].
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// report collects the lines of the table.
type report struct{ w *tabwriter.Writer }

func (r *report) line(name, value, ratio, target string) {
	fmt.Fprintf(r.w, "%s\t%s\t%s\t%s\n", name, value, ratio, target)
	r.w.Flush()
}

func run(ctx context.Context) error {
	binary := flag.String("binary", "", "the openclaw binary; empty = build one")
	only := flag.String("only", "", "run only figures whose name contains this")
	shell := flag.String("shell", "/bin/sh", "the shell that commands and the floor use")
	flag.Parse()
	dir, err := os.MkdirTemp("", "openclaw-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *binary == "" {
		*binary = filepath.Join(dir, "openclaw")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", *binary, "./cmd/openclaw")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	b := &bench{binary: *binary, dir: dir, shell: *shell}
	b.report.w = tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	b.report.line("figure", "measured", "ratio", "target")
	for _, f := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"start", b.start},
		{"latency", b.latency},
		{"rate", b.rate},
		{"throughput", b.throughput},
		{"sessions", b.sessions},
		{"leaks", b.leaks},
		{"supervised", b.supervised},
		{"judged", b.judged},
		{"approvals", b.approvals},
		{"socket", b.socket},
	} {
		if !strings.Contains(f.name, *only) {
			continue
		}
		if err := f.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

type bench struct {
	binary, dir, shell string
	report             report
	n                  int // state directories made
}
