package ui

import (
	"regexp"
	"strings"
	"testing"
)

// The page must work under its own policy: no script, nothing from elsewhere.
func TestC7_PageKeepsItsPolicy(t *testing.T) {
	page := string(Index())
	for _, banned := range []string{"<script", "javascript:", "http://", "https://", "<iframe", "<form"} {
		if strings.Contains(page, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	if m := regexp.MustCompile(`\son[a-z]+=`).FindString(page); m != "" {
		t.Errorf("the page has an event handler %q", m)
	}
	if strings.Contains(Policy, "script-src") || !strings.Contains(Policy, "default-src 'none'") || !strings.Contains(Policy, "frame-ancestors 'none'") {
		t.Errorf("policy is %q", Policy)
	}
}

func TestPageIsAccessible(t *testing.T) {
	page := string(Index())
	for _, want := range []string{`lang="en"`, "<title>", "<main>", `name="viewport"`, "prefers-color-scheme: dark", ":focus-visible"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<h1"); n != 1 {
		t.Errorf("%d main headings", n)
	}
}
