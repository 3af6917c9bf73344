package client_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"openclaw/internal/client"
	"openclaw/internal/safefile"
)

func TestHeld(t *testing.T) {
	dir := t.TempDir()
	held := func(want bool) {
		t.Helper()
		if got, err := client.Held(dir); err != nil || got != want {
			t.Errorf("held is %v (%v), want %v", got, err, want)
		}
	}
	held(false)
	lock, err := safefile.TryLock(filepath.Join(dir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	held(true) // without an endpoint file: it starts, or ends
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	held(false)
}

func TestHealthy(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		kind, body string
		ok         bool
	}{
		"lives":            {200, "application/json", `{"ok":true,"status":"live"}`, true},
		"says no":          {200, "application/json", `{"ok":false}`, false},
		"a stranger":       {200, "text/html", "<p>hello", false},
		"a stranger's 404": {404, "text/plain", "no", false},
		"no JSON":          {200, "application/json", "{", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/healthz" || r.Header.Get("Authorization") != "" {
					t.Errorf("%s with %v", r.URL, r.Header)
				}
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			cl := client.New(server.URL, "")
			defer cl.Close()
			if err := cl.Healthy(t.Context()); (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
	if err := client.New("http://127.0.0.1:1", "").Healthy(t.Context()); err == nil {
		t.Error("nobody is well")
	}
}
