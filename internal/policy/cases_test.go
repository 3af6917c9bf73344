package policy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// caseFile is one file of a case's setup.
type caseFile struct {
	Path, Content, Mode string
}

// policyCase is one case of testdata/policy.json and safebin.json (P-70).
type policyCase struct {
	ID      string
	Family  string
	Command string
	Open    bool
	Why     string
	Setup   struct {
		Allowlist []struct {
			Pattern    string
			ArgPattern string
		}
		SafeBins           []string
		SafeBinTrustedDirs []string
		SafeBinProfiles    map[string]policy.Profile
		StrictInlineEval   bool
		Files              []caseFile
		Env, RequestEnv    map[string]string
	}
	Expect       struct{ Allowed bool }
	ObservedExec []string `json:"observed_exec"`
}

func readCases(tb testing.TB) []policyCase {
	tb.Helper()
	var all []policyCase
	for _, name := range []string{"policy.json", "safebin.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		var some []policyCase
		if err := json.Unmarshal(data, &some); err != nil {
			tb.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

// caseInput lays out the case's files below dir and makes the judge's input.
func caseInput(tb testing.TB, c *policyCase, dir string) policy.Input {
	tb.Helper()
	fill := func(s string) string { return strings.ReplaceAll(s, "{CWD}", dir) }
	for _, f := range c.Setup.Files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if f.Mode == "symlink" {
			if err := os.Symlink(fill(f.Content), path); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		mode, err := strconv.ParseUint(f.Mode, 8, 32)
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fill(f.Content)), 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chmod(path, os.FileMode(mode)); err != nil {
			tb.Fatal(err)
		}
	}
	var entries []policy.Entry
	for _, e := range c.Setup.Allowlist {
		entries = append(entries, policy.Entry{Pattern: fill(e.Pattern), ArgPattern: fill(e.ArgPattern), Agent: "main"})
	}
	var trusted []string
	for _, d := range c.Setup.SafeBinTrustedDirs {
		trusted = append(trusted, fill(d))
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	if p, ok := c.Setup.Env["PATH"]; ok {
		path = fill(p)
	}
	return policy.Input{
		Command: fill(c.Command), Dir: dir, Path: path, Agent: "main", Machine: host.NewMachine(nil),
		Env: c.Setup.RequestEnv,
		Layers: policy.Layers{
			Security: policy.Allowlist, SecuritySource: "test", Ask: policy.AskOff, AskSource: "test",
			StrictInlineEval: c.Setup.StrictInlineEval,
		},
		Rules: policy.Rules{
			Allowlist: policy.Compile(entries, dir),
			SafeBins:  policy.CompileSafeBins(c.Setup.SafeBins, trusted, c.Setup.SafeBinProfiles),
		},
	}
}

// differing are the open cases on which the rules have since decided otherwise, each with
// the rule. A case that is not open may never stand here.
var differing = map[string]string{
	"pol-0031": "P-22: a subshell is a miss only with something in it that is not satisfied",
	"pol-0122": "P-24: $NAME is allowed in the arguments of an entry without argPattern",
	"pol-0149": "P-23: [ is judged as the program of that name, which is on no list here",
	"pol-0227": "P-24: no tilde in command position",
	"pol-0328": "P-34: -lc is looked through, and no shell with start-up files is started",
	"pol-0354": "P-35: what satisfies is an entry for the shell, not for its script",
	"pol-0409": "P-40: of sed's commands only e and w are inline code",
	"saf-0011": "P-53: - alone is standard input",
	"saf-0028": "P-53: an abbreviation that is not exact is rejected",
}

func TestP70_Cases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			in := caseInput(t, &c, caseDir(t))
			_, envErr := policy.CheckEnv(in.Env, true)
			d := policy.Decide(in)
			allowed := d.Outcome == policy.OutcomeAllow && envErr == nil
			want := c.Expect.Allowed
			if rule, ok := differing[c.ID]; ok {
				seen[c.ID] = true
				if !c.Open {
					t.Fatalf("only an open case may differ (%s)", rule)
				}
				want = !want
			}
			if allowed != want {
				t.Errorf("open %v: %q: allowed %v, want %v\n%s: %s\ncase: %s\n%+v", c.Open, c.Command, allowed, want, d.Rule, d.Reason, c.Why, d.Segments)
			}
			if allowed != (d.Plan != nil && envErr == nil) {
				t.Errorf("allowed %v but a plan %v", allowed, d.Plan != nil)
			}
		})
	}
	for _, id := range slices.Sorted(maps.Keys(differing)) {
		if !seen[id] {
			t.Errorf("no case has the id %s", id)
		}
	}
}

// caseDir is a fresh directory as the cases ask for it: its path resolved, its mode not
// open to others.
func caseDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
