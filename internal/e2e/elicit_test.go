package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/proc"
)

const asksByClient = `approvals: {elicitation: "stdio"}, tools: {exec: {mode: "ask"}}`

// TestA60b_Elicitation: openclaw mcp asks through its client where the operator has said
// so, in its own process only: a daemon it speaks to does not take its word, and one that
// an agent's command has started has no word to give.
func TestA60b_Elicitation(t *testing.T) {
	for name, tt := range map[string]struct {
		conf      string
		daemon    bool
		env, args []string
		asks      bool
	}{
		"on":              {conf: asksByClient, asks: true},
		"off by default":  {conf: `tools: {exec: {mode: "ask"}}`},
		"with a daemon":   {conf: asksByClient, daemon: true},
		"beside a daemon": {conf: asksByClient, daemon: true, args: []string{"--local"}, asks: true},
		"inside":          {conf: asksByClient, env: []string{proc.MarkerEnv + "=x"}},
	} {
		for _, revision := range []string{"2025-06-18", "2026-07-28"} {
			t.Run(name+"/"+revision, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, tt.conf)
				if tt.daemon {
					p.start()
				}
				cmd := exec.Command(binary, append([]string{"mcp"}, tt.args...)...)
				cmd.Env, cmd.Dir, cmd.Stderr = append(p.env(), tt.env...), p.home, os.Stderr
				elicits(t, p, &mcp.CommandTransport{Command: cmd}, revision, tt.asks)
			})
		}
	}
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, asksByClient)
		d := p.start()
		for _, revision := range []string{"2025-06-18", "2026-07-28"} {
			elicits(t, p, d.mcpTransport(), revision, false)
		}
	})
}

// elicits runs one command that is allowed and one that is not, if the client is asked.
func elicits(t *testing.T, p *place, transport mcp.Transport, revision string, asks bool) {
	asked := 0
	c := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			decision := "deny"
			if strings.Contains(req.Params.Message, "touch allowed") {
				decision = "allow-once"
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
		},
	})
	session, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("speaks %s", got)
	}
	for _, name := range []string{"allowed", "denied"} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "touch " + name + " && echo done", "workdir": p.home}})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := res.StructuredContent.(map[string]any)
		_, missing := os.Stat(filepath.Join(p.home, name))
		if runs := asks && name == "allowed"; runs != (missing == nil) || runs != (r["status"] == "completed") || !runs && r["status"] != "denied" {
			t.Errorf("%s: %v", name, r)
		}
	}
	if asks != (asked == 2) || !asks && asked > 0 {
		t.Errorf("asked %d times", asked)
	}
}
