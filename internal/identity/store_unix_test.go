//go:build unix

package identity_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"openclaw/internal/identity"
	"openclaw/internal/safefile"
)

func TestC6_FilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	if _, _, err := s.Create("a", false, ""); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %04o", e.Name(), info.Mode().Perm())
		}
	}
	if len(entries) != 4 {
		t.Errorf("state directory holds %v", entries)
	}
}

// A secret that others could have put there opens nothing, from the moment it is so.
func TestC6_OthersWriteTheSecret(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	path := filepath.Join(dir, "gateway-token")
	secret := readSecret(t, path)
	assertCredential(t, s, secret, operator)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, s, secret)
	if err := s.Problem(); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("Problem = %v", err)
	}
	if _, err := identity.Open(dir); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("Open = %v", err)
	}
}
