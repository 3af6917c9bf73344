//go:build !linux

package cli

// startedByUs is always false: this system does not show what other processes were
// started with, so only our own environment counts.
func startedByUs() bool { return false }
