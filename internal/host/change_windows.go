package host

// SuperUser reports whether this user can write every file; on Windows it is not known.
func SuperUser() bool { return false }

// Others says who besides this user could change what a path leads to; on Windows that is
// not looked at, so nothing is trusted.
func Others(path string) string { return path + " cannot be examined" }

// Changeable says who could change a program; on Windows nothing is trusted (P-36).
func (m *Machine) Changeable(path string) string { return path + " cannot be examined" }
