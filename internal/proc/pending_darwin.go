package proc

// pending is more than a pipe or a terminal can hold: this system's count is not asked
// for.
func pending(int) int { return 1 << 20 }
