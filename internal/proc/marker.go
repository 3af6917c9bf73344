package proc

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// markedEnv is the environment with this start's marker and no other: the program may
// itself have been started with one, and the first of two entries would be found.
func markedEnv(spec Spec) []string {
	env := make([]string, 0, len(spec.Env)+1)
	for _, e := range spec.Env {
		if !strings.HasPrefix(e, MarkerEnv+"=") {
			env = append(env, e)
		}
	}
	if spec.Marker != "" {
		env = append(env, MarkerEnv+"="+spec.Marker)
	}
	return env
}

// helperMarker marks the tree of one helper run.
func helperMarker() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return "helper." + hex.EncodeToString(b[:])
}
