package policy

import (
	"strings"

	"openclaw/internal/shell"
)

// SkillProgram is a program that a skill declares, as this machine found it when the list
// was taken (P-36).
type SkillProgram struct {
	Name  string // as a command names it
	Skill string // where it is declared, for people
	File  *File  // what PATH found then; nil = nothing
	// Pinned asks for the same version of the file, where its owner and mode do not show
	// who can change it.
	Pinned bool
	Why    string // why it does not count on this machine, "" = nothing is against it
}

// Skills are the programs of the known skills, compiled. They are not changed once made and
// may be used by many at once; make them again when the list is taken again.
type Skills struct {
	programs map[string]*SkillProgram
	useless  []string
}

// CompileSkills reads the list. A program that can never count is kept out and reported by
// Useless; the first of two with one name stands.
func CompileSkills(list []SkillProgram) *Skills {
	k := &Skills{programs: make(map[string]*SkillProgram, len(list))}
	for i := range list {
		p := list[i]
		if k.programs[p.Name] != nil {
			continue
		}
		k.programs[p.Name] = &p
		switch {
		case p.Why != "":
		case p.File == nil:
			p.Why = "it was not found when the list of skills was taken"
		default:
			n, applet := namesOf(p.Name, p.File)
			p.Why = neverSkill(n, applet, []shell.Word{{Text: p.Name, Lit: true}})
		}
		if p.Why != "" {
			k.useless = append(k.useless, p.Name+" ("+p.Skill+"): "+p.Why)
		}
	}
	return k
}

// Useless lists the declared programs that do not count, each with the reason.
func (k *Skills) Useless() []string {
	if k == nil {
		return nil
	}
	return k.useless
}

// foreignCode are package managers: most of what they do runs code that a package brings.
const foreignCode = " npm pnpm yarn corepack uv pip pipx poetry conda mamba gem bundle composer cargo brew "

// neverSkill says why a program is none that a skill can vouch for, however it was declared:
// it would run other programs or code (P-36). Names count in lower case too, since some file
// systems do not tell the two apart.
func neverSkill(n names, applet bool, words []shell.Word) string {
	for _, name := range n {
		n = append(n[:len(n):len(n)], strings.ToLower(name))
	}
	runner := func(name string) bool { kind, _ := shell.PackageRunner(name, words); return kind != shell.NoRunner }
	carrier := func(name string) bool { return shell.Carrier(name, words).Why != "" }
	switch {
	case n.any(shell.IsAnyShell):
		return "it is a shell"
	case n.any(shell.IsInterpreter):
		return "it is an interpreter"
	case n.any(shell.IsWrapper):
		return "it starts the command that its arguments name"
	case applet || n.any(shell.IsMulticall):
		return "its file holds many programs"
	case n.any(carrier):
		return "it starts another program that its arguments name"
	case n.any(runner) || n.any(func(name string) bool { return inList(foreignCode, strings.TrimRight(name, "0123456789.-")) }):
		return "it runs code of packages"
	}
	return ""
}

// skill judges a use of a program that a skill declares. When it is one by name but does not
// count, why continues the sentence that says that it is on no list.
func (s *segment) skill(n names, words []shell.Word, file *File, applet bool) (ok bool, why string) {
	if !s.j.in.Layers.Host.AutoAllowSkills || s.j.in.Rules.Skills == nil {
		return false, ""
	}
	p := s.j.in.Rules.Skills.programs[baseName(words[0].Text)]
	if p == nil {
		return false, ""
	}
	if why = s.againstSkill(p, n, words, file, applet); why != "" {
		return false, "; a skill declares " + p.Name + ", but " + why
	}
	s.satisfy(BySkill, "P-36", "the skill "+p.Skill+" declares it")
	return true, ""
}

// againstSkill says why a use is not the program that the skill means. Everything is looked
// at again, however it was when the list was taken.
func (s *segment) againstSkill(p *SkillProgram, n names, words []shell.Word, file *File, applet bool) string {
	switch {
	case words[0].Text != p.Name:
		return "only as it is found in PATH, by its bare name"
	case p.Why != "":
		return p.Why
	case file.Path != p.File.Path || file.Real != p.File.Real:
		return "when the list of skills was taken that was " + p.File.Real
	case p.Pinned && file.ID != p.File.ID:
		return "the file was changed since the list of skills was taken"
	case s.isOwn(n):
		return "openclaw itself is never allowed by a list"
	case file.Loose != "":
		return "others can change it (" + file.Loose + ")"
	}
	if why := neverSkill(n, applet, words); why != "" {
		return why
	}
	return s.j.m.Changeable(file.Path)
}
