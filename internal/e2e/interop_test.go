//go:build interop

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// interopEnv names a folder with the public programs of interop/package.json, installed
// (make interop). They are large, so this is no part of make test.
const interopEnv = "OPENCLAW_INTEROP"

// TestInterop: the public gateway client and the public CLI work with this gateway.
func TestInterop(t *testing.T) {
	peers := os.Getenv(interopEnv)
	if peers == "" {
		t.Fatal(interopEnv + " names no folder; run make interop, which installs the public programs")
	}
	node := filepath.Join(peers, "node_modules/node/bin/node")
	p := newPlace(t, `tools: {exec: {mode: "ask"}}`)
	d := p.start()
	token := d.secret("gateway-token")
	ws := strings.Replace(d.url, "http", "ws", 1)
	run := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, node, args...)
		cmd.Dir, cmd.Env = peers, []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	type answer struct {
		Auth     struct{ DeviceToken, Method string }
		Devices  int
		Command  string
		Resolved struct{ OK bool }
		Events   []string
	}
	client := func(token string, more ...string) (a answer) {
		t.Helper()
		out := run(append([]string{filepath.Join(peers, "client.mjs"), ws, token}, more...)...)
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return a
	}
	asked := make(chan map[string]any, 1)
	go func() {
		for range 500 { // until the client is there to answer
			res := d.invoke(d.secret("agent-token"), "exec", map[string]any{"command": "echo by the public client"})
			if res["status"] == "approval-pending" {
				asked <- res
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		asked <- nil
	}()
	first := client(token)
	if res := <-asked; res == nil || !first.Resolved.OK || first.Command != "echo by the public client" || first.Devices != 1 || first.Auth.DeviceToken == "" {
		t.Errorf("%+v", first)
	}
	d.kill9()
	d = p.start()
	if again := client(first.Auth.DeviceToken, "again"); again.Auth.Method != "device-token" || again.Devices != 1 {
		t.Errorf("after a restart, by its device token: %+v", again)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d.watch(ctx)
	res := d.invoke(d.secret("agent-token"), "exec", map[string]any{"command": "echo by the public cli"})
	id, _ := res["sessionId"].(string)
	cli := func(want string, args ...string) {
		t.Helper()
		args = append(append([]string{filepath.Join(peers, "node_modules/openclaw/openclaw.mjs")}, args...), "--url", ws, "--token", token)
		if out := run(args...); !strings.Contains(out, want) {
			t.Errorf("%v does not say %q:\n%s", args, want, out)
		}
	}
	cli("echo by the public cli", "approvals", "pending")
	cli("tools.exec", "approvals", "get", "--gateway")
	cli("openclaw-tui", "devices", "list")
	cli("Paired: 0", "nodes", "list")
	cli("resolved allow-once", "approvals", "resolve", id, "allow-once")
	d.await("it has run", func() bool { return d.status(id) == "completed" })
}
