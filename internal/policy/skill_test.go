package policy_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

// skillMachine is a machine with these programs: by bare name what PATH finds, by path what
// is there.
type skillMachine struct {
	stubMachine
	files   map[string]*policy.File
	changes map[string]string
}

func (m *skillMachine) InPath(name, _, _ string) (*policy.File, error) { return m.At(name) }

func (m *skillMachine) At(path string) (*policy.File, error) {
	if strings.Contains(path, "/") {
		path = filepath.Clean(path)
	}
	if f := m.files[path]; f != nil {
		return f, nil
	}
	return nil, errors.New("it is not found")
}

func (m *skillMachine) Changeable(path string) string { return m.changes[path] }

// program adds one that PATH finds.
func (m *skillMachine) program(name, path, real string) *policy.File {
	f := &policy.File{Path: path, Real: real, Direct: path, ID: policy.FileID{Dev: 1, Ino: uint64(len(m.files) + 1)}}
	m.files[name], m.files[path] = f, f
	if m.files[real] == nil {
		m.files[real] = f
	}
	return f
}

func newSkillMachine() *skillMachine {
	m := &skillMachine{files: map[string]*policy.File{}, changes: map[string]string{}}
	for _, name := range []string{
		"tool", "other", "bash", "python3.12", "xargs", "sudo", "flock", "npx", "npm", "pip3.12", "openclaw", "openclaw-dev", "busybox",
		"git", "find", "Python3", "awk", "env", "rg", "head",
	} {
		m.program(name, "/usr/bin/"+name, "/usr/bin/"+name)
	}
	m.program("nice", "/usr/bin/nice", "/usr/bin/nice")
	m.program("sly", "/usr/bin/sly", "/usr/bin/perl5.36")
	m.program("applet", "/usr/bin/applet", "/usr/bin/busybox")
	m.program("ours", "/usr/bin/ours", "/opt/our/program")
	m.files["/work/tool"] = &policy.File{Path: "/work/tool", Real: "/work/tool", Direct: "/work/tool", ID: policy.FileID{Ino: 99}}
	return m
}

func (m *skillMachine) skills(pinned bool) *policy.Skills {
	var list []policy.SkillProgram
	for name, f := range m.files {
		if !strings.Contains(name, "/") && name != "other" {
			list = append(list, policy.SkillProgram{Name: name, Skill: "/skills/x/SKILL.md", File: f, Pinned: pinned})
		}
	}
	list = append(list, policy.SkillProgram{Name: "gone", Skill: "/skills/x/SKILL.md"})
	return policy.CompileSkills(list)
}

func (m *skillMachine) input(command string, k *policy.Skills) policy.Input {
	in := policy.Input{
		Command: command, Dir: "/work", Path: "/usr/bin", Agent: "main", Machine: m, Self: "/opt/our/program",
		Layers: policy.Layers{Security: policy.Allowlist, Ask: policy.AskOnMiss}, Rules: policy.Rules{Skills: k},
	}
	in.Layers.Host.AutoAllowSkills = true
	return in
}

// TestP36_Use: what a skill's declaration allows, and what it does not.
func TestP36_Use(t *testing.T) {
	m := newSkillMachine()
	k := m.skills(false)
	for _, command := range []string{"tool", "tool a b; tool --x=$HOME", "nice -n 5 tool", "git status", "rg x", "find . -name x"} {
		d := policy.Decide(m.input(command, k))
		if d.Outcome != policy.OutcomeAllow {
			t.Errorf("%s: %s, %s", command, d.Outcome, d.Reason)
		}
		if s := d.Segments[0]; s.SatisfiedBy == nil || *s.SatisfiedBy != policy.BySkill || s.Rule != "P-36" || s.Entry != nil {
			t.Errorf("%s: %+v", command, s)
		}
	}
	for command, want := range map[string]string{
		"./tool":                "only as it is found in PATH", // app-0052
		"/usr/bin/tool":         "only as it is found in PATH",
		"../usr/bin/tool":       "only as it is found in PATH",
		"other":                 "/usr/bin/other is on no allowlist",
		"tool && other":         "/usr/bin/other is on no allowlist",
		"bash x.sh":             "it is a shell",
		"python3.12 x.py":       "it is an interpreter",
		"Python3 x.py":          "it is an interpreter",
		"awk 1":                 "it is an interpreter",
		"sly x":                 "it is an interpreter",
		"nice bash x.sh":        "it is a shell",
		"applet x":              "its file holds many programs",
		"busybox ls":            "",
		"xargs tool":            "",
		"flock x tool":          "",
		"git -c alias.x=!id x":  "",
		"find . -exec tool ';'": "",
		"rg --pre tool x":       "",
		"sudo tool":             "another user",
		"npm install x":         "it runs code of packages",
		"pip3.12 install x":     "it runs code of packages",
		"openclaw status":       "openclaw itself",
		"openclaw config set x": "openclaw itself",
		"openclaw-dev status":   "openclaw itself",
		"ours status":           "openclaw itself",
		"LD_PRELOAD=x tool":     "LD_PRELOAD",
		"PATH=/work tool":       "PATH",
		"tool > x":              "",
		"tool $(other)":         "",
	} {
		d := policy.Decide(m.input(command, k))
		if d.Outcome != policy.OutcomeAsk || !strings.Contains(d.Reason, want) {
			t.Errorf("%s: %s, %s", command, d.Outcome, d.Reason)
		}
	}
}

