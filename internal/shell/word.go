package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// words reads one word of the source, which brace expansion may turn into several. ok is
// false when it was not understood; the remark has been made then.
func (r *reader) words(dst []Word, w *syntax.Word) (_ []Word, ok bool) {
	if !hasBrace(w) {
		word, ok := r.word(w)
		return append(dst, word), ok
	}
	return r.braces(dst, w)
}

// braces reads a word with a brace in it.
func (r *reader) braces(dst []Word, w *syntax.Word) (_ []Word, ok bool) {
	if text := r.source(r.span(w)); len(text) > maxBig || strings.Count(text, "{") > maxBrace {
		r.remark(r.span(w), "brace expansion", fmt.Sprintf("is longer than %d bytes or has more than %d braces", maxBig, maxBrace), "P-26")
		return append(dst, Word{Span: r.span(w), Text: text}), false
	}
	if nestedRange(w) {
		r.remark(r.span(w), "brace expansion", "is nested and has .., which the parser and bash read in different ways", "P-20")
		return append(dst, Word{Span: r.span(w), Text: r.source(r.span(w))}), false
	}
	split := &syntax.Word{Parts: w.Parts} // it is changed, and w is still needed for its place
	if !syntax.SplitBraces(split) {
		word, ok := r.word(w)
		return append(dst, word), ok
	}
	if besideShortName(w) {
		r.remark(r.span(w), "brace expansion", "stands beside $NAME, whose name bash makes longer by it", "P-20")
		return append(dst, Word{Span: r.span(w), Text: r.source(r.span(w))}), false
	}
	if r.plain {
		r.remark(r.span(w), "brace expansion", "is not known to the shell named here", "P-34")
		return append(dst, Word{Span: r.span(w), Text: r.source(r.span(w))}), false
	}
	span := r.span(w)
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(dst) >= maxWords {
			r.remark(span, "brace expansion", fmt.Sprintf("makes more than %d words", maxWords), "P-26")
			return dst, false
		}
		word, ok := r.word(one)
		if !ok {
			return dst, false
		}
		if word.Lit && word.Text == "" && !word.quoted {
			continue // {a,} makes one word: an empty one that nobody quoted goes away
		}
		// Words out of braces are never literal: P-24 counts braces as an expansion.
		if word.Lit {
			word.Parts, word.Lit = []Part{{PartText, word.Text}}, false
		}
		word.Span, word.Text = span, r.source(span)
		dst = append(dst, word)
	}
	return dst, true
}

// hasBrace says if an unquoted part could be a brace expansion.
func hasBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// besideShortName says if a word with braces has a $NAME without its own braces: bash
// expands braces in the text first, and $X{a,b} becomes $Xa $Xb.
func besideShortName(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		p, ok := part.(*syntax.ParamExp)
		return ok && p.Short
	})
}

// nestedRange says if braces stand within braces in a word with .. in it.
func nestedRange(w *syntax.Word) bool {
	depth, deepest, dots := 0, 0, false
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			continue
		}
		dots = dots || strings.Contains(lit.Value, "..")
		for i := range len(lit.Value) {
			switch lit.Value[i] {
			case '{':
				depth++
				deepest = max(deepest, depth)
			case '}':
				depth = max(depth-1, 0)
			}
		}
	}
	return dots && deepest > 1
}

// word reads one word without brace expansion.
func (r *reader) word(w *syntax.Word) (Word, bool) {
	span := r.span(w)
	if len(w.Parts) == 1 { // by far the most common word: no quotes, no expansion
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, "\\*?[~$!") {
			return Word{Span: span, Text: lit.Value, Lit: true}, true
		}
		if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
			return Word{Span: span, Text: q.Value, Lit: true, quoted: true}, true
		}
	}
	b := builder{r: r, span: span, lit: true}
	for i, part := range w.Parts {
		if !b.part(w, i, part) {
			return Word{Span: span, Text: r.source(span)}, false
		}
	}
	return b.word(), true
}

