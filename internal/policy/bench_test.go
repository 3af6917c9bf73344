package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

// P-73: what one decision costs, look-ups of a real machine included.

func benchInput(tb testing.TB, command string, entries []policy.Entry) policy.Input {
	tb.Helper()
	return policy.Input{
		Command: command, Dir: tb.TempDir(), Path: "/usr/local/bin:/usr/bin:/bin", Agent: "main", Machine: host.NewMachine(nil),
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "test"},
		Rules:  policy.Rules{Allowlist: policy.Compile(entries, "/home/u"), SafeBins: policy.CompileSafeBins(nil, nil, nil)},
	}
}

func tenEntries() []policy.Entry {
	list := []policy.Entry{{Pattern: "/usr/bin/git"}, {Pattern: "/usr/bin/ls"}}
	for i := range 8 {
		list = append(list, policy.Entry{Pattern: fmt.Sprintf("/opt/tools/%d/bin/*", i)})
	}
	return list
}

func benchDecide(b *testing.B, in policy.Input) {
	b.Helper()
	if d := policy.Decide(in); d.Outcome != policy.OutcomeAllow {
		b.Fatalf("%s %s: %s", d.Outcome, d.Rule, d.Reason)
	}
	b.ReportAllocs()
	b.ResetTimer()
	machine := in.Machine.(*host.Machine)
	for b.Loop() {
		in.Machine = machine.Once()
		policy.Decide(in)
	}
}

func BenchmarkDecideSimple(b *testing.B) { benchDecide(b, benchInput(b, "git status", tenEntries())) }

func BenchmarkDecidePipe(b *testing.B) {
	benchDecide(b, benchInput(b, "ls -la | head -5", tenEntries()))
}

func BenchmarkDecideTenThousandPaths(b *testing.B) {
	list := []policy.Entry{{Pattern: "/usr/bin/git"}}
	for i := range 10_000 {
		switch i % 3 {
		case 0:
			list = append(list, policy.Entry{Pattern: fmt.Sprintf("/opt/tools/bin/tool%d", i)})
		case 1:
			list = append(list, policy.Entry{Pattern: fmt.Sprintf("~/Projects/**/bin/tool%d", i)})
		case 2:
			list = append(list, policy.Entry{Pattern: fmt.Sprintf("/usr/bin%d/*", i)})
		}
	}
	in := benchInput(b, "git status", list)
	in.Rules.Allowlist = policy.Compile(append(list[1:], list[0]), "/home/u")
	benchDecide(b, in)
}

// A miss looks at every entry that could match.
func BenchmarkDecideTenThousandMiss(b *testing.B) {
	var list []policy.Entry
	for i := range 10_000 {
		list = append(list, policy.Entry{Pattern: fmt.Sprintf("/usr/bin%d/*", i)})
	}
	in := benchInput(b, "git status", list)
	b.ReportAllocs()
	for b.Loop() {
		policy.Decide(in)
	}
}

func BenchmarkExplainTwoHundredSegments(b *testing.B) {
	stages := make([]string, 200)
	for i := range stages {
		stages[i] = fmt.Sprintf("head -n %d", i+1)
	}
	in := benchInput(b, strings.Join(stages, " | "), tenEntries())
	in.Explain = true
	benchDecide(b, in)
}

func BenchmarkAnalyze(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		shell.Analyze("git status")
	}
}

// TestP73_Allocations fails on counts, not on times: those depend on the machine.
func TestP73_Allocations(t *testing.T) {
	for command, most := range map[string]float64{"git status": 60, "ls -la | head -5": 90} {
		in := benchInput(t, command, tenEntries())
		if got := testing.AllocsPerRun(200, func() { policy.Decide(in) }); got > most {
			t.Errorf("%q: %v allocations a decision, at most %v", command, got, most)
		}
	}
}
