package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"

	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// metrics counts what happened. Every label has few values, none of them a caller's
// text.
type metrics struct {
	mu       sync.Mutex // guards both
	requests map[requestLabels]uint64
	calls    map[callLabels]uint64
}

type requestLabels struct {
	route  string
	status int
}

type callLabels struct{ tool, outcome string }

func newMetrics() *metrics {
	return &metrics{requests: map[requestLabels]uint64{}, calls: map[callLabels]uint64{}}
}

func (m *metrics) request(route string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestLabels{route, status}]++
}

func (m *metrics) call(tool, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[callLabels{tool, outcome}]++
}

// counted counts the calls of the call path by outcome.
type counted struct {
	caller
	metrics *metrics
}

// Call counts and passes on.
func (c *counted) Call(ctx context.Context, who tool.Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error) {
	res, err := c.caller.Call(ctx, who, req, watch)
	name := "other"
	if slices.Contains([]string{protocol.ToolExec, protocol.ToolProcess, protocol.ToolApplyPatch}, req.Tool) {
		name = req.Tool
	}
	c.metrics.call(name, outcome(res, err))
	return res, err
}

// outcome is the status of an exec, "ok" for other results, or the kind of an error.
func outcome(res *protocol.ToolResult, err error) string {
	if err != nil {
		return "error_" + string(wireError(err).Type)
	}
	if exec, ok := res.Details.(*protocol.ExecResult); ok {
		return string(exec.Status)
	}
	return "ok"
}

// serveMetrics answers in the Prometheus text format.
func (s *server) serveMetrics(req *request) {
	var b strings.Builder
	counts, countErr := req.backend.table.Counts(req.r.Context())
	process := readProcess()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	gauge(&b, "process_start_time_seconds", "Unix time of the start.", float64(s.started.UnixMilli())/1000)
	counter(&b, "process_cpu_seconds_total", "CPU time used.", process.cpuSeconds)
	if process.residentBytes > 0 {
		gauge(&b, "process_resident_memory_bytes", "Memory in use.", process.residentBytes)
	}
	if process.openFiles > 0 {
		gauge(&b, "process_open_fds", "Open file descriptors.", process.openFiles)
	}
	gauge(&b, "go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	gauge(&b, "go_memstats_heap_alloc_bytes", "Heap bytes in use.", float64(mem.HeapAlloc))
	if countErr == nil { // a supervisor that does not answer leaves the rest to be read
		gauge(&b, "openclaw_sessions_running", "Process sessions that run.", float64(counts.Running))
		gauge(&b, "openclaw_sessions_finished", "Finished process sessions that are kept.", float64(counts.Finished))
		gauge(&b, "openclaw_session_log_bytes", "Size of all session logs.", float64(counts.LogBytes))
	}
	s.metrics.write(&b)
	req.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	req.w.WriteHeader(http.StatusOK)
	_, _ = req.w.Write([]byte(b.String()))
}

// write adds the counts, in a fixed order.
func (m *metrics) write(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head(b, "openclaw_tool_calls_total", "Tool calls by outcome.", "counter")
	for _, l := range sortedKeys(m.calls, func(a, b callLabels) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.outcome, b.outcome))
	}) {
		fmt.Fprintf(b, "openclaw_tool_calls_total{tool=%q,outcome=%q} %d\n", l.tool, l.outcome, m.calls[l])
	}
	head(b, "openclaw_http_requests_total", "HTTP requests by route and status.", "counter")
	for _, l := range sortedKeys(m.requests, func(a, b requestLabels) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.status, b.status))
	}) {
		fmt.Fprintf(b, "openclaw_http_requests_total{route=%q,status=\"%d\"} %d\n", l.route, l.status, m.requests[l])
	}
}

func sortedKeys[K comparable](m map[K]uint64, order func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, order)
	return keys
}

func gauge(b *strings.Builder, name, help string, value float64) {
	head(b, name, help, "gauge")
	fmt.Fprintf(b, "%s %v\n", name, value)
}

func counter(b *strings.Builder, name, help string, value float64) {
	head(b, name, help, "counter")
	fmt.Fprintf(b, "%s %v\n", name, value)
}

func head(b *strings.Builder, name, help, kind string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// process is what the system says about this process; 0 = it does not say.
type process struct{ cpuSeconds, residentBytes, openFiles float64 }