// offsets gives the source offset of each byte of a literal word's value, and of its end.
func (r *reader) offsets(w *syntax.Word) []int32 {
	b := builder{r: r, span: r.span(w), lit: true, track: true}
	end := b.span.End
	for i, part := range w.Parts {
		if !b.part(w, i, part) {
			return nil
		}
		switch p := part.(type) {
		case *syntax.Lit:
			end = int(p.ValueEnd.Offset())
		case *syntax.SglQuoted:
			end = int(p.Right.Offset())
		case *syntax.DblQuoted:
			end = int(p.Right.Offset())
		}
	}
	return append(b.offs, int32(end))
}

// builder puts a word together.
type builder struct {
	r      *reader
	span   Span
	parts  []Part
	cur    []byte // of the part under way
	kind   PartKind
	lit    bool // no expansion so far
	quoted bool
	glob   bool   // there was a pattern: unquoted text behind it may belong to it, as in [a-z]
	seen   []byte // unquoted text so far, to tell NAME=~ apart

	track bool // collect offs
	offs  []int32
}

func (b *builder) word() Word {
	if b.lit {
		return Word{Span: b.span, Text: string(b.cur), Lit: true, quoted: b.quoted}
	}
	b.flush()
	return Word{Span: b.span, Text: b.r.source(b.span), Parts: b.parts, quoted: b.quoted}
}

func (b *builder) flush() {
	if b.kind != "" {
		b.parts = append(b.parts, Part{b.kind, string(b.cur)})
	}
	b.cur, b.kind = nil, ""
}

// put adds text; at is its source offset.
func (b *builder) put(kind PartKind, at int, text ...byte) {
	if b.kind != kind {
		if !b.lit || kind != PartText {
			b.flush()
		}
		b.kind = kind
	}
	if kind != PartText {
		b.lit, b.glob = false, true
	}
	b.cur = append(b.cur, text...)
	if b.track {
		for range text {
			b.offs = append(b.offs, int32(at))
		}
	}
}

// name adds a part that is a whole by itself: a parameter or the home directory.
func (b *builder) name(kind PartKind, name string) {
	b.flush()
	b.lit = false
	b.parts = append(b.parts, Part{kind, name})
}

func (b *builder) remark(node syntax.Node, what, why, rule string) bool {
	span := b.span
	if node != nil {
		if s := b.r.span(node); s.Start < s.End {
			span = s
		}
	}
	b.r.remark(span, what, why, rule)
	return false
}

func (b *builder) part(w *syntax.Word, i int, part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		return b.plain(w, i, p)
	case *syntax.SglQuoted:
		return b.single(p)
	case *syntax.DblQuoted:
		return b.double(p)
	case *syntax.ParamExp:
		return b.param(p, PartParam)
	}
	what, why := describe(part)
	return b.remark(part, what, why, "P-22")
}

func (b *builder) single(p *syntax.SglQuoted) bool {
	b.quoted = true
	start := int(p.Left.Offset())
	if !p.Dollar {
		b.put(PartText, 0) // '' is an empty word, not none
		for i := range len(p.Value) {
			b.put(PartText, start+1+i, p.Value[i])
		}
		return true
	}
	value, offsets, why := ansiC(p.Value)
	if b.r.plain {
		why = "are not known to the shell named here"
	}
	if why != "" {
		return b.remark(p, "ANSI-C quotes", why, "P-21")
	}
	b.put(PartText, 0)
	for i, c := range value {
		b.put(PartText, start+2+int(offsets[i]), c)
	}
	return true
}

func (b *builder) double(p *syntax.DblQuoted) bool {
	b.quoted = true
	if p.Dollar {
		return b.remark(p, "translated string", "$\"...\" is replaced by what a message file says", "P-22")
	}
	b.put(PartText, 0)
	for i, part := range p.Parts {
		switch q := part.(type) {
		case *syntax.Lit:
			if !b.inDouble(q, i+1 == len(p.Parts)) {
				return false
			}
		case *syntax.ParamExp:
			if !b.param(q, PartQuote) {
				return false
			}
		default:
			what, why := describe(part)
			return b.remark(part, what, why, "P-22")
		}
	}
	return true
}

