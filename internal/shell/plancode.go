package shell

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// planFormat is the first byte of an encoded plan; another one is refused.
const planFormat = 1

// maxPlanDepth bounds the nesting of an encoded plan: statements within each other, and
// the texts of shells. A chain of && is as deep as it has commands, and each level of
// brackets and keywords makes three at most: whatever is judged can be handed on.
const maxPlanDepth = 2*MaxCalls + 3*11*MaxDepth

// ErrPlan says that bytes are no plan of this version.
var ErrPlan = errors.New("the judged plan cannot be read")

// Encode writes the plan so that every byte of its texts arrives; places in the source are
// left out, since only people need them.
func (p *Plan) Encode() []byte {
	e := planEncoder{b: make([]byte, 0, 1<<10)}
	e.b = append(e.b, planFormat)
	e.plan(p)
	return e.b
}

// DecodePlan reads what Encode has written. An error wraps ErrPlan.
func DecodePlan(b []byte) (*Plan, error) {
	if len(b) == 0 || b[0] != planFormat {
		return nil, fmt.Errorf("%w: it has another format", ErrPlan)
	}
	d := planDecoder{b: b[1:]}
	p := d.plan(0)
	if d.bad || len(d.b) > 0 {
		return nil, fmt.Errorf("%w: it is damaged", ErrPlan)
	}
	return p, nil
}

type planEncoder struct{ b []byte }

func (e *planEncoder) number(v int64)    { e.b = binary.AppendVarint(e.b, v) }
func (e *planEncoder) count(n int)       { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *planEncoder) text(s string)     { e.count(len(s)); e.b = append(e.b, s...) }
func (e *planEncoder) flag(v bool)       { e.b = append(e.b, oneIf(v)) }
func (e *planEncoder) unsigned(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func oneIf(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func (e *planEncoder) plan(p *Plan) {
	e.text(p.Dir)
	e.flag(p.Root != nil)
	if p.Root != nil {
		e.stmt(p.Root)
	}
	e.count(len(p.Starts))
	for i := range p.Starts {
		e.start(&p.Starts[i])
	}
}

func (e *planEncoder) stmt(s *Stmt) {
	e.text(string(s.Kind))
	e.flag(s.Not)
	e.text(s.Time)
	e.redirs(s.Redirs)
	e.count(len(s.Kids))
	for _, kid := range s.Kids {
		e.stmt(kid)
	}
	e.count(len(s.Merge))
	for _, m := range s.Merge {
		e.flag(m)
	}
	e.number(int64(s.Call))
	e.text(s.Var)
	e.words(s.Values)
}

func (e *planEncoder) start(s *Start) {
	e.number(int64(s.Segment))
	e.text(s.Builtin)
	e.flag(s.Shell != nil)
	if s.Shell != nil {
		e.plan(s.Shell)
	}
	e.text(s.Path)
	e.text(s.Real)
	e.id(s.ID)
	e.words(s.Argv)
	e.flag(s.Literal)
	e.count(len(s.Inner))
	for _, in := range s.Inner {
		e.number(int64(in.Arg))
		e.text(in.Path)
		e.text(in.Real)
		e.id(in.ID)
	}
	e.count(len(s.Assigns))
	for _, a := range s.Assigns {
		e.text(a.Name)
		e.text(a.Value)
	}
	e.redirs(s.Redirs)
	e.text(s.Dir)
}

func (e *planEncoder) id(f FileID) {
	e.unsigned(f.Dev)
	e.unsigned(f.Ino)
	e.number(f.Size)
	e.number(f.MtimeNs)
	e.number(f.CtimeNs)
}

func (e *planEncoder) redirs(list []Redir) {
	e.count(len(list))
	for _, r := range list {
		e.number(int64(r.Fd))
		e.flag(r.Null)
		e.number(int64(r.Dup))
	}
}

func (e *planEncoder) words(list []Word) {
	e.count(len(list))
	for i := range list {
		w := &list[i]
		e.flag(w.Lit)
		e.text(w.Text)
		e.count(len(w.Parts))
		for _, p := range w.Parts {
			e.text(string(p.Kind))
			e.text(p.Text)
		}
	}
}

// planDecoder reads; once bad it gives zero values.
type planDecoder struct {
	b   []byte
	bad bool
}

func (d *planDecoder) fail() { d.bad, d.b = true, nil }

func (d *planDecoder) number() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *planDecoder) int() int {
	v := d.number()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *planDecoder) unsigned() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of things of which each takes a byte at least.
func (d *planDecoder) count() int {
	v := d.unsigned()
	if v > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *planDecoder) text() string {
	n := d.count()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *planDecoder) flag() bool {
	if len(d.b) == 0 || d.b[0] > 1 {
		d.fail()
		return false
	}
	v := d.b[0] == 1
	d.b = d.b[1:]
	return v
}

// list reads as many things as are announced.
func list[T any](d *planDecoder, read func() T) []T {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]T, 0, min(n, 64))
	for range n {
		if d.bad {
			return nil
		}
		out = append(out, read())
	}
	return out
}

func (d *planDecoder) plan(depth int) *Plan {
	p := &Plan{Dir: d.text()}
	if depth > maxPlanDepth {
		d.fail()
		return p
	}
	if d.flag() {
		p.Root = d.stmt(depth + 1)
	}
	p.Starts = list(d, func() Start { return d.start(depth + 1) })
	return p
}

func (d *planDecoder) stmt(depth int) *Stmt {
	s := &Stmt{Kind: Kind(d.text())}
	if depth > maxPlanDepth {
		d.fail()
		return s
	}
	s.Not, s.Time = d.flag(), d.text()
	s.Redirs = d.redirs()
	s.Kids = list(d, func() *Stmt { return d.stmt(depth + 1) })
	s.Merge = list(d, d.flag)
	s.Call, s.Var = d.int(), d.text()
	s.Values = d.words()
	return s
}

func (d *planDecoder) start(depth int) Start {
	s := Start{Segment: d.int(), Builtin: d.text()}
	if d.flag() {
		s.Shell = d.plan(depth + 1)
	}
	s.Path, s.Real, s.ID = d.text(), d.text(), d.id()
	s.Argv, s.Literal = d.words(), d.flag()
	s.Inner = list(d, func() InnerStart { return InnerStart{Arg: d.int(), Path: d.text(), Real: d.text(), ID: d.id()} })
	s.Assigns = list(d, func() Assign { return Assign{Name: d.text(), Value: d.text()} })
	s.Redirs, s.Dir = d.redirs(), d.text()
	return s
}

func (d *planDecoder) id() FileID {
	return FileID{Dev: d.unsigned(), Ino: d.unsigned(), Size: d.number(), MtimeNs: d.number(), CtimeNs: d.number()}
}

func (d *planDecoder) redirs() []Redir {
	return list(d, func() Redir { return Redir{Fd: d.int(), Null: d.flag(), Dup: d.int()} })
}

func (d *planDecoder) words() []Word {
	return list(d, func() Word {
		return Word{Lit: d.flag(), Text: d.text(), Parts: list(d, func() Part { return Part{Kind: PartKind(d.text()), Text: d.text()} })}
	})
}
