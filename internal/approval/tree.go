package approval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"openclaw/internal/json5"
)

// object is a JSON object that keeps the order of its members and those that nobody here
// knows.
type object struct{ members []member }

type member struct {
	key   string
	value any // *object, []any, string, json.Number, bool or nil
}

func (o *object) get(key string) any {
	for i := range o.members {
		if o.members[i].key == key {
			return o.members[i].value
		}
	}
	return nil
}

func (o *object) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

func (o *object) set(key string, value any) {
	for i := range o.members {
		if o.members[i].key == key {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, member{key, value})
}

func (o *object) drop(keys ...string) {
	kept := o.members[:0]
	for _, m := range o.members {
		gone := false
		for _, k := range keys {
			gone = gone || m.key == k
		}
		if !gone {
			kept = append(kept, m)
		}
	}
	o.members = kept
}

// dropNulls takes away what is set to nothing.
func (o *object) dropNulls() {
	kept := o.members[:0]
	for _, m := range o.members {
		if m.value != nil {
			kept = append(kept, m)
		}
	}
	o.members = kept
}

// treeOf copies what was read. The error is a number that strict JSON has no form for.
func treeOf(n *json5.Node) (any, error) {
	switch n.Kind {
	case json5.Object:
		o := &object{members: make([]member, 0, len(n.Members))}
		for _, m := range n.Members {
			value, err := treeOf(m.Value)
			if err != nil {
				return nil, err
			}
			o.members = append(o.members, member{m.Key, value})
		}
		return o, nil
	case json5.Array:
		list := make([]any, 0, len(n.Elements))
		for _, e := range n.Elements {
			value, err := treeOf(e)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	value := n.Value()
	if _, ok := value.(float64); ok {
		line, column := n.Position(n.Start)
		return nil, fmt.Errorf("line %d, column %d: %s cannot be written back as JSON; take it away", line, column, n.Source())
	}
	return value, nil
}

// write is strict JSON with an indent of two spaces and a newline at the end.
func (o *object) write() ([]byte, error) {
	var b bytes.Buffer
	if err := writeValue(&b, o); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func writeValue(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case *object:
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeValue(b, m.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeValue(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeValue(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
	}
	return nil
}
