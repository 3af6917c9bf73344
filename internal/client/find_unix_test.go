//go:build unix

package client_test

import (
	"errors"
	"testing"

	"openclaw/internal/client"
	"openclaw/internal/safefile"
)

// An address that somebody else could have written would get our token.
func TestFindRefusesForeignFile(t *testing.T) {
	dir := running(t, written, 0o666)
	if _, found, err := client.Find(dir); found || !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("found %v, %v", found, err)
	}
}
