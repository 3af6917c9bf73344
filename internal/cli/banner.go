package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// banner prints how to connect: where, with what, and a first command to try. It names
// the file of the agent's token, never a secret and never the operator's file (C-6).
func banner(env *Env, stateDir, url, fingerprint string) error {
	token := filepath.Join(stateDir, "agent-token")
	program := mcpServer{Command: env.program(), Args: []string{"mcp"}}
	if env.Getenv("OPENCLAW_STATE_DIR") != "" {
		program.Env = map[string]string{"OPENCLAW_STATE_DIR": stateDir}
	}
	stdio, err := snippet(program)
	if err != nil {
		return err
	}
	http, err := snippet(mcpServer{
		Type: "http", URL: url + "/mcp",
		Headers: map[string]string{"Authorization": "Bearer <what is in " + token + ">"},
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", env.bold("openclaw "+env.Version+" listens on "+url))
	if fingerprint != "" {
		fmt.Fprintf(&b, "TLS certificate, SHA-256: %s\n", fingerprint)
	}
	fmt.Fprintf(&b, "agents sign in with the token in %s\n\n", token)
	fmt.Fprintf(&b, "%s\n%s\n\n", env.bold("MCP client that starts a program:"), stdio)
	fmt.Fprintf(&b, "%s\n%s\n\n", env.bold("MCP client over HTTP:"), http)
	fmt.Fprintf(&b, "%s\n", env.bold("Try it, in another terminal:"))
	for _, args := range []string{"exec -- 'uname -a'", "exec -it -- bash", "status"} {
		fmt.Fprintf(&b, "  %s%s %s\n", statePrefix(env, stateDir), env.self(), args)
	}
	return env.printf("%s\n", b.String())
}

// mcpServer is how MCP clients write down a server; either a program or an address.
type mcpServer struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// statePrefix is what a command in another terminal needs to find this daemon.
func statePrefix(env *Env, stateDir string) string {
	if env.Getenv("OPENCLAW_STATE_DIR") == "" {
		return ""
	}
	return "OPENCLAW_STATE_DIR=" + quote(stateDir) + " "
}

// program is this program for a client that knows no PATH.
func (e *Env) program() string {
	if e.Program == "" {
		return "openclaw"
	}
	return e.Program
}

// snippet is a client's setting for one server, on two lines.
func snippet(server mcpServer) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(server); err != nil {
		return "", fmt.Errorf("make a client's setting: %w", err)
	}
	return `  {"mcpServers": {"openclaw":` + "\n    " + strings.TrimSpace(b.String()) + "}}", nil
}
