package config

import (
	"fmt"
	"maps"
	"slices"
)

// Bounds that several keys share.
const (
	maxSeconds = 366 * 24 * 60 * 60
	maxMillis  = 24 * 60 * 60 * 1000

	minCleanupMs, maxCleanupMs = 60_000, 3 * 60 * 60 * 1000 // S-5

	minLogBytes int64 = 64 << 10
	maxLogBytes int64 = 1 << 50
)

// Exec is what tools.exec says for one agent, every default filled in. It shares
// nothing with the Config, so a caller may change it.
type Exec struct {
	Host string // auto (default), sandbox, gateway or node (H-1)
	Node string // node id, name or address for host=node; "" = not set

	// The requested policy (P-2). Security and Ask are "" when nothing sets them; P-5
	// then depends on the host. Mode is the one-word form as long as nothing narrower
	// was set beside it: only Mode "auto" puts the reviewer in front of the person.
	Mode, Security, Ask string
	SecurityKey, AskKey string // the key path each came from; "" = nothing set it

	TimeoutSec              int // life of a process in seconds; 0 = no limit; default 1800
	YieldMs                 int // tools.exec.backgroundMs: default of the call's yieldMs; default 10000
	CleanupMs               int // how long finished sessions are kept, 60000..10800000; default 1800000 (S-5)
	ApprovalRunningNoticeMs int // default 10000; 0 = no notice

	NotifyOnExit             bool // default true
	NotifyOnExitEmptySuccess bool
	StrictInlineEval         bool // P-40
	CommandHighlighting      bool
	AllowStreamRedirects     bool // P-22
	NodeFromSandbox          bool // default true (H-2)

	PathPrepend        []string // absolute
	SafeBins           []string // nil = the default set of P-50; empty = none
	SafeBinTrustedDirs []string // absolute, /bin and /usr/bin first (P-51)
	SafeBinProfiles    map[string]SafeBinProfile

	ApplyPatch ApplyPatch
	Reviewer   Reviewer

	LogMaxBytes   int64 // of one session's log; default 64 MiB, at least 64 KiB
	LogTotalBytes int64 // of all logs together; default 2 GiB, at least 64 KiB
	MaxSessions   int   // running sessions of the agent, 1..2000; default 200

	Leftovers         string // keep (default) or end
	OnSupervisorDeath string // kill (default) or keep

	MaxOutputChars        int // of a result; default 200000
	PendingMaxOutputChars int // waiting for a poll; default 200000
	InputWaitIdleMs       int // silence that means "waits for input"; default 15000 (S-4)
}

// SafeBinProfile says which arguments a safe bin may have (P-52).
type SafeBinProfile struct {
	MinPositional, MaxPositional   int
	AllowedValueFlags, DeniedFlags []string
}

// ApplyPatch is tools.exec.applyPatch (D-1, D-3).
type ApplyPatch struct {
	Enabled       bool     // default true
	WorkspaceOnly bool     // default true
	AllowModels   []string // nil = every model, also a caller that names none
}

// Reviewer is the model that judges misses in mode auto.
type Reviewer struct {
	Model     string // "" = none: everything goes to a person
	TimeoutMs int    // default 30000
}

func defaultExec(l *loader) Exec {
	e := Exec{
		Host: "auto", TimeoutSec: 1800, YieldMs: 10_000, CleanupMs: 1_800_000,
		ApprovalRunningNoticeMs: 10_000, NotifyOnExit: true, NodeFromSandbox: true,
		ApplyPatch:  ApplyPatch{Enabled: true, WorkspaceOnly: true},
		Reviewer:    Reviewer{TimeoutMs: 30_000},
		LogMaxBytes: 64 << 20, LogTotalBytes: 2 << 30, MaxSessions: 200,
		Leftovers: "keep", OnSupervisorDeath: "kill",
		MaxOutputChars: 200_000, PendingMaxOutputChars: 200_000, InputWaitIdleMs: 15_000,
	}
	l.readKnobs(&e)
	return e
}

// Exec gives the settings of one agent: its own keys over the global ones, key by key,
// also inside applyPatch, reviewer and log; of safeBinProfiles by program. An agent
// that the file does not name has the global ones.
//
// The policy words follow P-6 per scope: an agent's mode replaces whatever the global
// scope says, be it mode or security and ask. An agent's security or ask replaces only
// that half of what the global scope gives (its mode taken apart), and from then on
// Mode is "", so that a global "auto" no longer lets the reviewer answer for an agent
// whose policy was written out.
func (c *Config) Exec(agentID string) Exec {
	e := c.exec
	if a := c.agent(agentID); a != nil {
		e = a.exec
	}
	e.PathPrepend = slices.Clone(e.PathPrepend)
	e.SafeBins = slices.Clone(e.SafeBins)
	e.SafeBinTrustedDirs = append([]string{"/bin", "/usr/bin"}, e.SafeBinTrustedDirs...)
	e.SafeBinProfiles = maps.Clone(e.SafeBinProfiles)
	e.ApplyPatch.AllowModels = slices.Clone(e.ApplyPatch.AllowModels)
	return e
}

