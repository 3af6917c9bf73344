package policy_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"openclaw/internal/policy"
)

// stubMachine has every program in /usr/bin, so that the fuzzer reaches all of the judge.
type stubMachine struct{}

func (stubMachine) Content(path string) (*policy.Content, error) {
	return &policy.Content{Real: path}, nil
}

func (stubMachine) InPath(name, _, _ string) (*policy.File, error) {
	return stubMachine{}.At("/usr/bin/" + name)
}

func (stubMachine) At(path string) (*policy.File, error) {
	return &policy.File{Path: path, Real: path, Direct: path, ID: policy.FileID{Ino: 1}}, nil
}

func (stubMachine) Changeable(string) string { return "" }

func (stubMachine) Dir(path string) (string, error) { return path, nil }

// FuzzDecide: no text makes the judge crash or answer differently when it is asked again,
// and a plan comes with an allowance only (P-72).
func FuzzDecide(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(c.Command, false)
	}
	f.Add("sh -c 'nice git status; cd x && ./y' | head -5", true)
	f.Fuzz(func(t *testing.T, command string, strict bool) {
		in := policy.Input{
			Command: command, Dir: "/w", Path: "/usr/bin", Machine: stubMachine{}, Agent: "main", Explain: true,
			Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "fuzz", StrictInlineEval: strict},
			Rules: policy.Rules{
				Allowlist: policy.Compile([]policy.Entry{{Pattern: "git"}, {Pattern: "/usr/bin/l*"}, {Pattern: "echo", ArgPattern: "^a+$"}}, "/h"),
				SafeBins:  policy.CompileSafeBins(nil, nil, nil),
			},
		}
		d := policy.Decide(in)
		if (d.Outcome == policy.OutcomeAllow) != (d.Plan != nil) {
			t.Errorf("%q: %s and a plan: %v", command, d.Outcome, d.Plan != nil)
		}
		if d.Outcome != policy.OutcomeAllow && (d.Rule == "" || d.Reason == "") {
			t.Errorf("%q: refused without a reason", command)
		}
		if d.Plan != nil {
			checkPlanData(t, command, d.Plan)
		}
		again := policy.Decide(in)
		if again.Outcome != d.Outcome || again.Reason != d.Reason || !reflect.DeepEqual(again.Plan, d.Plan) {
			t.Errorf("%q: %s (%s), then %s (%s)", command, d.Outcome, d.Reason, again.Outcome, again.Reason)
		}
	})
}

// checkPlanData: a plan is plain data (P-60). It goes to another process as JSON and comes
// back as it was.
func checkPlanData(t *testing.T, command string, p *policy.Plan) {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	var back policy.Plan
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(data) {
		t.Errorf("%q: a plan changes on its way: %s, then %s", command, data, again)
	}
	for _, s := range p.Starts {
		set := 0
		for _, has := range []bool{s.Builtin != "", s.Shell != nil, s.Path != ""} {
			if has {
				set++
			}
		}
		if set != 1 {
			t.Errorf("%q: a start is %d things at once: %+v", command, set, s)
		}
	}
}

func FuzzArgPattern(f *testing.F) {
	f.Add(`^(?!config)\S+$`, "--version")
	f.Add(`^(a+)+$`, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")
	f.Fuzz(func(t *testing.T, pattern, argument string) {
		if len(pattern) > 64 || len(argument) > 64 {
			return
		}
		list := policy.Compile([]policy.Entry{{Pattern: "echo", ArgPattern: pattern}}, "/h")
		policy.Decide(policy.Input{
			Command: "echo '" + argument + "'", Dir: "/w", Path: "/usr/bin", Machine: stubMachine{},
			Layers: policy.Layers{Security: policy.Allowlist}, Rules: policy.Rules{Allowlist: list},
		})
	})
}
