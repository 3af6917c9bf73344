package policy

import "openclaw/internal/shell"

// Segment is one simple command in a Decision (P-12).
type Segment struct {
	Text         string     `json:"text"`
	Span         shell.Span `json:"span"`
	Argv         []string   `json:"argv"`    // words; source text for those that are not literal
	Program      string     `json:"program"` // the word that names the program which is judged
	ResolvedPath string     `json:"resolvedPath"`
	RealPath     string     `json:"realPath"`
	SatisfiedBy  *Satisfier `json:"satisfiedBy"` // nil = a miss
	Entry        *EntryRef  `json:"entry"`       // nil when no entry matched
	Rule         string     `json:"rule"`
	Why          string     `json:"why"`
	Hint         string     `json:"hint,omitempty"`
	Inline       string     `json:"inline,omitempty"` // code on the command line, under strictInlineEval (P-40)

	again     string // what stands around the words and is a miss whatever the lists say
	alwaysWhy string // why allow-always may not store it; "" = it may
	args      []shell.Word
	file      *File
	dir       string
}

// Satisfier is what satisfied a segment.
type Satisfier string

// The ways to be satisfied (P-12).
const (
	ByAllowlist Satisfier = "allowlist"
	BySafeBin   Satisfier = "safeBin"
	ByBuiltin   Satisfier = "builtin"
	BySkill     Satisfier = "skill"
)

// EntryRef names the entry that matched.
type EntryRef struct {
	ID         string `json:"id,omitempty"`
	Pattern    string `json:"pattern"`
	ArgPattern string `json:"argPattern,omitempty"`
	Source     string `json:"source,omitempty"`
	Agent      string `json:"agent,omitempty"` // whose list it stands in; "*" = everybody's
}
