package policy

import (
	"sort"

	"openclaw/internal/shell"
)

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
	Agent   string // for hints

	// Rules and Machine are needed for security=allowlist and for strictInlineEval; without
	// a Machine every command is a miss.
	Rules   Rules
	Machine Machine
	Dir     string // absolute working directory
	Path    string // PATH the command will get (P-32)
	// Env are the request's overrides. A name outside of P-34's small set is a miss for
	// every segment (P-24). CheckEnv has its own say before.
	Env map[string]string
	// Terminal says that standard output will be a terminal: nohup then writes a file (P-34).
	Terminal bool
	// PowerShell says that the text is not a shell's: nothing is on a list then.
	PowerShell bool
	Self       string // real path of our own program, "" = not known
	// Explain asks for the segments also where they do not decide.
	Explain bool

	envMiss string
}

// Decision is an outcome with its reasons, the same value for explanations, refusals
// and the record (P-12).
type Decision struct {
	Outcome     Outcome        `json:"decision"`
	Rule        string         `json:"rule"`
	Reason      string         `json:"reason"`
	Hint        string         `json:"hint,omitempty"`
	Effective   Effective      `json:"effective"`
	Segments    []Segment      `json:"segments,omitempty"`
	Remarks     []shell.Remark `json:"remarks,omitempty"` // parts that were not understood
	AllowAlways *AllowAlways   `json:"allowAlways,omitempty"`
	Warnings    []string       `json:"warnings,omitempty"` // entries and settings that have no effect
	// Satisfied says that every part of the command is on a list (P-10).
	Satisfied bool `json:"-"`
	// Plan is what may run when Satisfied and no inline code stands in the way (P-60).
	Plan *Plan `json:"-"`
	// Whole is what runs when a person allows it: all of the text is understood (P-61). Nil:
	// the text runs by a shell as it stands.
	Whole *Plan `json:"-"`
	// Inline is the code on the command line that needs a person (P-40), "" = none.
	Inline string `json:"-"`
}

// AllowAlways is what an answer "allow always" would store, or why nothing.
type AllowAlways struct {
	Entries []StoredEntry `json:"entries,omitempty"`
	Why     string        `json:"why,omitempty"` // when Entries is empty
}

// StoredEntry is one entry that would be stored.
type StoredEntry struct {
	Pattern    string `json:"pattern"`
	ArgPattern string `json:"argPattern"`
}

// Judged reports whether the command was held against rules, so that it runs without
// the operator's aliases and functions and with the whole environment table (X-10,
//
func (d Decision) Judged() bool {
	return d.Effective.Security.Value != Full || d.Effective.Ask.Value != AskOff
}

// Decide says whether a command may run (P-10). It is pure but for what it asks in.Machine.
func Decide(in Input) Decision {
	d := Decision{Effective: Combine(in.Layers)}
	if in.Layers.StrictInlineEval && in.Machine == nil {
		d.Outcome, d.Rule = OutcomeDeny, "P-40"
		d.Reason = "strictInlineEval is on and nothing could be looked up on this machine"
		d.Hint = "openclaw.json: tools.exec.strictInlineEval decides this"
		return d
	}
	if in.Machine != nil && !in.PowerShell && (in.Layers.Looks() || in.Explain) {
		in.envMiss = envOutside(in.Env)
		j := judgeCommand(&in)
		d.Segments, d.Remarks, d.Satisfied, d.Inline = j.segments, j.remarks, j.satisfied, j.inline
		d.Whole = j.whole
		if d.Inline == "" && j.satisfied {
			d.Plan = j.plan
		}
		sort.SliceStable(d.Remarks, func(i, k int) bool { return d.Remarks[i].Span.Start < d.Remarks[k].Span.Start })
		if in.Explain || d.Effective.Ask.Value != AskOff { // it may read files
			d.AllowAlways = d.always(j.judge)
		}
	}
	d.decide(&in)
	return d
}

// envOutside names the first override outside of P-34's set, as the reason of a miss.
func envOutside(env map[string]string) string {
	var names []string
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if why := inSmallEnv(name, env[name]); why != "" {
			return "env: " + why
		}
	}
	return ""
}

