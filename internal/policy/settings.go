package policy

// Security is how far commands are allowed at all.
type Security string

// From loose to strict: full < allowlist < deny.
const (
	Full      Security = "full"
	Allowlist Security = "allowlist"
	Deny      Security = "deny"
)

// Ask is when a person is asked.
type Ask string

// From loose to strict: off < on-miss < always.
const (
	AskOff    Ask = "off"
	AskOnMiss Ask = "on-miss"
	AskAlways Ask = "always"
)

var securityRank = map[Security]int{Full: 0, Allowlist: 1, Deny: 2}

var askRank = map[Ask]int{AskOff: 0, AskOnMiss: 1, AskAlways: 2}

// Valid reports whether s is one of the three words.
func (s Security) Valid() bool { _, ok := securityRank[s]; return ok }

// Valid reports whether a is one of the three words.
func (a Ask) Valid() bool { _, ok := askRank[a]; return ok }

// StricterSecurity returns the stricter of two (P-4). A word that is not known counts
// as deny.
func StricterSecurity(a, b Security) Security {
	if !a.Valid() || !b.Valid() {
		return Deny
	}
	if securityRank[b] > securityRank[a] {
		return b
	}
	return a
}

// StricterAsk returns the stricter of two (P-4). A word that is not known counts as
// always.
func StricterAsk(a, b Ask) Ask {
	if !a.Valid() || !b.Valid() {
		return AskAlways
	}
	if askRank[b] > askRank[a] {
		return b
	}
	return a
}

// Value is a setting with where it came from, for explanations (P-12).
type Value[T ~string] struct {
	Value  T      `json:"value"`
	Source string `json:"source"`
}

// Effective is the policy that applies to one call.
type Effective struct {
	Security    Value[Security] `json:"security"`
	Ask         Value[Ask]      `json:"ask"`
	AskFallback Value[Security] `json:"askFallback"`
}

// Layers are the settings that Combine puts together. Empty words are not set.
type Layers struct {
	Security         Security // requested, the agent's own over the global one (P-2)
	SecuritySource   string   // the key it came from
	Ask              Ask
	AskSource        string
	CallAsk          Ask  // of the call: can only make it stricter (P-2)
	StrictInlineEval bool // P-40
	Host             HostPolicy
}

// Looks reports whether a decision under these layers needs to look at the command and the
// machine: in full and off nothing can miss, but for inline code (P-7, P-40).
func (l Layers) Looks() bool {
	e := Combine(l)
	return e.Security.Value == Allowlist || e.Security.Value == Full && e.Ask.Value != AskOff || l.StrictInlineEval
}

// HostPolicy is what the approvals document of the machine says for one agent (P-3). Empty
// words are not set; the sources name the fields they came from.
type HostPolicy struct {
	Security          Security
	SecuritySource    string
	Ask               Ask
	AskSource         string
	AskFallback       Security // deny, allowlist or full
	AskFallbackSource string
	AutoAllowSkills   bool // P-36
}

// Combine computes the effective policy from the layers (P-2..P-5). A word that is not
// understood is the strictest.
func Combine(l Layers) Effective {
	e := Effective{
		Security:    Value[Security]{Full, "default"},
		Ask:         Value[Ask]{AskOff, "default"},
		AskFallback: Value[Security]{Deny, "default"},
	}
	if l.Security != "" {
		e.Security = Value[Security]{StricterSecurity(l.Security, Full), l.SecuritySource}
	}
	if l.Ask != "" {
		e.Ask = Value[Ask]{StricterAsk(l.Ask, AskOff), l.AskSource}
	}
	if h := l.Host; h.Security != "" {
		if stricter := StricterSecurity(e.Security.Value, h.Security); stricter != e.Security.Value {
			e.Security = Value[Security]{stricter, h.SecuritySource}
		}
	}
	if h := l.Host; h.Ask != "" {
		if stricter := StricterAsk(e.Ask.Value, h.Ask); stricter != e.Ask.Value {
			e.Ask = Value[Ask]{stricter, h.AskSource}
		}
	}
	if h := l.Host; h.AskFallback != "" {
		e.AskFallback = Value[Security]{StricterSecurity(h.AskFallback, Full), h.AskFallbackSource}
	}
	if l.CallAsk != "" {
		if stricter := StricterAsk(e.Ask.Value, l.CallAsk); stricter != e.Ask.Value {
			e.Ask = Value[Ask]{stricter, "the call's ask"}
		}
	}
	return e
}