// TestP36_OnlyWhereTheDocumentSaysSo: without the document's word nothing of it counts.
func TestP36_OnlyWhereTheDocumentSaysSo(t *testing.T) {
	m := newSkillMachine()
	in := m.input("tool", m.skills(false))
	in.Layers.Host.AutoAllowSkills = false
	if d := policy.Decide(in); d.Outcome != policy.OutcomeAsk || strings.Contains(d.Reason, "skill") {
		t.Errorf("%s, %s", d.Outcome, d.Reason)
	}
	if d := policy.Decide(m.input("tool", nil)); d.Outcome != policy.OutcomeAsk {
		t.Errorf("without skills: %s", d.Outcome)
	}
	in = m.input("tool", m.skills(false))
	in.Layers.Security = policy.Deny
	if d := policy.Decide(in); d.Outcome != policy.OutcomeDeny {
		t.Errorf("under deny: %s", d.Outcome)
	}
}

// TestP36_Changed: the program is not what it was when the list was taken, or could be
// changed by who runs it.
func TestP36_Changed(t *testing.T) {
	for name, c := range map[string]struct {
		pinned bool
		change func(m *skillMachine)
		want   string // "" = allowed
	}{
		"nothing":                  {true, func(*skillMachine) {}, ""},
		"shadowed in PATH":         {false, func(m *skillMachine) { m.files["tool"] = m.files["/work/tool"] }, "that was /usr/bin/tool"},
		"another path, one file":   {false, func(m *skillMachine) { m.program("tool", "/opt/bin/tool", "/usr/bin/tool") }, "that was /usr/bin/tool"},
		"the link leads elsewhere": {false, func(m *skillMachine) { m.program("tool", "/usr/bin/tool", "/opt/other") }, "that was /usr/bin/tool"},
		"another version":          {false, func(m *skillMachine) { m.program("tool", "/usr/bin/tool", "/usr/bin/tool") }, ""},
		"swapped":                  {true, func(m *skillMachine) { m.program("tool", "/usr/bin/tool", "/usr/bin/tool") }, "the file was changed"},
		"the user can write it":    {false, func(m *skillMachine) { m.changes["/usr/bin/tool"] = "/usr/bin can be written" }, "/usr/bin can be written"},
		"others can write it":      {false, func(m *skillMachine) { m.files["tool"].Loose = "group 7 can" }, "others can change it (group 7 can)"},
		"it has gone":              {false, func(m *skillMachine) { delete(m.files, "tool") }, "it is not found"},
	} {
		m := newSkillMachine()
		k := m.skills(c.pinned)
		c.change(m)
		d := policy.Decide(m.input("tool", k))
		if (d.Outcome == policy.OutcomeAllow) != (c.want == "") || !strings.Contains(d.Reason, c.want) {
			t.Errorf("%s: %s, %s", name, d.Outcome, d.Reason)
		}
	}
}

// TestP36_Useless: what never counts is told, once.
func TestP36_Useless(t *testing.T) {
	m := newSkillMachine()
	got := strings.Join(m.skills(false).Useless(), "\n")
	for _, want := range []string{"bash (/skills/x/SKILL.md): it is a shell", "gone (", "nice (/skills/x/SKILL.md): it starts", "flock (", "npx (", "env (", "busybox (", "sly ("} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "tool (") || strings.Contains(got, "git (") {
		t.Error(got)
	}
	k := policy.CompileSkills([]policy.SkillProgram{{Name: "tool", Why: "it lies in a workspace"}, {Name: "tool", File: m.files["tool"]}})
	if d := policy.Decide(m.input("tool", k)); d.Outcome != policy.OutcomeAsk || !strings.Contains(d.Reason, "it lies in a workspace") {
		t.Errorf("the first of two: %s, %s", d.Outcome, d.Reason)
	}
	if (*policy.Skills)(nil).Useless() != nil {
		t.Error("none")
	}
}

// TestP36_BesideOthers: an entry comes first, a safe bin may still satisfy, inline code is
// asked about, and what missed can be stored.
func TestP36_BesideOthers(t *testing.T) {
	m := newSkillMachine()
	in := m.input("tool; head -5", m.skills(false))
	in.Rules.Allowlist = policy.Compile([]policy.Entry{{Pattern: "tool"}}, "")
	in.Rules.SafeBins = policy.CompileSafeBins(nil, nil, nil)
	m.changes["/usr/bin/head"] = "somebody can"
	d := policy.Decide(in)
	if d.Outcome != policy.OutcomeAllow || *d.Segments[0].SatisfiedBy != policy.ByAllowlist || *d.Segments[1].SatisfiedBy != policy.BySafeBin {
		t.Errorf("%s, %+v", d.Reason, d.Segments)
	}
	in = m.input("git -c alias.x=!id x", m.skills(false))
	in.Layers.StrictInlineEval, in.Layers.Security, in.Layers.Ask = true, policy.Full, policy.AskOff
	if d := policy.Decide(in); d.Outcome != policy.OutcomeAsk || d.Rule != "P-40" {
		t.Errorf("inline: %s %s", d.Outcome, d.Reason)
	}
	m.changes["/usr/bin/tool"] = "somebody can"
	if d := policy.Decide(m.input("tool", m.skills(false))); d.AllowAlways == nil || len(d.AllowAlways.Entries) != 1 {
		t.Errorf("allow always: %+v", d.AllowAlways)
	}
}
