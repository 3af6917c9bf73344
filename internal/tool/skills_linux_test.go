package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/policy"
	"openclaw/internal/protocol"
	"openclaw/internal/skill"
)

// skillBed is a service with a folder of skills outside of the state directory, and a
// document that says whether they count.
func skillBed(t *testing.T, auto bool, prepend string, bins ...string) (b *bed, folder string) {
	t.Helper()
	root := t.TempDir()
	folder = filepath.Join(root, "skills")
	declare(t, folder, "one", bins...)
	conf := `{skills: {dirs: ["` + folder + `"]}, tools: {exec: {mode: "allowlist"` + prepend + `}}}`
	b = newBed(t, conf)
	b.autoAllow(auto)
	return b, folder
}

func declare(t *testing.T, folder, name string, bins ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: " + name + "\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"" + strings.Join(bins, `","`) + "\"]}}}\n---\n"
	if err := os.WriteFile(filepath.Join(folder, name, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *bed) autoAllow(on bool) {
	b.t.Helper()
	text := `{"version":1,"agents":{"main":{"autoAllowSkills":false}}}`
	if on {
		text = strings.Replace(text, "false", "true", 1)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "exec-approvals.json"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// explain is the decision on a command, without running it.
func (b *bed) explain(args string) *policy.Decision {
	b.t.Helper()
	res, err := b.call(protocol.ToolRequest{Tool: "exec", Args: []byte(args), DryRun: true})
	if err != nil {
		b.t.Fatalf("%s: %v", args, err)
	}
	return res.Details.(*policy.Decision)
}

// TestP36_DeclaredRuns: a program that a skill declares runs where the document says so, is
// explained, and app-0052: ./tool is not it.
func TestP36_DeclaredRuns(t *testing.T) {
	b, _ := skillBed(t, true, "", "id", "python3", "bash", "nice", "no-such-program")
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusCompleted {
		t.Fatalf("%+v, denied %+v", r, r.Denied)
	}
	d := b.explain(`{"command":"id -u"}`)
	if s := d.Segments[0]; s.SatisfiedBy == nil || *s.SatisfiedBy != policy.BySkill || s.Rule != "P-36" || !strings.Contains(s.Why, "/one/SKILL.md") {
		t.Errorf("%+v", s)
	}
	told := strings.Join(d.Warnings, "\n")
	for _, want := range []string{"python3 (", "bash (", "nice (", "no-such-program ("} {
		if !strings.Contains(told, want) {
			t.Errorf("no warning on %q: %s", want, told)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"id", "tool"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"./id", "/usr/bin/id", "uname", "bash x.sh", "python3 x.py", "python3 -c 1", dir + "/id"} {
		if r := b.exec(`{"command":"` + command + `","workdir":"` + dir + `"}`); r.Status != protocol.StatusDenied {
			t.Errorf("%s: %+v", command, r)
		}
	}
	b.autoAllow(false)
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusDenied {
		t.Errorf("the document takes it back: %+v", r)
	}
	b.caller.Agent = "other"
	b.autoAllow(true)
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusDenied {
		t.Errorf("another agent: %+v", r)
	}
}

// TestP36_Shadowed: a program of the declared name that comes first in PATH later, and one
// that lies where every program can write.
func TestP36_Shadowed(t *testing.T) {
	first := t.TempDir()
	b, _ := skillBed(t, true, `, pathPrepend: ["`+first+`"]`, "id", "mine")
	if err := os.WriteFile(first+"/mine", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusCompleted {
		t.Fatalf("%+v, denied %+v", r, r.Denied)
	}
	if r := b.exec(`{"command":"mine"}`); r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "temporary files") {
		t.Errorf("%+v", r.Denied)
	}
	if err := os.WriteFile(first+"/id", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "when the list of skills was taken that was") {
		t.Errorf("%+v", r.Denied)
	}
}

// TestP36_Warm: the programs are looked up ahead of the first command, for every PATH.
func TestP36_Warm(t *testing.T) {
	first := t.TempDir()
	b, _ := skillBed(t, true, `, pathPrepend: ["`+first+`"]`, "id")
	b.s.Warm(t.Context())
	if err := os.WriteFile(first+"/id", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if n := len(b.s.judge.skills.paths); n != 2 {
		t.Errorf("%d values of PATH", n)
	}
	if r := b.exec(`{"command":"id -u"}`); r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "when the list of skills was taken that was") {
		t.Errorf("%+v", r.Denied)
	}
}

// TestP36_TakenAgain: the list follows the folders, at most once a second, and the
// configuration.
func TestP36_TakenAgain(t *testing.T) {
	b, folder := skillBed(t, true, "", "id")
	now := time.Now()
	b.s.judge.skills.now = func() time.Time { return now }
	allowed := func(command string) bool {
		return b.explain(`{"command":"`+command+`"}`).Outcome == policy.OutcomeAllow
	}
	if !allowed("id") || allowed("uname") {
		t.Fatal("the first list")
	}
	declare(t, folder, "two", "uname")
	if allowed("uname") {
		t.Error("the folder was looked at again within the second")
	}
	now = now.Add(skillsEvery)
	if !allowed("uname") || !allowed("id") {
		t.Error("a new skill")
	}
	if err := os.RemoveAll(filepath.Join(folder, "one")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(skillsEvery)
	if allowed("id") || !allowed("uname") {
		t.Error("a skill that is gone")
	}
	if err := os.Chmod(filepath.Join(folder, "two"), 0o777); err != nil {
		t.Fatal(err)
	}
	now = now.Add(skillsEvery)
	if d := b.explain(`{"command":"uname"}`); d.Outcome == policy.OutcomeAllow || !strings.Contains(strings.Join(d.Warnings, "\n"), "two can be written by everybody") {
		t.Errorf("a folder that everybody can write: %+v", d.Warnings)
	}
	if err := os.Chmod(filepath.Join(folder, "two"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.reload(`{skills: {dirs: ["` + folder + `"]}, tools: {exec: {mode: "allowlist"}}}`)
	if !allowed("uname") {
		t.Error("a new configuration takes the list at once")
	}
	b.reload(`{skills: {dirs: ["` + folder + `"]}, agents: {entries: {x: {workspace: "` + folder + `"}}}, tools: {exec: {mode: "allowlist"}}}`)
	if allowed("uname") {
		t.Error("the folder is another agent's workspace now")
	}
	b.reload(`{tools: {exec: {mode: "allowlist"}}}`)
	if allowed("uname") || b.s.judge.skills.rules(b.s.cfg.Load(), "/usr/bin") != nil {
		t.Error("no folders")
	}
}

func (b *bed) reload(conf string) {
	b.t.Helper()
	path := filepath.Join(b.dir, "openclaw.json")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		b.t.Fatal(err)
	}
	cfg, err := config.Load(path, b.s.getenv)
	if err != nil {
		b.t.Fatal(err)
	}
	b.s.Reload(cfg)
}

// TestP36_Workspace: skills in an agent's own folder are not read, programs there do not
// count.
func TestP36_Workspace(t *testing.T) {
	b := newBed(t, "")
	conf := `{skills: {dirs: ["` + b.dir + `/workspace/skills", "` + b.dir + `/linked"]}, tools: {exec: {mode: "allowlist"}}}`
	declare(t, b.dir+"/workspace/skills", "one", "id")
	if err := os.MkdirAll(b.dir+"/linked", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.dir+"/workspace/skills/one", b.dir+"/linked/one"); err != nil {
		t.Fatal(err)
	}
	b.autoAllow(true)
	b.reload(conf)
	d := b.explain(`{"command":"id"}`)
	if d.Outcome == policy.OutcomeAllow || strings.Count(strings.Join(d.Warnings, "\n"), "inside of a workspace") != 2 {
		t.Errorf("%s: %v", d.Outcome, d.Warnings)
	}
	cfg := b.s.cfg.Load()
	program := b.dir + "/workspace/tool"
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !skill.Inside(program, workspaces(cfg)) || skill.Inside("/usr/bin/id", append(workspaces(cfg), tempFolders()...)) {
		t.Error("what lies in a workspace")
	}
}
