package host

// maxArgBytes is the longest single argument or variable the kernel takes
// (MAX_ARG_STRLEN, its NUL included).
const maxArgBytes = 32 * 4096

// MinimalPath is the PATH the daemon itself runs with.
func MinimalPath() []string { return []string{"/usr/local/bin", "/usr/bin", "/bin"} }
