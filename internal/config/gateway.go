package config

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Gateway is the section gateway.
type Gateway struct {
	Port int    // 1..65535, 0 = any free port; default 18789
	Bind string // loopback (default), lan, or an IP address
	Auth Auth
	TLS  TLS

	ToolsAllow, ToolsDeny []string // see GatewayToolAllowed

	Pairing                     Pairing
	CommandsAllow, CommandsDeny []string // gateway.nodes.commands

	ControlUI ControlUI
}

// Auth is how operators sign in.
type Auth struct {
	Mode      string // token (default), password or none; none only on loopback (C-6)
	Token     Secret // not set: the file gateway-token in the state folder counts
	Password  Secret
	RateLimit RateLimit

	given bool // the file has the section gateway.auth
}

// RateLimit bounds failed sign-ins of one address.
type RateLimit struct {
	MaxAttempts    int  // default 10
	WindowMs       int  // default 60000
	LockoutMs      int  // default 300000
	ExemptLoopback bool // default true
}

// TLS is the section gateway.tls. Paths are absolute, "" = not set.
type TLS struct {
	Enabled, AutoGenerate     bool
	CertPath, KeyPath, CAPath string
}

// Pairing is gateway.nodes.pairing (H-41).
type Pairing struct {
	AutoApproveLocal bool // default true
	AutoApproveCIDRs []netip.Prefix
}

// ControlUI is the section gateway.controlUi (W-1).
type ControlUI struct {
	Enabled        bool   // default true
	BasePath       string // begins with "/", does not end with one; "" = served at "/"
	AllowedOrigins []string
}

func defaultGateway(getenv func(string) string) Gateway {
	return Gateway{
		Port: 18789, Bind: "loopback",
		Auth: Auth{
			Mode: "token", Token: NewSecret(strings.TrimSpace(getenv("OPENCLAW_GATEWAY_TOKEN"))),
			RateLimit: RateLimit{MaxAttempts: 10, WindowMs: 60_000, LockoutMs: 300_000, ExemptLoopback: true},
		},
		Pairing:   Pairing{AutoApproveLocal: true},
		ControlUI: ControlUI{Enabled: true},
	}
}

// ListenHost is the address to listen on.
func (g Gateway) ListenHost() string {
	switch g.Bind {
	case "loopback":
		return "127.0.0.1"
	case "lan":
		return "0.0.0.0"
	}
	return g.Bind
}

// Loopback reports whether only this machine can connect.
func (g Gateway) Loopback() bool {
	addr, err := netip.ParseAddr(g.ListenHost())
	return err == nil && addr.Unmap().IsLoopback()
}

func (g *Gateway) read(v value) {
	custom := ""
	seen := given{}
	v.section(strict, seen, []field{
		{key: "port", read: whole(&g.Port, 0, 65535)},
		{key: "bind", read: text(&g.Bind)},
		{key: "customBindHost", read: text(&custom)},
		{key: "auth", read: g.Auth.read},
		{key: "tls", read: g.TLS.read},
		{key: "tools", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "allow", read: toolNames(&g.ToolsAllow, false)},
				{key: "deny", read: toolNames(&g.ToolsDeny, true)},
			})
		}},
		{key: "nodes", read: g.readNodes},
		{key: "controlUi", read: g.ControlUI.read},
		// Sections of OpenClaw that are not ours; an existing file may have them (C-2).
		{key: "mode"},
		{key: "remote"},
		{key: "reload"},
		{key: "tailscale"},
		{key: "http"},
		{key: "publicOrigin"},
		{key: "roles"},
		{key: "cliAgents"},
		{key: "terminal"},
		{key: "push"},
		{key: "trustedProxies"},
		{key: "allowRealIpFallback"},
		{key: "webchat"},
		{key: "handshakeTimeoutMs"},
		{key: "channelHealthCheckMinutes"},
		{key: "channelMaxRestartsPerHour"},
		{key: "channelStaleEventThresholdMinutes"},
	})
	if bind, ok := seen["bind"]; ok {
		g.setBind(bind, custom)
	}
	// Only auth.mode itself can have said "none".
	if g.Auth.Mode == "none" && !g.Loopback() {
		auth := seen["auth"]
		mode := value{v.l, auth.node.Get("mode").Value, auth.path + ".mode"}
		mode.fail(`"none" is refused when gateway.bind reaches beyond this machine; use token or password`)
	}
}

// setBind brings OpenClaw's other words for an address to ours, to the narrower side.
func (g *Gateway) setBind(v value, custom string) {
	switch g.Bind {
	case "loopback", "lan":
		return
	case "localhost":
		g.Bind = "loopback"
		return
	case "auto", "tailnet":
		v.warn(g.Bind + " is not supported here; loopback is used; give an address to listen elsewhere")
		g.Bind = "loopback"
		return
	case "custom":
		g.Bind = custom
	}
	addr, err := netip.ParseAddr(strings.Trim(g.Bind, "[]"))
	if err != nil {
		v.fail("expected loopback, lan or an IP address")
		g.Bind = "loopback"
		return
	}
	g.Bind = addr.String()
}

