package tool

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"openclaw/internal/config"
	"openclaw/internal/proc"
	"openclaw/internal/protocol"
)

// benchService is a service in a fresh state directory with a plain environment.
func benchService(b testing.TB) (*Service, Caller, []string) {
	dir := b.TempDir()
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh"}
	getenv := func(k string) string {
		if k == "OPENCLAW_STATE_DIR" {
			return dir
		}
		return ""
	}
	cfg, err := config.Load(filepath.Join(dir, "openclaw.json"), getenv)
	if err != nil {
		b.Fatal(err)
	}
	s, err := Open(Options{Config: cfg, StateDir: dir, Getenv: getenv, Environ: env})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s, Caller{Agent: "main", SessionKey: "agent:main:main", Credential: "local", Origin: "test"}, env
}

// BenchmarkExecTrue is the whole call path around the start of a shell; compare with
// BenchmarkRawTrue in the same run.
func BenchmarkExecTrue(b *testing.B) {
	s, c, _ := benchService(b)
	req := protocol.ToolRequest{Tool: "exec", Args: []byte(`{"command":"true"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(context.Background(), c, req, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRawTrue is the floor: start the same shell with pipes and wait for it.
func BenchmarkRawTrue(b *testing.B) {
	starter, err := proc.NewStarter()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { starter.Close() })
	env := []string{"PATH=/usr/bin:/bin"}
	spec := proc.Spec{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", "true"}, Env: env, Dir: "/"}
	for b.Loop() {
		p, err := starter.Start(spec)
		if err != nil {
			b.Fatal(err)
		}
		for p.Out.Read(func([]byte) {}) == nil {
		}
		p.Wait()
		p.Out.Close()
	}
}
