package approval

import (
	"bytes"
	"encoding/json"
	"strconv"

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

// treeOf copies what was read.
func treeOf(n *json5.Node) any {
	switch n.Kind {
	case json5.Object:
		o := &object{}
		for _, m := range n.Members {
			o.members = append(o.members, member{m.Key, treeOf(m.Value)})
		}
		return o
	case json5.Array:
		list := make([]any, 0, len(n.Elements))
		for _, e := range n.Elements {
			list = append(list, treeOf(e))
		}
		return list
	case json5.String:
		return n.Text()
	case json5.Bool:
		return n.Bool()
	case json5.Null:
		return nil
	}
	if raw := n.Source(); json.Valid(raw) {
		return json.Number(raw)
	}
	f, _ := n.Float()
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
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
