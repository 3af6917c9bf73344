package shell

import (
	"errors"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Analyze reads the text (P-20). It always returns a Script; what went wrong is in its
// Remarks. Any text is read in bounded time and memory (P-26).
func Analyze(text string) *Script {
	s := &Script{Text: text}
	budget := MaxCalls
	analyze(s, nil, &budget, 0, text, state{})
	return s
}

// parsers are used again: one holds buffers of some kilobytes.
var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}}

// analyze fills s from text, which is a part of the top text: the value of a word of it
// when depth > 0. where maps text's bytes to the top text, nil = they are the same.
func analyze(s *Script, where func(Span) Span, budget *int, depth int, text string, in state) {
	r := &reader{script: s, text: text, where: where, budget: budget, depth: depth, plain: in.plain}
	if s.Remarks = guard(text); len(s.Remarks) > 0 {
		if where != nil {
			for i := range s.Remarks {
				s.Remarks[i].Span = where(s.Remarks[i].Span)
			}
		}
		return
	}
	p := parsers.Get().(*syntax.Parser)
	file, err := p.Parse(strings.NewReader(text), "")
	parsers.Put(p)
	if err != nil {
		r.remark(r.errorSpan(err), "syntax", errorText(err), "P-20")
		return
	}
	if at := r.longComment(file); at >= 0 {
		r.remark(Span{at, at + 1}, "comment", "ends in a backslash, behind which the parser and bash read on in different ways", "P-20")
		return
	}
	if len(file.Stmts) == 0 {
		r.remark(Span{0, len(text)}, "text", "has no command in it", "P-20")
		return
	}
	root := &Stmt{Kind: KindSeq, Span: r.top(Span{0, len(text)}), Call: -1}
	root.Kids, _ = r.stmts(file.Stmts, in)
	s.Root = root
}

// longComment finds a comment that goes on after its line, which it never does in bash: the
// parser joins lines there. It gives the comment's place, or -1.
func (r *reader) longComment(file *syntax.File) int {
	if strings.IndexByte(r.text, '#') < 0 || !strings.Contains(r.text, "\\\n") {
		return -1
	}
	at := -1
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && strings.IndexByte(c.Text, '\n') >= 0 {
			at = int(c.Hash.Offset())
		}
		return at < 0
	})
	return at
}

// errorSpan is where the parser stopped.
func (r *reader) errorSpan(err error) Span {
	var pe syntax.ParseError
	var le syntax.LangError
	at := len(r.text)
	switch {
	case errors.As(err, &pe):
		at = int(pe.Pos.Offset())
	case errors.As(err, &le):
		at = int(le.Pos.Offset())
	}
	at = min(at, len(r.text))
	return Span{at, min(at+1, len(r.text))}
}

// errorText is the parser's message without its place.
func errorText(err error) string {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return "cannot be read: " + pe.Text
	}
	return "cannot be read: " + err.Error()
}

// reader turns a syntax tree into ours.
type reader struct {
	script *Script
	text   string
	where  func(Span) Span // to the top text
	budget *int            // simple commands still allowed
	depth  int             // shells around the text
	plain  bool            // the text is for a shell that has less than bash (P-34)
	full   bool            // the remark that there are too many commands was made
}

// state is what the place in the text says about a command.
type state struct {
	dir    Dir
	plain  bool // of the text as a whole
	piped  bool
	strict bool
}

// span is a node's place in r.text.
func (r *reader) span(n syntax.Node) Span {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if end > len(r.text) || end < start {
		end = max(start, min(end, len(r.text)))
	}
	return Span{min(start, len(r.text)), min(end, len(r.text))}
}

// top maps a span of r.text to the top text.
func (r *reader) top(s Span) Span {
	if r.where == nil {
		return s
	}
	return r.where(s)
}

func (r *reader) source(s Span) string { return r.text[s.Start:s.End] }

// remark notes something that is not understood; span is in r.text.
func (r *reader) remark(span Span, node, why, rule string) {
	r.script.Remarks = append(r.script.Remarks, Remark{r.top(span), node, why, rule})
}

// stmts reads a list. after is the directory behind it.
func (r *reader) stmts(list []*syntax.Stmt, in state) (out []*Stmt, after Dir) {
	out = make([]*Stmt, 0, len(list))
	for _, s := range list {
		one, res := r.stmt(s, in)
		in.dir = res.after
		if one != nil {
			out = append(out, one)
		}
	}
	return out, in.dir
}

// result is the directory behind a statement: at all, and if it succeeded.
type result struct{ after, success Dir }

func same(d Dir) result { return result{d, d} }

// stmt reads one statement with its redirections. It returns nil when the statement was
// not understood; the remark has been made then.
func (r *reader) stmt(s *syntax.Stmt, in state) (*Stmt, result) {
	if s.Background || s.Coprocess || s.Disown {
		at := int(s.Semicolon.Offset())
		r.remark(Span{at, min(at+1, len(r.text))}, "the &", "is not understood; use the background parameter of the call instead", "P-21")
	}
	redirs := r.redirs(s.Redirs)
	if s.Cmd == nil {
		r.remark(r.span(s), "redirection", "stands without a command", "P-22")
		return nil, same(in.dir)
	}
	out, res := r.command(s.Cmd, in)
	if out == nil {
		return nil, res
	}
	out.Redirs = append(redirs, out.Redirs...)
	if out.Kind == KindCall {
		r.script.Calls[out.Call].Redirs = out.Redirs
	}
	if s.Negated {
		out.Not = true
		if in.dir.Unknown == "" && len(res.after.Steps) != len(in.dir.Steps) {
			res.success.Unknown = "a cd before it had to fail"
		}
	}
	return out, res
}

