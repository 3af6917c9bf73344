package supervisor

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// A run's two messages are written as numbered fields instead of JSON, which would cost
// as much as the way through the socket. A field is a number and a kind (uvarint: number*2
// + kind), then a signed varint (kind 0) or a length and bytes (kind 1). Fields of value
// zero are left out, and unknown ones are passed over: they are another version's.

const (
	fieldNumber = 0
	fieldBytes  = 1
)

var errFields = errors.New("the fields of the message are damaged")

// fieldWriter writes fields.
type fieldWriter struct{ b []byte }

func (w *fieldWriter) number(field uint64, v int64) {
	if v != 0 {
		w.b = binary.AppendUvarint(w.b, field<<1|fieldNumber)
		w.b = binary.AppendVarint(w.b, v)
	}
}

func (w *fieldWriter) flag(field uint64, v bool) {
	if v {
		w.number(field, 1)
	}
}

// always writes a number even if it is zero.
func (w *fieldWriter) always(field uint64, v int64) {
	w.b = binary.AppendUvarint(w.b, field<<1|fieldNumber)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *fieldWriter) text(field uint64, s string) {
	if s != "" {
		w.b = binary.AppendUvarint(w.b, field<<1|fieldBytes)
		w.b = appendText(w.b, s)
	}
}

func (w *fieldWriter) texts(field uint64, list []string) {
	if len(list) > 0 {
		w.b = binary.AppendUvarint(w.b, field<<1|fieldBytes)
		body := appendTexts(nil, list)
		w.b = append(binary.AppendUvarint(w.b, uint64(len(body))), body...)
	}
}

// instant writes a time to the nanosecond; the zero time is left out.
func (w *fieldWriter) instant(field uint64, t time.Time) {
	if !t.IsZero() {
		w.number(field, t.UnixNano())
	}
}

// field is one field that was read.
type field struct {
	number uint64
	value  int64
	data   []byte
}

func (f field) flag() bool          { return f.value != 0 }
func (f field) int() int            { return int(f.value) }
func (f field) span() time.Duration { return time.Duration(f.value) }
func (f field) instant() time.Time  { return time.Unix(0, f.value) }
func (f field) text() string        { return string(f.data) }
func (f field) texts() ([]string, bool) {
	r := rawReader{b: f.data}
	list := r.texts()
	return list, !r.bad
}

// readFields calls each for every field of b.
func readFields(b []byte, each func(f field) bool) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errFields
		}
		b = b[n:]
		f := field{number: tag >> 1}
		if tag&1 == fieldNumber {
			f.value, n = binary.Varint(b)
		} else {
			var size uint64
			if size, n = binary.Uvarint(b); n > 0 && size <= math.MaxInt32 && size <= uint64(len(b)-n) {
				f.data = b[n : n+int(size)]
				n += int(size)
			} else {
				return errFields
			}
		}
		if n <= 0 {
			return errFields
		}
		if b = b[n:]; !each(f) {
			return errFields
		}
	}
	return nil
}