func (d *Decision) decide(in *Input) {
	sec, ask := d.Effective.Security.Value, d.Effective.Ask.Value
	switch {
	case sec == Deny:
		d.Outcome, d.Rule = OutcomeDeny, "P-10"
		d.Reason = "security is deny (" + d.Effective.Security.Source + ")"
		d.Hint = "openclaw.json: tools.exec.security or tools.exec.mode decides this"
	case in.PowerShell && (sec == Allowlist || ask != AskOff || in.Layers.StrictInlineEval):
		d.Outcome, d.Rule = OutcomeDeny, "X-9"
		d.Reason = "the text is PowerShell, which is not judged: only deny and full work here"
		d.Hint = "openclaw.json: tools.exec.mode full runs commands without asking"
	case d.Inline != "":
		d.Outcome, d.Rule = OutcomeAsk, "P-40"
		d.Reason = "code on the command line needs a person's approval: " + d.Inline
		d.Hint = "put the code into a file, or openclaw.json: tools.exec.strictInlineEval decides this"
	case sec == Full && ask != AskAlways:
		d.Outcome, d.Rule, d.Reason = OutcomeAllow, "P-10", "security is full ("+d.Effective.Security.Source+")"
	case sec == Full:
		d.Outcome, d.Rule = OutcomeAsk, "P-10"
		d.Reason = "a person must be asked each time (" + d.Effective.Ask.Source + ")"
	case d.Satisfied && ask == AskAlways:
		d.Outcome, d.Rule = OutcomeAsk, "P-10"
		d.Reason = "every part is on a list, but a person must be asked each time (" + d.Effective.Ask.Source + ")"
	case d.Satisfied:
		d.Outcome, d.Rule, d.Reason = OutcomeAllow, "P-10", "every part is on a list"
	case ask == AskOff:
		d.Outcome = OutcomeDeny
		d.missReason()
	default:
		d.Outcome = OutcomeAsk
		d.missReason()
		d.Reason += "; a person must be asked (" + d.Effective.Ask.Source + ")"
	}
}

// missReason takes rule, reason and hint from the first part that missed.
func (d *Decision) missReason() {
	d.Rule, d.Reason = "P-10", "allowlist miss: nothing could be looked up on this machine"
	d.Hint = "openclaw.json: tools.exec.mode full runs commands without asking, deny refuses them"
	if len(d.Remarks) > 0 {
		r := d.Remarks[0]
		d.Rule, d.Reason = r.Rule, "allowlist miss: "+r.Node+" "+r.Why
		d.Hint = "write the command without it, as plain commands one after the other"
		return
	}
	for i := range d.Segments {
		s := &d.Segments[i]
		if s.SatisfiedBy != nil || s.Why == "" || s.Rule == "P-34" && s.Hint == "" && i+1 < len(d.Segments) {
			continue // a shell's own segment says less than what missed in its text
		}
		d.Rule, d.Hint = s.Rule, s.Hint
		d.Reason = "allowlist miss: " + s.Program + ": " + s.Why
		return
	}
}

// always says what an answer "allow always" would store: one entry for each segment
// that missed.
func (d *Decision) always(j *judge) *AllowAlways {
	if d.Inline != "" {
		return &AllowAlways{Why: "code on the command line is never stored"}
	}
	if len(d.Remarks) > 0 {
		return &AllowAlways{Why: "the command is not wholly understood"}
	}
	if j.in.envMiss != "" {
		return &AllowAlways{Why: "it would be asked about again: " + j.in.envMiss}
	}
	out := &AllowAlways{}
	for i := range d.Segments {
		s := &d.Segments[i]
		switch {
		case s.SatisfiedBy != nil || s.alwaysWhy == shellOnly:
			continue
		case s.again != "":
			return &AllowAlways{Why: s.Program + ": it would be asked about again: " + s.again}
		case s.alwaysWhy != "":
			return &AllowAlways{Why: s.Program + ": " + s.alwaysWhy}
		case s.file == nil || s.dir == "":
			return &AllowAlways{Why: s.Program + ": the directory is not known"}
		}
		for k := range s.args {
			if !s.args[k].Lit {
				return &AllowAlways{Why: s.Program + ": the arguments are not literal"}
			}
		}
		n, _ := namesOf(s.args[0].Text, s.file)
		if why := inlineWhy(n, s.args); why != "" { // P-41
			return &AllowAlways{Why: "code on the command line is never stored (" + why + ")"}
		}
		sums, why := j.contents(s.args, s.file, s.dir)
		if why != "" {
			return &AllowAlways{Why: s.Program + ": " + why}
		}
		form := exactForm
		if len(sums) > 0 {
			form = contentForm
		}
		out.Entries = append(out.Entries, StoredEntry{s.file.Real, form + exactDigest(s.dir, s.args[1:], sums)})
	}
	if len(out.Entries) == 0 && out.Why == "" {
		out.Why = "nothing missed"
	}
	return out
}

// Unanswered is what becomes of a decision to ask when nobody can be asked (P-11). A miss
// stays refused whatever the fallback, and so does code on the command line; a command
// that is on the lists runs under the fallback allowlist, and under full the fallback full
// runs it.
func Unanswered(d Decision) Decision {
	if d.Outcome != OutcomeAsk {
		return d
	}
	sec, fallback := d.Effective.Security.Value, d.Effective.AskFallback.Value
	if d.Inline == "" && (sec == Full && fallback == Full || d.Satisfied && (fallback == Allowlist || fallback == Full)) {
		d.Outcome, d.Rule = OutcomeAllow, "P-11"
		return d
	}
	d.Outcome, d.Rule = OutcomeDeny, "P-11"
	d.Reason += "; nobody who could answer is there (openclaw approvals watch), and askFallback is " + string(fallback)
	if d.Hint == "" {
		d.Hint = "openclaw.json: tools.exec.ask decides when a person is asked"
	}
	return d
}
