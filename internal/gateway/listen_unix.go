//go:build unix

package gateway

import "syscall"

// What the system says about an address that cannot be had.
const (
	addrInUse        = syscall.EADDRINUSE
	addrNotAvailable = syscall.EADDRNOTAVAIL
)
