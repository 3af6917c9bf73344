package config

// RestartNeeded lists the keys that differ between the running configuration and a new
// one and take effect only after a restart (C-3). All else may be used at once.
func RestartNeeded(running, changed *Config) []string {
	a, b := running.Gateway, changed.Gateway
	var keys []string
	for _, k := range []struct {
		key  string
		same bool
	}{
		{"gateway.port", a.Port == b.Port},
		{"gateway.bind", a.Bind == b.Bind},
		{"gateway.auth.mode", a.Auth.Mode == b.Auth.Mode},
		{"gateway.auth.token", a.Auth.Token == b.Auth.Token},
		{"gateway.auth.password", a.Auth.Password == b.Auth.Password},
		{"gateway.auth.rateLimit", a.Auth.RateLimit == b.Auth.RateLimit},
		{"gateway.tls", a.TLS == b.TLS},
		{"gateway.controlUi.enabled", a.ControlUI.Enabled == b.ControlUI.Enabled},
		{"gateway.controlUi.basePath", a.ControlUI.BasePath == b.ControlUI.BasePath},
	} {
		if !k.same {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// KeepAuth puts the running configuration's sign-in settings into c when the file c
// was read from has lost its section gateway.auth, and reports whether it did: an
// editing slip must not change who may sign in before somebody restarts the daemon
// (C-6). It must be called before c is handed on.
func (c *Config) KeepAuth(running *Config) bool {
	kept := running.Gateway.Auth
	if c.Gateway.Auth.given || !kept.given {
		return false
	}
	if kept.Mode == "none" && !c.Gateway.Loopback() {
		return false // the default, a token, is the safe one here
	}
	c.Gateway.Auth = kept
	return true
}