func (a *Auth) read(v value) {
	a.given = true
	seen := given{}
	v.section(strict, seen, []field{
		{key: "mode", read: word(&a.Mode, "token", "password", "none")},
		{key: "token", read: secret(&a.Token)},
		{key: "password", read: secret(&a.Password)},
		{key: "rateLimit", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "maxAttempts", read: whole(&a.RateLimit.MaxAttempts, 1, 1_000_000)},
				{key: "windowMs", read: whole(&a.RateLimit.WindowMs, 1, maxMillis)},
				{key: "lockoutMs", read: whole(&a.RateLimit.LockoutMs, 0, maxMillis)},
				{key: "exemptLoopback", read: flag(&a.RateLimit.ExemptLoopback)},
			})
		}},
		{key: "allowTailscale"},
		{key: "identityScopes"},
		{key: "trustedProxy"},
	})
	_, hasMode := seen["mode"]
	_, hasToken := seen["token"]
	password, hasPassword := seen["password"]
	switch {
	case hasMode && a.Mode == "password" && !hasPassword:
		v.fail("mode password needs a password")
	case !hasMode && hasToken && hasPassword:
		password.fail("both token and password are given: say which counts with mode")
	case !hasMode && hasPassword:
		a.Mode = "password"
	}
}

// minSecret is how many characters a secret of the operator's should have: what the
// token file asks for.
const minSecret = 16

// warnShortToken warns of an operator's secret that can be guessed, wherever it came
// from; root is the top of the file, its node nil when there is none.
func (c *Config) warnShortToken(root value) {
	auth := c.Gateway.Auth
	key, given := "token", auth.Token
	if auth.Mode == "password" {
		key, given = "password", auth.Password
	}
	if !given.IsSet() || utf8.RuneCountInString(given.Reveal()) >= minSecret {
		return
	}
	problem := fmt.Sprintf("has fewer than %d characters and can be guessed; use a longer one", minSecret)
	if root.node != nil {
		if node := root.node.Lookup("gateway", "auth", key); node != nil {
			value{root.l, node, "gateway.auth." + key}.warn(problem)
			return
		}
	}
	root.l.warnings = append(root.l.warnings, "OPENCLAW_GATEWAY_TOKEN "+problem)
}

func (t *TLS) read(v value) {
	v.section(strict, nil, []field{
		{key: "enabled", read: flag(&t.Enabled)},
		{key: "autoGenerate", read: flag(&t.AutoGenerate)},
		{key: "certPath", read: folder(&t.CertPath)},
		{key: "keyPath", read: folder(&t.KeyPath)},
		{key: "caPath", read: folder(&t.CAPath)},
	})
	if v.kind() == kindObject && (t.CertPath == "") != (t.KeyPath == "") {
		v.fail("certPath and keyPath belong together: give both or none")
	}
}

func (g *Gateway) readNodes(v value) {
	var olderAllow, olderDeny []string
	v.section(strict, nil, []field{
		{key: "pairing", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "autoApproveLocal", read: flag(&g.Pairing.AutoApproveLocal)},
				{key: "autoApproveCidrs", read: prefixes(&g.Pairing.AutoApproveCIDRs)},
				{key: "sshVerify"},
			})
		}},
		{key: "commands", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "allow", read: list(&g.CommandsAllow)},
				{key: "deny", read: list(&g.CommandsDeny)},
			})
		}},
		// Older names of commands.allow and commands.deny; lists add up.
		{key: "allowCommands", read: list(&olderAllow)},
		{key: "denyCommands", read: list(&olderDeny)},
		{key: "browser"},
	})
	g.CommandsAllow = append(g.CommandsAllow, olderAllow...)
	g.CommandsDeny = append(g.CommandsDeny, olderDeny...)
}

func (c *ControlUI) read(v value) {
	v.section(strict, nil, []field{
		{key: "enabled", read: flag(&c.Enabled)},
		{key: "basePath", read: func(v value) {
			text(&c.BasePath)(v)
			if c.BasePath = strings.TrimRight(c.BasePath, "/"); c.BasePath != "" && c.BasePath[0] != '/' {
				v.fail(`expected a path that begins with "/"`)
			}
		}},
		{key: "allowedOrigins", read: list(&c.AllowedOrigins)},
		{key: "root"},
		{key: "toolTitles"},
		{key: "embedSandbox"},
		{key: "allowExternalEmbedUrls"},
		{key: "chatMessageMaxWidth"},
		{key: "experimental"},
		{key: "environment"},
		{key: "communityInvite"},
		{key: "github"},
		{key: "automaticallyFetchFavicons"},
		{key: "allowInsecureAuth"},
		{key: "dangerouslyDisableDeviceAuth"},
		{key: "dangerouslyAllowHostHeaderOriginFallback"},
	})
}

func prefixes(dst *[]netip.Prefix) reader {
	return func(v value) {
		*dst = nil
		v.items("an array of networks", func(v value) {
			s, ok := v.str("a network such as 192.168.1.0/24")
			if !ok {
				return
			}
			p, err := netip.ParsePrefix(s)
			if err != nil {
				v.fail("expected a network such as 192.168.1.0/24")
				return
			}
			*dst = append(*dst, p.Masked())
		})
	}
}
