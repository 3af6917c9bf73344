package policy

import "openclaw/internal/shell"

// Plan is what may run: the judged tree with a pinned start for each simple command, as
// plain data (P-60). It stands in a Decision when every part is satisfied.
type Plan struct {
	Root *shell.Stmt `json:"root"`
	// Starts are the simple commands by Stmt.Call. In the Script of a shell that was looked
	// through, calls are numbered anew: they are in Start.Shell.
	Starts []Start `json:"starts"`
	Dir    string  `json:"dir"` // where it begins, all links resolved
}

// Start is one simple command of a plan. Exactly one of Builtin, Shell and Path is set.
type Start struct {
	Segment int    `json:"segment"`           // index in Decision.Segments
	Builtin string `json:"builtin,omitempty"` // one of P-23's, or "command -v"
	Shell   *Plan  `json:"shell,omitempty"`   // text of sh -c, walked in the shell's place (P-34)
	Path    string `json:"path,omitempty"`    // what to start
	Real    string `json:"real,omitempty"`
	ID      FileID `json:"id"` // of Path; checked again before the start

	// Argv are the words. The walker expands those that are not literal (P-24); none is
	// when Literal is set.
	Argv    []shell.Word `json:"argv"`
	Literal bool         `json:"literal,omitempty"`
	// Inner are the programs that wrappers start, outermost first: their path goes in
	// place of the word (P-34).
	Inner   []InnerStart   `json:"inner,omitempty"`
	Assigns []shell.Assign `json:"assigns,omitempty"`
	Redirs  []shell.Redir  `json:"redirs,omitempty"`
	// Dir is the real directory it was judged for; "" = it does not matter for what is
	// started. A start in another directory is refused.
	Dir string `json:"dir,omitempty"`
}

// InnerStart is a program started by a wrapper.
type InnerStart struct {
	Arg  int    `json:"arg"` // index in Argv
	Path string `json:"path"`
	Real string `json:"real"`
	ID   FileID `json:"id"`
}

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
