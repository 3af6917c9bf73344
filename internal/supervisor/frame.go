package supervisor

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// kind says what a frame is. Numbers are never used again for something else.
type kind uint8

const (
	kindRequest kind = 1 // op with its arguments; answered by one answer or failure of the same id
	kindCancel  kind = 2 // of a request: its caller has gone
	kindStarted kind = 3 // of a run: the command has started
	kindAnswer  kind = 4
	kindFailure kind = 5
	kindEnd     kind = 6 // from the supervisor, unasked: a session has ended
	kindTold    kind = 7 // to the supervisor, unanswered: ends are safe
)

// op names what is asked for. Numbers are never used again for something else.
type op uint8

const (
	opHello   op = 1
	opRun     op = 2
	opPoll    op = 3
	opLog     op = 4
	opRead    op = 5
	opGet     op = 6
	opTail    op = 7
	opList    op = 8
	opCounts  op = 9
	opKill    op = 10
	opSignal  op = 11
	opWrite   op = 12
	opResize  op = 13
	opScreen  op = 14
	opView    op = 15
	opClear   op = 16
	opRemove  op = 17
	opCapture op = 18
	opLimit   op = 19
	opAdopt   op = 20
	opRetire  op = 21
	opPaint   op = 22
	opLane    op = 23
)

const (
	headerSize = 20        // two lengths (4 bytes each), id (8), kind, op, two spare bytes
	partMax    = 256 << 20 // of one part of a frame, in bytes
	readBuffer = 32 << 10
)

// frame is one message. Body is JSON, raw is what the op says.
type frame struct {
	id   uint64
	kind kind
	op   op
	body []byte
	raw  []byte
}

// appendFrame adds a frame to buf. Body is made into JSON; nil is an empty body.
func appendFrame(buf []byte, f frame, body any) ([]byte, error) {
	start := len(buf)
	buf = append(buf, make([]byte, headerSize)...)
	if body != nil {
		w := bytes.NewBuffer(buf)
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(body); err != nil {
			return buf[:start], err
		}
		buf = w.Bytes()
	}
	jsonLen := len(buf) - start - headerSize
	if jsonLen > partMax || len(f.raw) > partMax {
		return buf[:start], fmt.Errorf("a message of %d bytes is too large", jsonLen+len(f.raw))
	}
	head := buf[start:]
	binary.BigEndian.PutUint32(head, uint32(jsonLen))
	binary.BigEndian.PutUint32(head[4:], uint32(len(f.raw)))
	binary.BigEndian.PutUint64(head[8:], f.id)
	head[16], head[17] = byte(f.kind), byte(f.op)
	return append(buf, f.raw...), nil
}

// readFrame reads the next frame. io.EOF means that the other side has closed.
func readFrame(r *bufio.Reader) (frame, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{id: binary.BigEndian.Uint64(head[8:]), kind: kind(head[16]), op: op(head[17])}
	var err error
	if f.body, err = readPart(r, binary.BigEndian.Uint32(head[:])); err == nil {
		f.raw, err = readPart(r, binary.BigEndian.Uint32(head[4:]))
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// readPart reads n bytes; memory is taken as they come, not as they are announced.
func readPart(r *bufio.Reader, n uint32) ([]byte, error) {
	switch {
	case n == 0:
		return nil, nil
	case n > partMax:
		return nil, fmt.Errorf("a message of %d bytes is too large", n)
	case n <= readBuffer:
		part := make([]byte, n)
		_, err := io.ReadFull(r, part)
		return part, err
	}
	var part bytes.Buffer
	_, err := io.CopyN(&part, r, int64(n))
	return part.Bytes(), err
}

// decode reads a frame's body; fields that are not known are a newer version's.
func decode[T any](f frame) (T, error) {
	var v T
	if len(f.body) == 0 {
		return v, nil
	}
	err := json.Unmarshal(f.body, &v)
	return v, err
}
