package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command. One whose words are not all understood still becomes a
// Call, for explanations; the remarks keep the text from being allowed.
func (r *reader) call(c *syntax.CallExpr, in state) (*Stmt, result) {
	if *r.budget--; *r.budget < 0 {
		if !r.full { // once for each text: what is left out must leave a remark
			r.full = true
			r.remark(r.span(c), "text", fmt.Sprintf("has more than %d commands", MaxCalls), "P-26")
		}
		return nil, same(Dir{Unknown: "the text is too long"})
	}
	if len(c.Args) == 0 {
		r.remark(r.span(c), "assignment", "stands alone and changes the shell's variables", "P-22")
		r.hide(c)
		return nil, same(in.dir)
	}
	call := &Call{Span: r.span(c), Dir: in.dir, Piped: in.piped, Strict: in.strict}
	for _, a := range c.Assigns {
		r.assign(call, a)
	}
	call.Words = make([]Word, 0, len(c.Args))
	plain := true // no word became several
	for _, arg := range c.Args {
		before := len(call.Words)
		var ok bool
		call.Words, ok = r.words(call.Words, arg)
		if !ok {
			r.hide(arg)
		}
		plain = plain && len(call.Words) == before+1
	}
	if len(call.Words) == 0 {
		r.remark(call.Span, "word", "expands to nothing", "P-20")
		return nil, same(in.dir)
	}
	if plain {
		r.innerText(call, c.Args)
	}
	res := r.cd(call, in)
	r.place(call)
	r.script.Calls = append(r.script.Calls, call)
	out := &Stmt{Kind: KindCall, Span: call.Span, Call: len(r.script.Calls) - 1}
	return out, res
}

// place moves all spans of a call into the top text.
func (r *reader) place(call *Call) {
	if r.where == nil {
		return
	}
	call.Span = r.where(call.Span)
	for i := range call.Words {
		call.Words[i].Span = r.where(call.Words[i].Span)
	}
	for i := range call.Assigns {
		call.Assigns[i].Span = r.where(call.Assigns[i].Span)
	}
}

// assign reads NAME=value in front of a command; what is allowed there is policy's table.
func (r *reader) assign(call *Call, a *syntax.Assign) {
	span := r.span(a)
	if a.Name == nil || a.Naked || a.Append || a.Index != nil || a.Array != nil {
		r.remark(span, "assignment", "is more than NAME=value", "P-22")
		r.hide(a)
		return
	}
	out := Assign{Name: a.Name.Value, Span: span}
	if a.Value != nil {
		w, ok := r.word(a.Value)
		switch {
		case !ok:
			r.hide(a.Value)
			return
		case w.Lit:
			out.Value = w.Text
		case len(w.Parts) == 1 && w.Parts[0].Kind == PartGlob: // patterns mean nothing in a value
			out.Value = w.Parts[0].Text
		default:
			r.remark(span, "assignment", "has a value that is not literal", "P-22")
			return
		}
		if unquotedTilde(a.Value) {
			r.remark(span, "assignment", "has a tilde that bash expands", "P-22")
			return
		}
	}
	call.Assigns = append(call.Assigns, out)
}

// unquotedTilde says if an unquoted part has one: bash expands it behind = and every colon.
func unquotedTilde(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '~') >= 0 {
			return true
		}
	}
	return false
}

// cd follows the directory (P-23): only a cd to one literal directory is followed.
func (r *reader) cd(call *Call, in state) result {
	name := &call.Words[0]
	if !name.Lit {
		return same(in.dir)
	}
	switch name.Text {
	case "pushd", "popd":
		return same(Dir{Unknown: name.Text + " before it changed the directory"})
	case "cd":
	default:
		return same(in.dir)
	}
	args := call.Words[1:]
	if len(args) > 0 && args[0].Lit && args[0].Text == "--" {
		args = args[1:]
	}
	switch {
	case in.dir.Unknown != "":
		return same(in.dir)
	case len(args) != 1 || !args[0].Lit || args[0].Text == "" || args[0].Text[0] == '-' || len(call.Assigns) > 0:
		return same(Dir{Unknown: "the cd before it is not to a literal directory"})
	case strings.IndexByte(args[0].Text, 0) >= 0 || len(in.dir.Steps) >= 64:
		return same(Dir{Unknown: "there are too many cd before it"})
	}
	steps := append(in.dir.Steps[:len(in.dir.Steps):len(in.dir.Steps)], args[0].Text)
	return same(Dir{Steps: steps})
}

// innerText analyses the text behind a shell's -c, where the text is walked in the shell's
// place (P-34).
func (r *reader) innerText(call *Call, args []*syntax.Word) {
	if !call.Words[0].Lit || !IsShell(base(call.Words[0].Text)) {
		return
	}
	at, why := shellText(call.Words)
	switch {
	case at < 0:
		call.InnerWhy = why
		return
	case r.depth+1 >= maxShell:
		call.InnerWhy = fmt.Sprintf("there are more than %d shells within each other", maxShell)
		return
	}
	word := call.Words[at]
	word.offsets = r.offsets(args[at])
	where := func(s Span) Span {
		if s.End > len(word.Text) {
			return r.top(word.Span)
		}
		return r.top(word.place(s.Start, s.End))
	}
	call.Inner = &Script{Text: word.Text}
	analyze(call.Inner, where, r.budget, r.depth+1, word.Text, state{dir: call.Dir, piped: call.Piped, strict: call.Strict, plain: !bashLike(base(call.Words[0].Text))})
}

// base is the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// hide collects the simple commands inside of something that was not understood: nothing
// is allowed because of them, but inline code in them is found (P-40).
func (r *reader) hide(n syntax.Node) {
	scratch := &reader{script: &Script{Text: r.text}, text: r.text, where: r.where, budget: r.budget, depth: r.depth}
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		if *r.budget--; *r.budget < 0 {
			return false
		}
		call := &Call{Span: r.span(c), Dir: Dir{Unknown: "it is inside of a construct that is not understood"}, Piped: true}
		for _, a := range c.Assigns {
			if a.Name != nil {
				call.Assigns = append(call.Assigns, Assign{Name: a.Name.Value, Span: r.span(a)})
			}
		}
		for _, arg := range c.Args {
			call.Words, _ = scratch.words(call.Words, arg)
		}
		if len(call.Words) > 0 {
			if call.Words[0].Lit && IsShell(base(call.Words[0].Text)) && len(call.Words) == len(c.Args) {
				scratch.innerText(call, c.Args)
			}
			r.place(call)
			r.script.Hidden = append(r.script.Hidden, call)
		}
		return true
	})
}