// inDouble reads literal text between double quotes: only some backslashes go away.
func (b *builder) inDouble(p *syntax.Lit, last bool) bool {
	v, start := p.Value, int(p.ValuePos.Offset())
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c == '\\' && i+1 < len(v) && v[i+1] == '\n' {
			i++
			continue
		}
		if c == '\\' && i+1 < len(v) && strings.IndexByte("$`\"\\", v[i+1]) >= 0 {
			i++
			b.put(PartText, start+i-1, v[i])
			continue
		}
		if c == '$' && expands(v[i+1:], last) {
			return b.remark(p, "dollar", "bash may read an expansion here", "P-20")
		}
		b.put(PartText, start+i, c)
	}
	return true
}

// plain reads unquoted text.
func (b *builder) plain(w *syntax.Word, i int, p *syntax.Lit) bool {
	v, start := p.Value, int(p.ValuePos.Offset())
	for k := 0; k < len(v); k++ {
		c := v[k]
		switch c {
		case '\\':
			if k++; k == len(v) {
				return b.remark(p, "backslash", "has nothing behind it", "P-20")
			}
			if v[k] == '\n' { // the parser leaves some continued lines to us
				continue
			}
			b.quoted = true
			b.put(PartText, start+k-1, v[k])
			continue
		case '~':
			done, ok := b.tilde(w, i, k, p)
			if !ok {
				return false
			}
			if done {
				continue
			}
		case '$':
			if expands(v[k+1:], i+1 == len(w.Parts)) {
				return b.remark(p, "dollar", "bash may read an expansion here", "P-20")
			}
		case '!':
			if i == 0 && k == 0 && len(v) > 1 && v[1] != '=' {
				return b.remark(p, "history expansion", "an interactive shell replaces it", "P-22")
			}
		case '*', '?':
			b.put(PartGlob, start+k, c)
			continue
		case '[':
			if closesBracket(w, i, v[k+1:]) {
				b.put(PartGlob, start+k, c)
				continue
			}
		}
		kind := PartText
		if b.glob {
			kind = PartGlob
		}
		b.put(kind, start+k, c)
		b.seen = append(b.seen, c)
	}
	return true
}

// tilde reads an unquoted ~ of part i at v[k]. done says that it has been dealt with.
func (b *builder) tilde(w *syntax.Word, i, k int, p *syntax.Lit) (done, ok bool) {
	v := p.Value
	if i == 0 && k == 0 {
		if len(v) > 1 && v[1] == '/' || len(v) == 1 && len(w.Parts) == 1 {
			b.name(PartTilde, "")
			return true, true
		}
		return false, b.remark(p, "tilde", "names a directory that only the shell knows", "P-24")
	}
	if k > 0 && (v[k-1] == '=' || v[k-1] == ':') || k == 0 {
		if name, _, found := strings.Cut(string(b.seen), "="); found && validName(strings.TrimSuffix(name, "+")) {
			return false, b.remark(p, "tilde", "bash expands it in a word that looks like an assignment", "P-20")
		}
	}
	return false, true
}

// closesBracket says if a ] follows, so that [ begins a pattern.
func closesBracket(w *syntax.Word, i int, rest string) bool {
	if strings.IndexByte(rest, ']') >= 0 {
		return true
	}
	return i+1 < len(w.Parts) // whatever comes may hold one
}

// expands says if bash would read a $ in front of the text as an expansion. last says that
// nothing stands behind the text: a line that is continued splits it without a trace.
func expands(rest string, last bool) bool {
	if rest == "" {
		return !last
	}
	c := rest[0]
	return isNameByte(c) || strings.IndexByte("@*#?$!-({['\"", c) >= 0
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// validName says if s is a variable's name.
func validName(s string) bool {
	if s == "" || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}
