package shell

// Plan is what may run: a judged tree with a pinned start for each simple command, as
// plain data (P-60). Whoever walks it starts these programs and no others.
type Plan struct {
	Root *Stmt
	// Starts are the simple commands by Stmt.Call. In the script of a shell that was looked
	// through, calls are numbered anew: they are in Start.Shell.
	Starts []Start
	Dir    string // where it begins, all links resolved
}

// Start is one simple command of a plan. Exactly one of Builtin, Shell and Path is set.
type Start struct {
	Segment int    // index in the decision's segments
	Builtin string // one of P-23's, or "command -v"
	Shell   *Plan  // text of sh -c, walked in the shell's place (P-34)
	Path    string // what to start
	Real    string
	ID      FileID // of Path; checked again before the start

	// Argv are the words. The walker expands those that are not literal (P-24); none may
	// be when Literal is set.
	Argv    []Word
	Literal bool
	// Inner are the programs that wrappers start, outermost first: their path goes in
	// place of the word (P-34).
	Inner   []InnerStart
	Assigns []Assign
	Redirs  []Redir
	// Dir is the real directory it was judged for; "" = it does not matter for what is
	// started. A start in another directory is refused.
	Dir string
}

// InnerStart is a program started by a wrapper.
type InnerStart struct {
	Arg  int // index in Argv
	Path string
	Real string
	ID   FileID
}

// FileID tells one version of one file from every other. A start checks it again (P-60).
type FileID struct {
	Dev     uint64 `json:"dev"`
	Ino     uint64 `json:"ino"`
	Size    int64  `json:"size"`
	MtimeNs int64  `json:"mtimeNs"`
	CtimeNs int64  `json:"ctimeNs"`
}
