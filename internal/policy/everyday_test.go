package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

var update = flag.Bool("update", false, "write the golden file anew")

// everydayPrograms are installed in the test's directory and on its list.
const (
	everydayListed = "git make go npm ls cat echo grep find sort sed awk tar curl test [ wc mkdir touch which node python3 bash tee ps printf"
	everydayOthers = "rm kill chmod sleep npx xargs tsc"
)

// splitEveryday splits the list at lines that do not belong to a here-document or quotes.
func splitEveryday(text string) []string {
	var list []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		last := len(list) - 1
		if last >= 0 && strings.Contains(list[last], "<<'EOF'") && !endsDocument(list[last]) {
			list[last] += "\n" + line
			continue
		}
		list = append(list, line)
	}
	return list
}

func endsDocument(command string) bool {
	if strings.Contains(command, "$(cat") {
		return strings.HasSuffix(command, "\n)\"")
	}
	return strings.HasSuffix(command, "\nEOF")
}

// TestEveryday writes down, for a person to review, what becomes of what developers and
// agents really type: testdata/everyday.golden.
func TestEveryday(t *testing.T) {
	noop, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Skip("needs /usr/bin/true")
	}
	dir := caseDir(t)
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{bin, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var entries []policy.Entry
	for name := range strings.FieldsSeq(everydayListed + " " + everydayOthers) {
		if name == "bash" { // the real one: a shell is looked through in a trusted directory only
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, name), noop, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name := range strings.FieldsSeq(everydayListed) {
		entries = append(entries, policy.Entry{Pattern: name})
	}
	if err := os.WriteFile(filepath.Join(dir, "script.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{
		Dir: dir, Path: bin + ":/usr/bin:/bin", Machine: host.NewMachine(nil), Agent: "main",
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "test", Ask: policy.AskOnMiss, AskSource: "test"},
		Rules: policy.Rules{
			Allowlist: policy.Compile(entries, dir), SafeBins: policy.CompileSafeBins(nil, nil, nil), AllowStreamRedirects: true,
		},
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Under security=allowlist, ask=on-miss, allowStreamRedirects, the default safe bins and entries for:\n# %s\n\n", everydayListed)
	for _, in.Command = range splitEveryday(string(text)) {
		d := policy.Decide(in)
		fmt.Fprintf(&out, "%s\n    %s %s: %s\n", in.Command, d.Outcome, d.Rule, strings.ReplaceAll(d.Reason, dir, "DIR"))
		d.Effective.AskFallback.Value = policy.Deny
		if d = policy.Unanswered(d); d.Outcome != policy.OutcomeAllow && d.Hint != "" {
			fmt.Fprintf(&out, "    change: %s\n", strings.ReplaceAll(d.Hint, dir, "DIR"))
		}
	}
	golden := "testdata/everyday.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("%s differs; look at the difference after go test -run Everyday -update", golden)
	}
}
