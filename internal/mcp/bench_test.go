package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The benchmarks use hand-written clients, so that what is measured is the server.
// "floor" is the same round trip with a handler that only answers.

const benchCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"exec","arguments":{"command":"true"}%s}}`

const benchMeta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func BenchmarkStdio(b *testing.B) { benchStdio(b, ways()["direct"]) }

func BenchmarkStdioSDK(b *testing.B) { benchStdio(b, viaSDK) }

func benchStdio(b *testing.B, as func(string) string) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := ServeStdio(b.Context(), &fakeCaller{}, Options{}, in, out)
		_ = out.Close()
		done <- err
	}()
	lines := bufio.NewReader(fromServer)
	roundTrip := func(line string) {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if strings.Contains(line, `"id"`) {
			if answer, err := lines.ReadString('\n'); err != nil || !strings.Contains(answer, `"result"`) {
				b.Fatal(answer, err)
			}
		}
	}
	roundTrip(initializeMessage)
	roundTrip(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	id := 10
	for b.Loop() {
		id++
		roundTrip(as(fmt.Sprintf(benchCall, id, "")))
	}
	_ = toServer.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

func BenchmarkHTTPFloor(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"result":1}`)
	}))
	defer srv.Close()
	for b.Loop() {
		post(b, srv.URL, fmt.Sprintf(benchCall, 1, ""), nil)
	}
}

func BenchmarkHTTPSession(b *testing.B) {
	srv := serveHTTP(b, &fakeCaller{})
	resp := post(b, srv.URL, initializeMessage, nil)
	headers := map[string]string{sessionHeader: resp.Header.Get(sessionHeader), versionHeader: "2025-11-25"}
	post(b, srv.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers)
	id := 10
	for b.Loop() {
		id++
		post(b, srv.URL, fmt.Sprintf(benchCall, id, ""), headers)
	}
}

func BenchmarkHTTPPerRequest(b *testing.B) {
	srv := serveHTTP(b, &fakeCaller{})
	headers := map[string]string{versionHeader: perRequestVersion, "Mcp-Method": "tools/call", "Mcp-Name": "exec"}
	id := 10
	for b.Loop() {
		id++
		post(b, srv.URL, fmt.Sprintf(benchCall, id, benchMeta), headers)
	}
}

func BenchmarkInMemory(b *testing.B) {
	session := connect(b, &fakeCaller{})
	params := &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "true"}}
	for b.Loop() {
		if _, err := session.CallTool(context.Background(), params); err != nil {
			b.Fatal(err)
		}
	}
}
