package gateway

import "syscall"

// What the system says about an address that cannot be had: WSAEADDRINUSE and
// WSAEADDRNOTAVAIL, which package syscall does not name.
const (
	addrInUse        = syscall.Errno(10048)
	addrNotAvailable = syscall.Errno(10049)
)