func (r *reader) command(c syntax.Command, in state) (*Stmt, result) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return r.call(c, in)
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.TimeClause:
		return r.timed(c, in)
	case *syntax.Subshell:
		kids, _ := r.stmts(c.Stmts, in)
		return r.node(KindSubshell, c, kids...), same(in.dir)
	case *syntax.Block:
		kids, after := r.stmts(c.Stmts, in)
		return r.node(KindGroup, c, kids...), same(after)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause:
		return r.compound(c, in)
	}
	what, why := describeCommand(c)
	r.remark(r.span(c), what, why, "P-22")
	r.hide(c)
	return nil, same(Dir{Unknown: "a construct before it was not understood"})
}

func (r *reader) node(kind Kind, n syntax.Node, kids ...*Stmt) *Stmt {
	return &Stmt{Kind: kind, Span: r.top(r.span(n)), Kids: kids, Call: -1}
}

// timed reads the keyword time, which bash knows at the start of a pipeline only.
func (r *reader) timed(c *syntax.TimeClause, in state) (*Stmt, result) {
	if r.plain {
		r.remark(r.span(c), "time", "is a keyword in bash and a program in the shell named here", "P-34")
		return nil, same(in.dir)
	}
	if in.piped || c.Stmt == nil {
		r.remark(r.span(c), "time", "is the keyword at the start of a pipeline only", "P-20")
		return nil, same(in.dir)
	}
	out, res := r.stmt(c.Stmt, in)
	if out == nil {
		return nil, res
	}
	if out.Time != "" || out.Not {
		r.remark(r.span(c), "time", "stands twice or in front of !", "P-20")
		return nil, res
	}
	if out.Time = "time"; c.PosixFormat {
		out.Time = "time -p"
	}
	return out, res
}

func (r *reader) binary(c *syntax.BinaryCmd, in state) (*Stmt, result) {
	switch c.Op {
	case syntax.AndStmt:
		x, left := r.stmt(c.X, in)
		in.dir = left.success
		y, right := r.stmt(c.Y, in)
		res := right
		if moved(left.success, right.after) {
			res.after = Dir{Unknown: "a cd before it may not have run"}
		} else {
			res.after = left.after
		}
		return r.pair(KindAnd, c, x, y), res
	case syntax.OrStmt:
		x, left := r.stmt(c.X, in)
		cd := moved(in.dir, left.after)
		if cd {
			in.dir = Dir{Unknown: "a cd before it has failed"}
		}
		y, right := r.stmt(c.Y, in)
		if cd || moved(in.dir, right.after) {
			return r.pair(KindOr, c, x, y), same(Dir{Unknown: "a cd before it may not have run"})
		}
		return r.pair(KindOr, c, x, y), same(in.dir)
	case syntax.Pipe, syntax.PipeAll:
		return r.pipe(c, in), same(in.dir)
	}
	r.remark(r.span(c), "operator", "is not understood", "P-20")
	return nil, same(Dir{Unknown: "a construct before it was not understood"})
}

func moved(from, to Dir) bool {
	return from.Unknown != to.Unknown || len(from.Steps) != len(to.Steps)
}

func (r *reader) pair(kind Kind, c syntax.Node, x, y *Stmt) *Stmt {
	if x == nil || y == nil {
		return nil
	}
	return r.node(kind, c, x, y)
}

// pipe flattens a | b | c. Each element runs in an environment of its own, so a cd in one
// of them moves nobody else.
func (r *reader) pipe(c *syntax.BinaryCmd, in state) *Stmt {
	var stages []*syntax.Stmt
	var merge []bool
	for at := c; ; {
		if at.Op == syntax.PipeAll && r.plain {
			r.remark(r.span(c), "|&", "is not known to the shell named here", "P-34")
		}
		stages, merge = append(stages, at.Y), append(merge, at.Op == syntax.PipeAll)
		left, ok := at.X.Cmd.(*syntax.BinaryCmd)
		if !ok || at.X.Negated || len(at.X.Redirs) > 0 || left.Op != syntax.Pipe && left.Op != syntax.PipeAll {
			stages = append(stages, at.X)
			break
		}
		at = left
	}
	out := r.node(KindPipe, c)
	ok := true
	for i := len(stages) - 1; i >= 0; i-- {
		if stages[i].Negated {
			r.remark(r.span(stages[i]), "!", "stands inside of a pipeline", "P-20")
		}
		if _, timed := stages[i].Cmd.(*syntax.TimeClause); timed && i == len(stages)-1 {
			r.remark(r.span(stages[i]), "time", "stands inside of a pipeline", "P-20")
		}
		stage := in
		stage.piped = in.piped || i < len(stages)-1
		kid, _ := r.stmt(stages[i], stage)
		ok = ok && kid != nil
		out.Kids = append(out.Kids, kid)
		out.Merge = append(out.Merge, i > 0 && merge[i-1])
	}
	if !ok {
		return nil
	}
	return out
}
