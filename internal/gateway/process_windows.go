package gateway

import "syscall"

// readProcess asks the system about this process.
func readProcess() process {
	var p process
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return p
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) == nil {
		p.cpuSeconds = ticks(kernel) + ticks(user)
	}
	return p
}

// ticks is a span of 100-nanosecond units in seconds.
func ticks(t syscall.Filetime) float64 {
	return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) / 1e7
}
