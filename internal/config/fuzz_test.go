package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad checks that no file crashes the loader, that every fault has a place, and
// that what loads answers every question with a value inside its bounds.
func FuzzLoad(f *testing.F) {
	all, err := os.ReadFile("testdata/all.json5")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	for _, seed := range []string{
		``, `{}`, `[]`, `{tools: {exec: {mode: 'full'}}, exec: {ask: 'off'}}`,
		`{agents: {list: [{id: 'a', tools: {deny: ['*', 'group:*']}}, {}, 5], entries: {b: {}}}}`,
		`{gateway: {bind: 'custom', auth: {mode: 'none', token: {source: 'env'}}}}`,
		`{channels: {x: 5, y: {token: '${A}', execApprovals: {enabled: true}}}}`,
		`{tools: {exec: {cleanupMs: 1e300, log: {maxBytes: 0xFFFFFFFFFFFFFFFFF}, pathPrepend: ['~', '~a', '']}}}`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := Parse("f", src, env("HOME", dir, "A", "a"))
		if err != nil {
			var one *Error
			if !errors.As(err, &one) || one.Line < 1 || one.Column < 1 || one.Message == "" {
				t.Fatalf("an error without a place: %#v", err)
			}
			return
		}
		for _, id := range append(c.AgentIDs(), "other", "") {
			e := c.Exec(id)
			if e.TimeoutSec < 0 || e.CleanupMs < minCleanupMs || e.CleanupMs > maxCleanupMs || e.LogMaxBytes < minLogBytes || e.MaxSessions < 1 || e.MaxSessions > 2000 {
				t.Fatalf("Exec(%q) = %+v", id, e)
			}
			if (e.Security == "") != (e.SecurityKey == "") || (e.Ask == "") != (e.AskKey == "") {
				t.Fatalf("Exec(%q): a word without its key: %+v", id, e)
			}
			if !filepath.IsAbs(c.Workspace(id)) {
				t.Fatalf("Workspace(%q) = %s", id, c.Workspace(id))
			}
			for _, tool := range []string{"exec", "process", "apply_patch"} {
				if ok, key := c.ToolAllowed(id, tool); !ok && key == "" {
					t.Fatalf("%s is denied without a key", tool)
				}
			}
		}
		if c.Gateway.Auth.Mode == "none" && !c.Gateway.Loopback() {
			t.Fatal("no sign-in beyond loopback")
		}
	})
}
