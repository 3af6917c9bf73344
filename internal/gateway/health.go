package gateway

import (
	"net/http"
	"time"
)

type health struct {
	OK     bool   `json:"ok"`
	Status string `json:"status"`
}

// health says that the process lives (protocol 1.8).
func (s *server) health(req *request) {
	writeJSON(req.w, http.StatusOK, health{OK: true, Status: "live"})
}

type readiness struct {
	Ready    bool     `json:"ready"`
	Failing  []string `json:"failing"`
	UptimeMs int64    `json:"uptimeMs"`
}

// ready says whether calls are taken; 503 while they are not.
func (s *server) ready(req *request) {
	r := s.readiness(req.backend)
	status := http.StatusOK
	if !r.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(req.w, status, r)
}

func (s *server) readiness(b *backend) readiness {
	r := readiness{Failing: []string{}, UptimeMs: time.Since(s.started).Milliseconds()}
	switch {
	case b == nil || s.unannounced.Load(): // who waits for "ready" goes on with programs that look for us
		r.Failing = append(r.Failing, "starting")
	case b.tokens.Problem() != nil: // nobody whose token stands in that file gets in
		r.Failing = append(r.Failing, "tokens")
	}
	r.Ready = len(r.Failing) == 0
	return r
}
