package proc

import (
	"crypto/rand"
	"encoding/hex"
)

// helperMarker marks the tree of one helper run.
func helperMarker() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return "helper." + hex.EncodeToString(b[:])
}
