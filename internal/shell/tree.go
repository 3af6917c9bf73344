package shell

// Span is a range of bytes of the text that was analysed, End not included.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Script is one analysed command text. It is plain data and is not changed once made.
type Script struct {
	Text    string
	Root    *Stmt    // nil when nothing could be read
	Calls   []*Call  // the simple commands of Root, in source order
	Remarks []Remark // what was not understood; empty = everything was
	Hidden  []*Call  // simple commands inside of what was not understood (P-40)
}

// Understood says if all of the text was (P-20).
func (s *Script) Understood() bool { return len(s.Remarks) == 0 && s.Root != nil }

// Remark is a part of the text that was not understood.
type Remark struct {
	Span Span   `json:"span"`
	Node string `json:"node"` // what stands there: "command substitution", "redirection"
	Why  string `json:"why"`
	Rule string `json:"rule"`
}

// Kind is what a Stmt is.
type Kind string

// The kinds of statements that are understood (P-21, P-22).
const (
	KindCall     Kind = "call"     // a simple command
	KindPipe     Kind = "pipe"     // Kids run at once, each in an environment of its own
	KindAnd      Kind = "and"      // Kids[1] if Kids[0] succeeded
	KindOr       Kind = "or"       // Kids[1] if Kids[0] failed
	KindSeq      Kind = "seq"      // one after the other; also the text as a whole
	KindGroup    Kind = "group"    // { ...; }
	KindSubshell Kind = "subshell" // ( ... ), and the text of a shell that is looked through
	KindIf       Kind = "if"       // Kids: condition, then, and perhaps else
	KindWhile    Kind = "while"    // Kids: condition, body
	KindUntil    Kind = "until"    // Kids: condition, body
	KindFor      Kind = "for"      // Kids: body, once for each of Values
)

// Stmt is one node of the tree that is walked when the command runs (P-60).
type Stmt struct {
	Kind   Kind    `json:"kind"`
	Span   Span    `json:"span"`
	Not    bool    `json:"not,omitempty"`    // ! before it
	Time   string  `json:"time,omitempty"`   // the keyword: "time" or "time -p"
	Redirs []Redir `json:"redirs,omitempty"` // in order, around the whole node
	Kids   []*Stmt `json:"kids,omitempty"`
	Merge  []bool  `json:"merge,omitempty"`  // of a pipe: the kid's standard error goes along (|&)
	Call   int     `json:"call"`             // of a call: its number in Script.Calls, else -1
	Var    string  `json:"var,omitempty"`    // of a for
	Values []Word  `json:"values,omitempty"` // of a for
}

// Call is a simple command.
type Call struct {
	Span    Span
	Assigns []Assign
	Words   []Word // after brace expansion; never empty
	Redirs  []Redir
	Dir     Dir
	Piped   bool // its standard input is another command's output
	Strict  bool // inside a loop or conditional: every word must be literal (P-22)
	Inner   *Script
	// InnerWhy says why the text of a shell's -c cannot be walked in the shell's place;
	// "" when Inner is set, or when the call runs no text.
	InnerWhy string
}

// Assign is a literal NAME=value in front of a command.
type Assign struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Span  Span   `json:"span"`
}

// Dir is where a command runs, as far as the text says (P-23).
type Dir struct {
	// Steps are the literal directories of the cd commands before it, in order, to be
	// applied to the directory in which the text starts.
	Steps []string
	// Unknown says why the directory cannot be told; "" when Steps say it.
	Unknown string
}

// Redir is one of the redirections that may be permitted (P-22): to or from /dev/null, or
// 2>&1 and 1>&2.
type Redir struct {
	Fd   int  `json:"fd"`
	Null bool `json:"null,omitempty"` // /dev/null, read for 0, written for 1 and 2
	Dup  int  `json:"dup,omitempty"`  // when not Null: the descriptor it becomes a copy of
	Span Span `json:"span"`
}

// PartKind is what a Part of a word is.
type PartKind string

// The kinds of parts.
const (
	PartText  PartKind = "text"  // exactly this text: quoted, escaped or without meaning
	PartGlob  PartKind = "glob"  // unquoted text in which * ? [ are patterns
	PartParam PartKind = "param" // $NAME unquoted: split into words and globbed
	PartQuote PartKind = "quote" // "$NAME": its value as it is
	PartTilde PartKind = "tilde" // ~ at the start: the home directory
)

// Part is a piece of a word. Text is the text or the parameter's name.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text"`
}

// Word is one word after quote removal.
type Word struct {
	Span Span `json:"span"`
	// Text is the word's value when Lit; otherwise only its source, for explanations.
	Text string `json:"text"`
	// Lit: no expansion happens, the value is Text.
	Lit   bool   `json:"lit"`
	Parts []Part `json:"parts,omitempty"` // when not Lit

	quoted  bool    // some part of it was quoted or escaped
	offsets []int32 // source offset of each byte of Text and of its end, nil = not known
}

// MayStartWith says if the word's value, or one of those it is split into, can begin with
// the byte c, which an expansion at its start can always make it do.
func (w *Word) MayStartWith(c byte) bool {
	if w.Lit {
		return w.Text != "" && w.Text[0] == c
	}
	for _, p := range w.Parts {
		if p.Kind == PartParam { // unquoted: a blank in its value begins another word
			return true
		}
	}
	for _, p := range w.Parts {
		switch {
		case p.Kind == PartText && p.Text == "":
		case p.Kind == PartText:
			return p.Text[0] == c
		case p.Kind == PartGlob:
			return p.Text[0] == c || p.Text[0] == '*' || p.Text[0] == '?' || p.Text[0] == '['
		default:
			return true
		}
	}
	return false
}

// place maps a range of the word's value to the source.
func (w *Word) place(start, end int) Span {
	if start < 0 || start > end || end >= len(w.offsets) {
		return w.Span
	}
	from, to := int(w.offsets[start]), int(w.offsets[end])
	return Span{from, max(from, to)}
}
