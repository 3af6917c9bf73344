package policy

// Outcome is what Decide says.
type Outcome string

// The three outcomes of P-12.
const (
	OutcomeAllow Outcome = "allow"
	OutcomeAsk   Outcome = "ask"
	OutcomeDeny  Outcome = "deny"
)

// Input is all that Decide looks at.
type Input struct {
	Command string
	Layers  Layers
}

// Decision is an outcome with its reasons, the same value for explanations, refusals
// and the record (P-12).
type Decision struct {
	Outcome   Outcome   `json:"decision"`
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason"`
	Hint      string    `json:"hint,omitempty"`
	Effective Effective `json:"effective"`
}

// Judged reports whether the command was held against rules, so that it runs without
// the operator's aliases and functions and with the whole environment table (X-10,
//
func (d Decision) Judged() bool {
	return d.Effective.Security.Value != Full || d.Effective.Ask.Value != AskOff
}

// Decide says whether a command may run (P-10). This version knows no allowlist:
// under security=allowlist every command is a miss, and nothing is guessed.
func Decide(in Input) Decision {
	d := Decision{Effective: Combine(in.Layers)}
	sec, ask := d.Effective.Security.Value, d.Effective.Ask.Value
	switch {
	case in.Layers.HostDocument:
		d.Outcome, d.Rule = OutcomeDeny, "A-2"
		d.Reason = "an approvals document (exec-approvals.json) stands in the state directory and this version cannot apply it"
		d.Hint = "use a version that reads approvals documents, or move the file away if its limits are no longer wanted"
	case in.Layers.StrictInlineEval:
		d.Outcome, d.Rule = OutcomeDeny, "P-40"
		d.Reason = "strictInlineEval is on and this version cannot tell inline code from other commands"
		d.Hint = "openclaw.json: tools.exec.strictInlineEval decides this"
	case sec == Deny:
		d.Outcome, d.Rule = OutcomeDeny, "P-10"
		d.Reason = "security is deny (" + d.Effective.Security.Source + ")"
		d.Hint = "openclaw.json: tools.exec.security or tools.exec.mode decides this"
	case sec == Full && ask != AskAlways:
		d.Outcome, d.Rule, d.Reason = OutcomeAllow, "P-10", "security is full ("+d.Effective.Security.Source+")"
	case sec == Full:
		d.Outcome, d.Rule = OutcomeAsk, "P-10"
		d.Reason = "a person must be asked each time (" + d.Effective.Ask.Source + ")"
	case ask == AskOff:
		d.Outcome, d.Rule = OutcomeDeny, "P-10"
		d.Reason = "allowlist miss: this version has no allowlist, so nothing is on it"
		d.Hint = "openclaw.json: tools.exec.mode full runs commands without asking, deny refuses them"
	default:
		d.Outcome, d.Rule = OutcomeAsk, "P-10"
		d.Reason = "allowlist miss, a person must be asked (" + d.Effective.Ask.Source + ")"
	}
	return d
}

// Unanswered is what becomes of a decision to ask when nobody can be asked (P-11).
// A miss stays refused whatever the fallback; under full the fallback decides.
func Unanswered(d Decision) Decision {
	if d.Outcome != OutcomeAsk {
		return d
	}
	if d.Effective.Security.Value == Full && d.Effective.AskFallback.Value == Full {
		d.Outcome, d.Rule = OutcomeAllow, "P-11"
		return d
	}
	d.Outcome, d.Rule = OutcomeDeny, "P-11"
	d.Reason += "; nobody can be asked in this version and askFallback is deny"
	d.Hint = "openclaw.json: tools.exec.ask decides when a person is asked"
	return d
}
