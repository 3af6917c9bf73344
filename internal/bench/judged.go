package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// judged compares a command under the allowlist, which is started without a shell, with
// the same command under security=full (sh -c), in turns (P-60). The second line is a
// pipeline, which has a walker of its own.
func (b *bench) judged(ctx context.Context) error {
	full, err := b.policyServer(`{tools: {exec: {mode: "full"}}}`)
	if err != nil {
		return err
	}
	defer full.stop()
	list, err := b.policyServer(`{tools: {exec: {mode: "allowlist", allowStreamRedirects: true}}}`)
	if err != nil {
		return err
	}
	defer list.stop()
	repo := filepath.Join(b.dir, "repo")
	if out, err := exec.CommandContext(ctx, "git", "init", "-q", repo).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	for _, c := range []struct{ command, target string }{
		{"git status", "at most 1.0 of sh -c"},
		{"cd " + repo + " && git status 2>&1", "at most 1.0 of sh -c"},
		{"git status | head -5", "(a walker is started)"},
	} {
		var with, without spread
		const warm, rounds = 30, 400
		for i := range warm + rounds {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if i == warm {
				with, without = nil, nil
			}
			call := func(m *mcpServer) func() error {
				return func() error { return m.execIn(c.command, repo) }
			}
			if err := with.time(call(full)); err != nil {
				return err
			}
			if err := without.time(call(list)); err != nil {
				return err
			}
		}
		f, l := with.at(50), without.at(50)
		b.report.line(c.command+", allowlist over full",
			fmt.Sprintf("p50 %v (p5 %v, p95 %v), full %v (p5 %v, p95 %v)", l, without.at(5), without.at(95), f, with.at(5), with.at(95)),
			fmt.Sprintf("%.3f", float64(l)/float64(f)), c.target)
	}
	return nil
}

// policyServer is an MCP server with a configuration, and git and head on its lists.
func (b *bench) policyServer(conf string) (*mcpServer, error) {
	state, home, err := b.stateDir(0, "")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(state, "openclaw.json"), []byte(conf), 0o600); err != nil {
		return nil, err
	}
	document := `{"version":1,"agents":{"*":{"allowlist":["git"]}}}`
	if err := os.WriteFile(filepath.Join(state, "exec-approvals.json"), []byte(document), 0o600); err != nil {
		return nil, err
	}
	return b.mcp(state, home, "--ephemeral")
}
