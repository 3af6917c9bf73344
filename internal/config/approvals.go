package config

// Approvals is the section approvals: where requests are shown besides the clients.
type Approvals struct {
	Exec        Forwarding // M-10
	Plugin      Forwarding
	HistoryDays int        // default 30
	Elicitation string     // off (default) or stdio (A-60b)
}

// Forwarding sends requests to chats (M-10).
type Forwarding struct {
	Enabled       bool
	Mode          string   // session (default), targets or both
	AgentFilter   []string // agent ids; nil = all
	SessionFilter []string // substrings or regular expressions on the session key; nil = all
	Targets       []Target
}

// Target is one chat.
type Target struct{ Channel, To, AccountID, ThreadID string }

func defaultApprovals() Approvals {
	return Approvals{
		Exec: Forwarding{Mode: "session"}, Plugin: Forwarding{Mode: "session"},
		HistoryDays: 30, Elicitation: "off",
	}
}

func (a *Approvals) read(v value) {
	v.section(strict, nil, []field{
		{key: "exec", read: a.Exec.read},
		{key: "plugin", read: a.Plugin.read},
		{key: "historyDays", read: whole(&a.HistoryDays, 1, 3650)},
		{key: "elicitation", read: word(&a.Elicitation, "off", "stdio")},
	})
}

func (f *Forwarding) read(v value) {
	v.section(strict, nil, []field{
		{key: "enabled", read: flag(&f.Enabled)},
		{key: "mode", read: word(&f.Mode, "session", "targets", "both")},
		{key: "agentFilter", read: list(&f.AgentFilter)},
		{key: "sessionFilter", read: list(&f.SessionFilter)},
		{key: "targets", read: func(v value) {
			v.items("an array of targets", func(v value) {
				var t Target
				seen := given{}
				v.section(strict, seen, []field{
					{key: "channel", read: filled(&t.Channel)},
					{key: "to", read: id(&t.To)},
					{key: "accountId", read: text(&t.AccountID)},
					{key: "threadId", read: id(&t.ThreadID)},
				})
				v.require(seen, "channel", "to")
				f.Targets = append(f.Targets, t)
			})
		}},
	})
}

// require reports keys that an object must have.
func (v value) require(seen given, keys ...string) {
	if v.kind() != kindObject {
		return // already reported
	}
	for _, key := range keys {
		if _, ok := seen[key]; !ok {
			v.fail("expected the key " + key)
		}
	}
}
