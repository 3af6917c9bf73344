package client_test

import (
	"os"
	"path/filepath"
	"testing"

	"openclaw/internal/client"
	"openclaw/internal/safefile"
)

const written = `{"pid":42,"url":"http://127.0.0.1:18789","version":"1.2","startedAt":"2026-11-30T10:00:00Z","later":1}`

// A daemon that was killed leaves its file; its port may be a stranger's by now. Only
// the lock, which ends with the process, says that it runs (C-7).
func TestFind(t *testing.T) {
	dir := t.TempDir()
	find := func(want bool) client.Endpoint {
		t.Helper()
		ep, found, err := client.Find(dir)
		if err != nil || found != want {
			t.Fatalf("found is %v (%v), want %v", found, err, want)
		}
		return ep
	}
	find(false)
	if err := safefile.Write(filepath.Join(dir, "gateway.json"), []byte(written)); err != nil {
		t.Fatal(err)
	}
	find(false)
	lock, err := safefile.TryLock(filepath.Join(dir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if ep := find(true); ep.PID != 42 || ep.URL != "http://127.0.0.1:18789" || ep.Version != "1.2" || ep.StartedAt.Year() != 2026 {
		t.Errorf("endpoint %+v", ep)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	find(false)
}

func TestFindDistrusts(t *testing.T) {
	for name, content := range map[string]string{
		"no json": "{", "no url": `{"pid":1}`, "no http": `{"url":"file:///etc/passwd"}`,
		"somebody's password": `{"url":"http://a:b@host/"}`, "no host": `{"url":"http:///x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := running(t, content, 0o600)
			if _, found, err := client.Find(dir); found || err == nil {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

// running is the state directory of a daemon that wrote content.
func running(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "gateway.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	lock, err := safefile.TryLock(filepath.Join(dir, "gateway.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	return dir
}
