package config

import "strings"

// Channel is one chat network of the section channels, as far as approvals need it.
type Channel struct {
	Enabled       bool              // default true once the section is there
	AllowFrom     []string          // senders
	DefaultTo     string            // chat that messages go to by default
	APIRoot       string            // base address of a self-hosted server; "" = the network's own
	Secrets       map[string]Secret // botToken, appToken, signingSecret, ... by key
	ExecApprovals ExecApprovals
}

// ExecApprovals is channels.<name>.execApprovals (M-20).
type ExecApprovals struct {
	Enabled       string // "true", "false", "auto"; "" = the channel's default
	Approvers     []string
	Target        string // dm (default), channel or both
	AgentFilter   []string
	SessionFilter []string
}

// secretKeys are the keys whose value is a secret, in any channel.
var secretKeys = []string{
	"token", "botToken", "appToken", "userToken", "accessToken", "signingSecret",
	"webhookSecret", "secret", "password", "apiKey", "appPassword", "privateKey",
}

func isSecretKey(key string) bool {
	for _, known := range secretKeys {
		if strings.HasSuffix(strings.ToLower(key), strings.ToLower(known)) {
			return true
		}
	}
	return false
}

func (c *Config) readChannels(v value) {
	v.each(func(name string, v value) {
		if v.kind() != kindObject {
			v.l.ignored = append(v.l.ignored, v.path)
			return
		}
		ch := Channel{Enabled: true, Secrets: map[string]Secret{}, ExecApprovals: ExecApprovals{Target: "dm"}}
		fields := []field{
			{key: "enabled", read: flag(&ch.Enabled)},
			{key: "allowFrom", read: ids(&ch.AllowFrom)},
			{key: "defaultTo", read: id(&ch.DefaultTo)},
			{key: "apiRoot", read: text(&ch.APIRoot)},
			{key: "execApprovals", read: ch.ExecApprovals.read},
		}
		for _, key := range secretKeys {
			fields = append(fields, field{key: key, read: func(v value) { ch.readSecret(key, v) }})
		}
		v.section(lenient, nil, fields)
		c.Channels[name] = ch
	})
}

// readSecret turns a secret that cannot be had into a warning: the file may configure
// networks for another install, and a token missing for one must not stop the daemon.
func (ch *Channel) readSecret(key string, v value) {
	outer := v.l
	v.l = &loader{file: outer.file, getenv: outer.getenv, home: outer.home}
	var s Secret
	secret(&s)(v)
	for _, err := range v.l.errors {
		outer.warnings = append(outer.warnings, err.Error())
	}
	if len(v.l.errors) == 0 {
		ch.Secrets[key] = s
	}
}

func (e *ExecApprovals) read(v value) {
	v.section(lenient, nil, []field{
		{key: "enabled", read: func(v value) {
			var on bool
			if v.node.Text() != "" {
				word(&e.Enabled, "auto")(v)
				return
			}
			flag(&on)(v)
			e.Enabled = map[bool]string{true: "true", false: "false"}[on]
		}},
		{key: "approvers", read: ids(&e.Approvers)},
		{key: "target", read: word(&e.Target, "dm", "channel", "both")},
		{key: "agentFilter", read: list(&e.AgentFilter)},
		{key: "sessionFilter", read: list(&e.SessionFilter)},
	})
}
