package gateway

import (
	"net/netip"
	"sync"
	"time"

	"openclaw/internal/config"
)

// limiterMax bounds how many addresses are remembered.
const limiterMax = 4096

// limiter bounds wrong tokens by address (gateway.auth.rateLimit). A secret that a
// person chose could be guessed otherwise. With exemptLoopback this machine's wrong
// tokens are still turned away when there are too many, but a right one is always let
// in: any program here could lock the operator out otherwise.
type limiter struct {
	max             int
	window, lockout time.Duration
	exemptLoopback  bool
	now             func() time.Time

	mu      sync.Mutex // guards clients
	clients map[netip.Addr]*attempts
}

// attempts of one address.
type attempts struct {
	failed int
	since  time.Time // the window's start
	until  time.Time // locked out
}

func newLimiter(r config.RateLimit, now func() time.Time) *limiter {
	return &limiter{
		max: r.MaxAttempts, window: time.Duration(r.WindowMs) * time.Millisecond,
		lockout: time.Duration(r.LockoutMs) * time.Millisecond, exemptLoopback: r.ExemptLoopback,
		now: now, clients: map[netip.Addr]*attempts{},
	}
}

// client is who an address stands for: one host has a whole /64 of IPv6.
func (l *limiter) client(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{} // all that cannot be told apart share one count
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is6() && !ip.IsLoopback() {
		return netip.PrefixFrom(ip, 64).Masked().Addr()
	}
	return ip
}

// locked returns for how many seconds nothing from the client is looked at; 0 = it is.
func (l *limiter) locked(client netip.Addr) int {
	if client.IsLoopback() && l.exemptLoopback {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.clients[client]
	if a == nil {
		return 0
	}
	return seconds(a.until.Sub(l.now()))
}

// failed counts a wrong token and returns after how many seconds to try again; 0 = the
// limit is not reached.
func (l *limiter) failed(client netip.Addr) int {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.clients[client]
	if a == nil {
		l.makeRoom(now)
		a = &attempts{since: now}
		l.clients[client] = a
	}
	if now.Sub(a.since) >= l.window && !now.Before(a.until) {
		*a = attempts{since: now}
	}
	a.failed++
	if a.failed <= l.max {
		return 0
	}
	if client.IsLoopback() && l.exemptLoopback {
		return max(1, seconds(a.since.Add(l.window).Sub(now)))
	}
	if !now.Before(a.until) {
		a.until = now.Add(l.lockout)
	}
	return max(1, seconds(a.until.Sub(now)))
}

// makeRoom forgets addresses whose time is over, and a quarter of all when that is not
// enough, so that it does not have to look again at once. The caller holds mu.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.clients) < limiterMax {
		return
	}
	for client, a := range l.clients {
		if now.Sub(a.since) >= l.window && !now.Before(a.until) {
			delete(l.clients, client)
		}
	}
	for client := range l.clients {
		if len(l.clients) < limiterMax*3/4 {
			return
		}
		delete(l.clients, client)
	}
}

// seconds rounds up; a time that is over is 0.
func seconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int((d + time.Second - 1) / time.Second)
}
