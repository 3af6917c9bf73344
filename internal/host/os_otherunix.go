//go:build unix && !linux && !darwin

package host

// maxArgBytes: no limit for a single argument, only for all together.
const maxArgBytes = 0

// MinimalPath is the PATH the daemon itself runs with.
func MinimalPath() []string { return []string{"/usr/local/bin", "/usr/bin", "/bin"} }
