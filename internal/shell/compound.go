package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// compound reads if, while, until and for. Their words must all be literal (P-22). A cd in
// them makes the directory unknown inside and behind, since nobody can tell how often it
// ran (P-23).
func (r *reader) compound(c syntax.Command, in state) (*Stmt, result) {
	in.strict = true
	after := in.dir
	if hasCd(c) {
		in.dir = Dir{Unknown: "there is a cd in this loop or conditional"}
		after = Dir{Unknown: "a loop or conditional before it has a cd"}
	}
	var out *Stmt
	switch c := c.(type) {
	case *syntax.IfClause:
		out = r.ifClause(c, in)
	case *syntax.WhileClause:
		kind := KindWhile
		if c.Until {
			kind = KindUntil
		}
		out = r.node(kind, c, r.list(c.Cond, in), r.list(c.Do, in))
	case *syntax.ForClause:
		out = r.forClause(c, in)
	}
	return out, same(after)
}

// list makes one statement of several.
func (r *reader) list(list []*syntax.Stmt, in state) *Stmt {
	kids, _ := r.stmts(list, in)
	out := &Stmt{Kind: KindSeq, Kids: kids, Call: -1}
	if len(list) > 0 {
		first, last := r.span(list[0]), r.span(list[len(list)-1])
		out.Span = r.top(Span{first.Start, last.End})
	}
	return out
}

func (r *reader) ifClause(c *syntax.IfClause, in state) *Stmt {
	out := r.node(KindIf, c, r.list(c.Cond, in), r.list(c.Then, in))
	switch {
	case c.Else == nil:
	case len(c.Else.Cond) == 0:
		out.Kids = append(out.Kids, r.list(c.Else.Then, in))
	default:
		out.Kids = append(out.Kids, r.ifClause(c.Else, in))
	}
	return out
}

func (r *reader) forClause(c *syntax.ForClause, in state) *Stmt {
	loop, ok := c.Loop.(*syntax.WordIter)
	switch {
	case c.Select:
		r.remark(r.span(c), "select", "asks a person on the terminal", "P-22")
	case !ok:
		r.remark(r.span(c), "arithmetic loop", "is computed when the command runs", "P-22")
	case !loop.InPos.IsValid():
		r.remark(r.span(c), "for", "goes through the shell's own arguments", "P-22")
	case c.Braces:
		r.remark(r.span(c), "for", "uses an old form with braces", "P-20")
	case !harmlessLoopName(loop.Name.Value):
		r.remark(r.span(loop.Name), "loop variable", "may be one that programs read; use a plain lower-case name", "P-22")
	default:
		return r.wordLoop(c, loop, in)
	}
	r.hide(c)
	return nil
}

func (r *reader) wordLoop(c *syntax.ForClause, loop *syntax.WordIter, in state) *Stmt {
	out := r.node(KindFor, c)
	out.Var = loop.Name.Value
	for _, item := range loop.Items {
		first := len(out.Values)
		var ok bool
		if out.Values, ok = r.words(out.Values, item); !ok {
			continue
		}
		for i := first; i < len(out.Values); i++ {
			if !out.Values[i].Lit {
				r.remark(r.span(item), "loop word", "is not literal; every word in a loop must be", "P-22")
				break
			}
		}
	}
	out.Kids = []*Stmt{r.list(c.Do, in)}
	return out
}

// harmlessLoopName says if setting the variable changes no program: bash hands a variable
// on that came with the environment.
func harmlessLoopName(name string) bool {
	return validName(name) && name != "_" && strings.ToLower(name) == name && !strings.Contains(name, "proxy")
}

// hasCd looks for a cd anywhere below, subshells too: too many is safe.
func hasCd(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return !found
		}
		switch name := roughText(call.Args[0]); name {
		case "cd", "pushd", "popd", "":
			found = true
		}
		return !found
	})
	return found
}

// roughText is a word's text without quotes, "" if it is not literal. It is for looking
// where nothing is decided.
func roughText(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, "\\", ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// describeCommand names a command that is not understood.
func describeCommand(c syntax.Command) (what, why string) {
	switch c := c.(type) {
	case *syntax.FuncDecl:
		return "function definition", "gives a name another meaning"
	case *syntax.CaseClause:
		return "case", "is not understood; write the commands out"
	case *syntax.ArithmCmd:
		return "arithmetic command", "is computed when the command runs and may run others"
	case *syntax.TestClause:
		return "[[ ]]", "may compute and run what its operands hold; use [ ]"
	case *syntax.DeclClause:
		return "declaration", "changes the shell's variables (" + c.Variant.Value + ")"
	case *syntax.LetClause:
		return "let", "is computed when the command runs and may run others"
	case *syntax.CoprocClause:
		return "coproc", "runs a command beside the others"
	}
	return "construct", "is not understood"
}
