package oracle

import (
	"os"
	"testing"

	"openclaw/internal/walk"
)

// TestMain lets this binary be the walker of judged plans.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == walk.Role {
		os.Exit(walk.Main())
	}
	os.Exit(m.Run())
}
