package cli

import (
	"fmt"
	"strings"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

// explanation is a decision as people read it: the command with marks below it, then each
// part with its reason and the change that would allow it (P-12).
type explanation struct {
	env     *Env
	command string
	d       policy.Decision
}

// The marks below the command.
const (
	markNone = ' '
	markGood = '='
	markMiss = '^'
)

func (x explanation) String() string {
	var b strings.Builder
	d := &x.d
	fmt.Fprintf(&b, "%s by %s: %s\n", x.env.bold(string(d.Outcome)), d.Rule, visible(d.Reason))
	if d.Hint != "" {
		fmt.Fprintf(&b, "change: %s\n", visible(d.Hint))
	}
	e := d.Effective
	fmt.Fprintf(&b, "policy: security=%s (%s), ask=%s (%s), askFallback=%s (%s)\n",
		e.Security.Value, e.Security.Source, e.Ask.Value, e.Ask.Source, e.AskFallback.Value, e.AskFallback.Source)
	if len(d.Segments)+len(d.Remarks) == 0 {
		return b.String()
	}
	b.WriteString("\n")
	x.marked(&b)
	b.WriteString("\n")
	for i := range d.Segments {
		x.segment(&b, &d.Segments[i])
	}
	for i := range d.Remarks {
		r := &d.Remarks[i]
		fmt.Fprintf(&b, "%c %s\n    not understood (%s): %s %s\n", markMiss, x.excerpt(r.Span), r.Rule, r.Node, visible(r.Why))
	}
	return b.String()
}

// marked prints the command line by line, each with a line of marks.
func (x explanation) marked(b *strings.Builder) {
	marks := x.marks()
	start := 0
	for line := range strings.SplitSeq(x.command, "\n") {
		var under strings.Builder
		b.WriteString("  ")
		for i, r := range line {
			shown := visible(string(r))
			b.WriteString(shown)
			under.WriteString(strings.Repeat(string(marks[start+i]), len([]rune(shown))))
		}
		start += len(line) + 1
		b.WriteString("\n")
		if text := strings.TrimRight(under.String(), " "); text != "" {
			b.WriteString("  " + text + "\n")
		}
	}
}

// marks gives each byte of the command its mark. What was not understood marks over what
// was.
func (x explanation) marks() []rune {
	marks := make([]rune, len(x.command)+1)
	for i := range marks {
		marks[i] = markNone
	}
	set := func(s shell.Span, mark rune) {
		for i := max(s.Start, 0); i < s.End && i < len(marks); i++ {
			marks[i] = mark
		}
	}
	for i := range x.d.Segments {
		mark := markGood
		if x.d.Segments[i].SatisfiedBy == nil {
			mark = markMiss
		}
		set(x.d.Segments[i].Span, mark)
	}
	for i := range x.d.Remarks {
		set(x.d.Remarks[i].Span, markMiss)
	}
	return marks
}

func (x explanation) segment(b *strings.Builder, s *policy.Segment) {
	mark, verdict := markMiss, "missed"
	if s.SatisfiedBy != nil {
		mark, verdict = markGood, "satisfied by "+string(*s.SatisfiedBy)
	}
	why := s.Why
	if s.Entry != nil && s.SatisfiedBy != nil {
		why += ": " + strings.TrimSpace(s.Entry.Pattern+" "+s.Entry.ArgPattern)
	}
	fmt.Fprintf(b, "%c %s\n    %s (%s): %s\n", mark, x.excerpt(s.Span), verdict, s.Rule, visible(why))
	if s.Inline != "" {
		fmt.Fprintf(b, "    code on the command line (P-40): %s\n", visible(s.Inline))
	}
	if s.SatisfiedBy == nil && s.Hint != "" {
		fmt.Fprintf(b, "    change: %s\n", visible(s.Hint))
	}
}

// excerpt is a part of the command on one line, its end left out when it is long.
func (x explanation) excerpt(s shell.Span) string {
	const most = 72
	text := []rune(visible(x.command[max(s.Start, 0):min(s.End, len(x.command))]))
	if len(text) > most {
		return string(text[:most]) + " ..."
	}
	return string(text)
}
