package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"openclaw/internal/config"
)

// listen opens the port. An error says what to do about it.
func listen(ctx context.Context, g config.Gateway) (net.Listener, error) {
	addr := net.JoinHostPort(g.ListenHost(), strconv.Itoa(g.Port))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	var code syscall.Errno
	switch {
	case err == nil:
		return l, nil
	case errors.As(err, &code) && code == addrInUse:
		return nil, fmt.Errorf("port %d is taken by another program; use openclaw gateway run --port PORT (0 = any free one), or set gateway.port in openclaw.json: %w", g.Port, code)
	case errors.As(err, &code) && code == addrNotAvailable:
		return nil, fmt.Errorf("this machine has no address %s; set gateway.bind to loopback, lan or an address it has: %w", g.ListenHost(), err)
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}

// reachedAt is the host and port at which a client on this machine reaches a listener.
func reachedAt(addr *net.TCPAddr) string {
	ip := netipAddr(addr)
	if ip.IsUnspecified() {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(ip, uint16(addr.Port)).String()
}

// netipAddr is the address of a TCP address in its one form.
func netipAddr(addr *net.TCPAddr) netip.Addr {
	ip, _ := netip.AddrFromSlice(addr.IP) // the zero Addr equals no address
	return ip.Unmap()
}
