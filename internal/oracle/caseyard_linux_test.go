package oracle

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

// systemPath is a program of the system in a pattern or a command.
var systemPath = regexp.MustCompile(`(?i)^(/usr)?/bin/`)

// aliases are links in the system's directories that cases begin at.
var aliases = map[string]string{"python3": "python3.11", "awk": "mawk", "vim": "vim.basic", "nc": "nc.openbsd"}

// caseYard is a yard with a case's own list and files. What a case allows are real programs
// of the system; here they are programs that do nothing, of the same names, in the yard.
// Wrappers stay real, since no other is looked through.
func caseYard(t *testing.T, c *oneCase, dir string, program []byte) *yard {
	t.Helper()
	y := plainYard(t, dir)
	y.name = c.ID
	names := map[string]bool{"id": true, "evil": true, "interp": true}
	move := func(p string) string {
		prefix := systemPath.FindString(p)
		name := p[len(prefix):]
		if prefix == "" || strings.Contains(wrapperNames, " "+name+" ") {
			return p
		}
		if !strings.ContainsAny(name, "*?/") {
			names[strings.ToLower(name)] = true
		}
		return y.bin + "/" + name
	}
	fill := func(s string) string { return strings.ReplaceAll(s, "{CWD}", y.work) }
	var entries []policy.Entry
	for _, e := range c.Setup.Allowlist {
		if !strings.ContainsAny(e.Pattern, "/*?") {
			names[e.Pattern] = true
		}
		entries = append(entries, policy.Entry{Pattern: move(fill(e.Pattern)), ArgPattern: fill(e.ArgPattern), Agent: "main"})
	}
	for name := range names {
		must(t, os.WriteFile(filepath.Join(y.bin, name), program, 0o755))
	}
	for name, to := range aliases {
		if names[to] && !names[name] {
			must(t, os.Symlink(to, filepath.Join(y.bin, name)))
		}
	}
	y.caseFiles(t, c, fill, program)
	var trusted []string
	for _, d := range c.Setup.SafeBinTrustedDirs {
		trusted = append(trusted, fill(d))
	}
	if p, ok := c.Setup.Env["PATH"]; ok {
		y.path = strings.Replace(fill(p), "/usr/bin", y.bin+":/usr/bin", 1)
	}
	var more []string
	for _, name := range slices.Sorted(maps.Keys(c.Setup.Env)) {
		if name != "PATH" && name != "X" {
			more = append(more, name+"="+c.Setup.Env[name])
		}
	}
	y.layers.StrictInlineEval, y.reqEnv = c.Setup.StrictInlineEval, c.Setup.RequestEnv
	y.rules = policy.Rules{Allowlist: policy.Compile(entries, dir), SafeBins: policy.CompileSafeBins(c.Setup.SafeBins, trusted, c.Setup.SafeBinProfiles)}
	y.model = newModel(entries, c.Setup.SafeBins, trusted, dir)
	y.environment(more...)
	return y
}

// caseFiles lays out a case's files. What could start does nothing, and what is a script
// stays one.
func (y *yard) caseFiles(t *testing.T, c *oneCase, fill func(string) string, program []byte) {
	t.Helper()
	for _, f := range c.Setup.Files {
		path := filepath.Join(y.work, f.Path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if f.Mode == "symlink" {
			to := fill(f.Content)
			if prefix := systemPath.FindString(to); prefix != "" {
				to = y.bin + "/" + to[len(prefix):]
			}
			must(t, os.Symlink(to, path))
			continue
		}
		mode, err := strconv.ParseUint(f.Mode, 8, 32)
		must(t, err)
		text := []byte(fill(f.Content))
		switch {
		case mode&0o111 == 0:
			text = append(text, mark+"\n"...)
		case strings.HasPrefix(f.Content, "#!"):
			text = []byte("#!" + y.bin + "/interp\n")
		default:
			text = program
		}
		must(t, os.WriteFile(path, text, os.FileMode(mode)))
	}
}

// systemProgram is the path of one in a command; what is before it is no path.
var systemProgram = regexp.MustCompile(`(^|[^\w./~{}-])(?:/usr)?/bin/([a-z0-9.]+)`)

// commandOf is a case's command as its yard has it.
func (y *yard) commandOf(c *oneCase) string {
	s := strings.ReplaceAll(c.Command, "{CWD}", y.work)
	return systemProgram.ReplaceAllStringFunc(s, func(p string) string {
		m := systemProgram.FindStringSubmatch(p)
		own := filepath.Join(y.bin, m[2])
		if _, err := os.Lstat(own); err != nil {
			return p
		}
		return m[1] + own
	})
}

// caseYards makes the yards of all cases, in the order of the cases.
func caseYards(t *testing.T, main *yard, cases []oneCase) []*yard {
	t.Helper()
	program := noop(t)
	list := make([]*yard, len(cases))
	for i := range cases {
		list[i] = caseYard(t, &cases[i], filepath.Join(main.dir, "cases", cases[i].ID), program)
		list[i].null = main.null
	}
	return list
}

// decidedSince is how many open cases the rules have decided otherwise since they were
// written; the judge's own test of the cases names each.
const decidedSince = 9

// TestP70_CasesWalked: the cases as they are, each in its own yard; those that are allowed
// start what was judged.
func TestP70_CasesWalked(t *testing.T) {
	main := newYard(t)
	cases := readCases(t)
	walkedCases, otherwise := 0, 0
	for i, y := range caseYards(t, main, cases) {
		command := y.commandOf(&cases[i])
		d := y.judge(command)
		if (d.Outcome == policy.OutcomeAllow) != cases[i].Expect.Allowed {
			otherwise++
		}
		if d.Outcome != policy.OutcomeAllow {
			continue
		}
		why, traced := y.fault(command, d)
		if why != "" {
			t.Errorf("%s: %q: %s", y.name, command, why)
		}
		if traced {
			walkedCases++
		}
	}
	if otherwise > decidedSince {
		t.Errorf("%d cases are judged otherwise in their yards than they say, and not %d: these are not their yards", otherwise, decidedSince)
	}
	if walkedCases < 60 {
		t.Errorf("only %d cases were walked: the test says little", walkedCases)
	}
}
