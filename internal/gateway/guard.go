package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"openclaw/internal/protocol"
)

// guard keeps web pages from using the gateway through a browser (C-7). A page that
// made its own name point here (DNS rebinding) is known by the Host header, any other
// by Origin and Sec-Fetch-Site. It is in front of every route.
type guard struct {
	port    uint16
	bound   netip.Addr
	origins map[string]bool // gateway.controlUi.allowedOrigins, lower case
	hosts   map[string]bool // their hosts: a name the operator has vouched for
}

func newGuard(addr *net.TCPAddr, allowed []string) *guard {
	g := &guard{port: uint16(addr.Port), bound: netipAddr(addr), origins: map[string]bool{}, hosts: map[string]bool{}}
	for _, origin := range allowed {
		u, err := url.Parse(strings.ToLower(strings.TrimSpace(origin)))
		if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" {
			continue // "*" and the like would open the gateway to every page
		}
		g.origins[u.Scheme+"://"+u.Host] = true
		g.hosts[u.Host] = true
	}
	return g
}

// check refuses a request that a foreign page may have made; nil lets it pass.
func (g *guard) check(r *http.Request) *protocol.Error {
	if !g.hostAllowed(r) {
		return &protocol.Error{
			Type: protocol.ErrForbidden, Message: "host header does not name this gateway",
			Hint: "use the address it listens on, or localhost on the same machine",
		}
	}
	origins := r.Header.Values("Origin")
	listed := len(origins) == 1 && g.origins[strings.ToLower(origins[0])]
	own := len(origins) == 1 && strings.EqualFold(origins[0], scheme(r)+"://"+r.Host)
	foreign := len(origins) > 0 && !own && !listed
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		// Another port of localhost is the same site and not the same origin.
		foreign = foreign || site != "same-origin" && site != "none" && !listed
	}
	if foreign {
		return &protocol.Error{
			Type: protocol.ErrForbidden, Message: "requests from other web pages are refused",
			Hint: "the operator may list a page's origin in gateway.controlUi.allowedOrigins",
		}
	}
	return nil
}

// scheme is how the request came: a page of the same name over the other one is another's.
func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// hostAllowed accepts loopback names and addresses and the address that is bound, with
// the port; when all addresses are bound, the one that this connection came to.
func (g *guard) hostAllowed(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	if g.hosts[host] {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
		if r.TLS != nil {
			port = "443"
		}
	}
	if port != strconv.Itoa(int(g.port)) {
		return false
	}
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip == g.bound && !ip.IsUnspecified() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return g.bound.IsUnspecified() && ok && ip == netipAddr(local)
}
