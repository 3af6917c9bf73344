package policy

import (
	"strings"

	"openclaw/internal/shell"
)

// inline notes code on the command line (P-40); the first note stands.
func (s *segment) inline(why string) {
	if seg := s.seg(); seg.Inline == "" {
		seg.Inline = why
	}
	s.j.noteInline(why)
}

// inlineProgram looks for code in a program's arguments, by every name it goes by.
func (s *segment) inlineProgram(n names, words []shell.Word) {
	if why := inlineWhy(n, words); why != "" {
		s.inline(why)
	}
}

// inlineWhy says what code stands in a program's arguments, "" = none (P-40, P-41).
func inlineWhy(n names, words []shell.Word) string {
	for _, name := range n {
		if why, _ := shell.InlineCode(name, words); why != "" {
			return name + ": " + why
		}
		if c := shell.Carrier(name, words); c.Why != "" && c.Code {
			return name + ": " + c.Why
		}
		if why, _ := shell.SedWrites(name, words); why != "" {
			return why
		}
	}
	return ""
}

// inlineAround looks at assignments in front of the command that make programs load code.
func (s *segment) inlineAround() {
	for _, a := range s.call.Assigns {
		if row := findEnvRow(a.Name, false); row != nil && row.class != envCaller {
			s.inline("setting " + a.Name + " " + row.why)
		}
	}
}

// ownVerbs are the commands of openclaw that only look.
const ownVerbs = " version status help --version --help -h completion "

// isOwn says if the program is ours, by name or by file.
func (s *segment) isOwn(n names) bool {
	return n.any(func(name string) bool { return strings.HasPrefix(name, "openclaw") }) || s.j.in.Self != "" && s.seg().file.Real == s.j.in.Self
}

// own keeps our own program from being allowed by itself where it changes what protects the
// operator.
func (s *segment) own(n names, words []shell.Word) bool {
	if !s.isOwn(n) {
		return false
	}
	if len(words) > 1 && words[1].Lit && inList(ownVerbs, words[1].Text) {
		return false
	}
	s.miss("X-15", "openclaw itself may change what protects the operator, so it is never allowed by a list", "run it yourself, outside of the agent")
	return true
}
