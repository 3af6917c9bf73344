package policy

import "testing"

func TestP10Decide(t *testing.T) {
	cases := []struct {
		name string
		in   Layers
		want Outcome
		rule string
	}{
		{"P-5 nothing set runs", Layers{}, OutcomeAllow, "P-10"},
		{"full/off runs", Layers{Security: Full, Ask: AskOff}, OutcomeAllow, "P-10"},
		{"full/on-miss runs: nothing can miss", Layers{Security: Full, Ask: AskOnMiss}, OutcomeAllow, "P-10"},
		{"full/always asks", Layers{Security: Full, Ask: AskAlways}, OutcomeAsk, "P-10"},
		{"deny refuses", Layers{Security: Deny}, OutcomeDeny, "P-10"},
		{"deny refuses even with always", Layers{Security: Deny, Ask: AskAlways}, OutcomeDeny, "P-10"},
		{"allowlist/off misses", Layers{Security: Allowlist}, OutcomeDeny, "P-10"},
		{"allowlist/on-miss asks", Layers{Security: Allowlist, Ask: AskOnMiss}, OutcomeAsk, "P-10"},
		{"an unknown security is refused", Layers{Security: "everything"}, OutcomeDeny, "P-10"},
		{"P-2 the call's ask hardens", Layers{Security: Full, CallAsk: AskAlways}, OutcomeAsk, "P-10"},
		{"P-2 the call's ask cannot loosen", Layers{Security: Full, Ask: AskAlways, CallAsk: AskOff}, OutcomeAsk, "P-10"},
		{"an unknown ask asks", Layers{Ask: "never"}, OutcomeAsk, "P-10"},
		{"P-40 inline code cannot be told apart yet", Layers{StrictInlineEval: true}, OutcomeDeny, "P-40"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(Input{Command: "true", Layers: c.in})
			if d.Outcome != c.want || d.Rule != c.rule {
				t.Fatalf("got %s by %s (%s), want %s by %s", d.Outcome, d.Rule, d.Reason, c.want, c.rule)
			}
			if d.Outcome != OutcomeAllow && d.Reason == "" {
				t.Error("a refusal without a reason (P-12)")
			}
			if u := Unanswered(d); d.Outcome == OutcomeAsk && (u.Outcome != OutcomeDeny || u.Hint == "") {
				t.Errorf("nobody to ask: got %+v, want deny with a hint (P-11)", u)
			}
		})
	}
}

func TestP4StricterWins(t *testing.T) {
	for _, c := range []struct{ a, b, want Security }{
		{Full, Deny, Deny}, {Allowlist, Full, Allowlist}, {Full, Full, Full}, {"x", Full, Deny},
	} {
		if got := StricterSecurity(c.a, c.b); got != c.want {
			t.Errorf("StricterSecurity(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ a, b, want Ask }{
		{AskOff, AskAlways, AskAlways}, {AskOnMiss, AskOff, AskOnMiss}, {"x", AskOff, AskAlways},
	} {
		if got := StricterAsk(c.a, c.b); got != c.want {
			t.Errorf("StricterAsk(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
