package json5

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 100

// Parse reads one JSON5 value. The tree refers to src, which must not be changed
// afterwards. An error is always an *Error.
func Parse(src []byte) (*Node, error) {
	p := &parser{lexer: lexer{src: src, pos: bomLen(src)}, doc: &document{src: src}}
	root, err := p.document()
	if err != nil {
		var f *fault
		if !errors.As(err, &f) {
			return nil, err
		}
		line, column := position(src, f.offset)
		return nil, &Error{
			Offset: f.offset, Line: line, Column: column,
			Path: p.pathText(), Expected: f.expected, Found: f.found,
		}
	}
	p.doc.comments = p.lexer.comments
	return root, nil
}

type parser struct {
	lexer lexer
	tok   token  // the token not yet consumed
	path  []step // where the parser is, for error texts
	doc   *document
}

// step is one level of a key path: a key, or an index when isIndex.
type step struct {
	key     string
	index   int
	isIndex bool
}

func (p *parser) pathText() string {
	text := ""
	for _, s := range p.path {
		if s.isIndex {
			text = PathIndex(text, s.index)
		} else {
			text = PathKey(text, s.key)
		}
	}
	return text
}

func (p *parser) document() (*Node, error) {
	src := p.lexer.src
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, p.lexer.fail(i, "UTF-8 text")
		}
		i += size
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.unexpected("nothing after the value")
	}
	return root, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lexer.next()
	return err
}

func (p *parser) unexpected(expected string) error {
	found := describe(p.lexer.src, p.tok.start)
	switch p.tok.kind {
	case tokenString:
		found = "a string"
	case tokenNumber, tokenWord:
		found = fmt.Sprintf("%q", clip(p.lexer.src[p.tok.start:p.tok.end]))
	}
	return &fault{offset: p.tok.start, expected: expected, found: found}
}

// clip keeps error texts short. It cuts between characters.
func clip(b []byte) string {
	const most = 40
	n := 0
	for i := range string(b) {
		if n == most {
			return string(b[:i]) + "..."
		}
		n++
	}
	return string(b)
}

func (p *parser) is(punct byte) bool {
	return p.tok.kind == tokenPunct && p.tok.punct == punct
}

// value reads the value that begins at the current token.
func (p *parser) value(depth int) (*Node, error) {
	n := &Node{Start: p.tok.start, End: p.tok.end, Comma: -1, doc: p.doc}
	switch {
	case p.is('{') || p.is('['):
		if depth == MaxDepth {
			return nil, p.unexpected(fmt.Sprintf("at most %d levels of nesting", MaxDepth))
		}
		if p.is('{') {
			return n, p.object(n, depth)
		}
		return n, p.array(n, depth)
	case p.tok.kind == tokenString:
		n.Kind, n.text = String, p.tok.text
	case p.tok.kind == tokenNumber:
		n.Kind, n.text = Number, p.tok.text
	case p.tok.kind == tokenWord && p.literal(n):
	default:
		return nil, p.unexpected("a value")
	}
	return n, p.advance()
}

// literal recognises the words that are values. An escape in them is not allowed, so
// the source is compared.
func (p *parser) literal(n *Node) bool {
	n.text = string(p.lexer.src[p.tok.start:p.tok.end])
	switch n.text {
	case "null":
		n.Kind = Null
	case "true", "false":
		n.Kind = Bool
	case "NaN", "Infinity":
		n.Kind = Number
	default:
		return false
	}
	return true
}

func (p *parser) array(n *Node, depth int) error {
	n.Kind = Array
	if err := p.advance(); err != nil {
		return err
	}
	for !p.is(']') {
		p.path = append(p.path, step{index: len(n.Elements), isIndex: true})
		element, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
		n.Elements = append(n.Elements, element)
		if err := p.separator(element, ']'); err != nil {
			return err
		}
	}
	n.End = p.tok.end
	return p.advance()
}

func (p *parser) object(n *Node, depth int) error {
	n.Kind = Object
	if err := p.advance(); err != nil {
		return err
	}
	first := map[string]int{} // key -> offset, to name the earlier one
	for !p.is('}') {
		m, err := p.key()
		if err != nil {
			return err
		}
		p.path = append(p.path, step{key: m.Key})
		if offset, twice := first[m.Key]; twice {
			line, _ := position(p.lexer.src, offset)
			return &fault{m.KeyStart, "each key once", fmt.Sprintf("%q again (first on line %d)", clip([]byte(m.Key)), line)}
		}
		first[m.Key] = m.KeyStart
		if !p.is(':') {
			return p.unexpected(`":" after the key`)
		}
		if err := p.advance(); err != nil {
			return err
		}
		if m.Value, err = p.value(depth + 1); err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
		n.Members = append(n.Members, m)
		if err := p.separator(m.Value, '}'); err != nil {
			return err
		}
	}
	n.End = p.tok.end
	return p.advance()
}

func (p *parser) key() (*Member, error) {
	if p.tok.kind != tokenString && p.tok.kind != tokenWord {
		return nil, p.unexpected(`a key or "}"`)
	}
	m := &Member{Key: p.tok.text, KeyStart: p.tok.start, KeyEnd: p.tok.end}
	return m, p.advance()
}

// separator takes the comma behind a value, or leaves the closing bracket.
func (p *parser) separator(n *Node, closing byte) error {
	if p.is(closing) {
		return nil
	}
	if !p.is(',') {
		return p.unexpected(fmt.Sprintf(`"," or "%c"`, closing))
	}
	n.Comma = p.tok.start
	return p.advance()
}