// readExec reads the sections of one scope, the older form last, over what e holds.
func readExec(e *Exec, sections ...value) {
	var words struct{ mode, security, ask string }
	seen := given{}
	fields := append(e.fields(),
		field{key: "mode", read: word(&words.mode, "deny", "allowlist", "ask", "auto", "full")},
		field{key: "security", read: word(&words.security, "deny", "allowlist", "full")},
		field{key: "ask", read: word(&words.ask, "off", "on-miss", "always")},
	)
	for _, v := range sections {
		v.section(strict, seen, fields)
	}
	mode, hasMode := seen["mode"]
	for _, other := range []string{"security", "ask"} {
		if v, ok := seen[other]; ok && hasMode {
			mode.fail(fmt.Sprintf("cannot stand beside %s: the mode sets both security and ask; keep one form", v.path))
		}
	}
	switch {
	case words.mode != "":
		e.Mode = words.mode
		e.Security, e.Ask = modePolicy(words.mode)
		e.SecurityKey, e.AskKey = mode.path, mode.path
	case words.security != "" || words.ask != "":
		e.Mode = ""
		if words.security != "" {
			e.Security, e.SecurityKey = words.security, seen["security"].path
		}
		if words.ask != "" {
			e.Ask, e.AskKey = words.ask, seen["ask"].path
		}
	}
}

// modePolicy takes the one-word form apart (P-6).
func modePolicy(mode string) (security, ask string) {
	switch mode {
	case "allowlist":
		return "allowlist", "off"
	case "ask", "auto":
		return "allowlist", "on-miss"
	case "full":
		return "full", "off"
	}
	return "deny", "off"
}

// fields is the table of tools.exec but for the policy words.
func (e *Exec) fields() []field {
	return []field{
		{key: "host", read: word(&e.Host, "auto", "sandbox", "gateway", "node")},
		{key: "node", read: text(&e.Node)},
		{key: "timeoutSec", older: []string{"timeoutSeconds"}, read: whole(&e.TimeoutSec, 0, maxSeconds)},
		{key: "backgroundMs", read: whole(&e.YieldMs, 0, maxMillis)},
		{key: "cleanupMs", read: clamped(&e.CleanupMs, minCleanupMs, maxCleanupMs)},
		{key: "notifyOnExit", read: flag(&e.NotifyOnExit)},
		{key: "notifyOnExitEmptySuccess", read: flag(&e.NotifyOnExitEmptySuccess)},
		{key: "approvalRunningNoticeMs", read: whole(&e.ApprovalRunningNoticeMs, 0, maxMillis)},
		{key: "strictInlineEval", read: flag(&e.StrictInlineEval)},
		{key: "commandHighlighting", read: flag(&e.CommandHighlighting)},
		{key: "pathPrepend", read: folders(&e.PathPrepend)},
		{key: "safeBins", read: list(&e.SafeBins)},
		{key: "safeBinTrustedDirs", read: folders(&e.SafeBinTrustedDirs)},
		{key: "safeBinProfiles", read: e.readProfiles},
		{key: "allowStreamRedirects", read: flag(&e.AllowStreamRedirects)},
		{key: "nodeFromSandbox", read: flag(&e.NodeFromSandbox)},
		{key: "applyPatch", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "enabled", read: flag(&e.ApplyPatch.Enabled)},
				{key: "workspaceOnly", read: flag(&e.ApplyPatch.WorkspaceOnly)},
				{key: "allowModels", read: list(&e.ApplyPatch.AllowModels)},
			})
		}},
		{key: "reviewer", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "model", read: model(&e.Reviewer.Model)},
				{key: "timeoutMs", read: whole(&e.Reviewer.TimeoutMs, 1, maxMillis)},
			})
		}},
		{key: "log", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "maxBytes", read: whole(&e.LogMaxBytes, minLogBytes, maxLogBytes)},
				{key: "totalBytes", read: whole(&e.LogTotalBytes, minLogBytes, maxLogBytes)},
			})
		}},
		{key: "maxSessions", read: whole(&e.MaxSessions, 1, 2000)},
		{key: "leftovers", read: word(&e.Leftovers, "keep", "end")},
		{key: "onSupervisorDeath", read: word(&e.OnSupervisorDeath, "kill", "keep")},
	}
}

func (e *Exec) readProfiles(v value) {
	// A new map: the old one may be the global scope's.
	profiles := maps.Clone(e.SafeBinProfiles)
	if profiles == nil {
		profiles = map[string]SafeBinProfile{}
	}
	v.each(func(name string, v value) {
		var p SafeBinProfile
		v.section(strict, nil, []field{
			{key: "minPositional", read: whole(&p.MinPositional, 0, 1000)},
			{key: "maxPositional", read: whole(&p.MaxPositional, 0, 1000)},
			{key: "allowedValueFlags", read: list(&p.AllowedValueFlags)},
			{key: "deniedFlags", read: list(&p.DeniedFlags)},
		})
		profiles[name] = p
	})
	e.SafeBinProfiles = profiles
}

// model is a model's id, or an object with the id and fallbacks, which we do not use.
func model(dst *string) reader {
	return func(v value) {
		if v.kind() != kindObject {
			text(dst)(v)
			return
		}
		v.section(strict, nil, []field{
			{key: "primary", read: text(dst)},
			{key: "fallbacks"},
		})
	}
}
