//go:build !linux

package cli

// markedAncestor is always false: this system does not show what other processes were
// started with, so only our own environment counts.
func markedAncestor() bool { return false }
