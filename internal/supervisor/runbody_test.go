package supervisor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// fill sets every field of a struct to a value that is not zero, so that one that is
// forgotten in the encoding shows.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d \xff", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) - 1000)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]byte]() {
			v.SetBytes([]byte{1, 0, 0xff})
			return
		}
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 5)))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a field of kind %v", v.Kind())
	}
}

// All that a run and its answer hold arrives, bytes that are no text among it, and a
// field that is added later and not encoded fails here.
func TestRunArrivesWhole(t *testing.T) {
	var req session.RunRequest
	n := 0
	fill(t, reflect.ValueOf(&req).Elem(), &n)
	got, started, err := decodeRun(encodeRun(req, true))
	if err != nil || !started || !reflect.DeepEqual(got, req) {
		t.Errorf("%v: sent %+v, got %+v", err, req, got)
	}
	var snap session.Snapshot
	fill(t, reflect.ValueOf(&snap).Elem(), &n)
	back, err := decodeSnapshot(encodeSnapshot(snap))
	if err != nil || !reflect.DeepEqual(back, snap) {
		t.Errorf("%v: sent %+v, got %+v", err, snap, back)
	}
	zero := 0
	snap = session.Snapshot{State: session.State{ExitCode: &zero, Status: protocol.StatusCompleted}}
	if back, err := decodeSnapshot(encodeSnapshot(snap)); err != nil || back.ExitCode == nil || !back.Started.IsZero() {
		t.Errorf("%v: exit code 0 and no time become %+v", err, back)
	}
}

// A later version's fields are passed over.
func TestUnknownFields(t *testing.T) {
	w := fieldWriter{}
	w.number(900, 7)
	w.text(901, "later")
	w.text(snapID, "a-b")
	w.texts(902, []string{"x"})
	if s, err := decodeSnapshot(w.b); err != nil || s.ID != "a-b" {
		t.Errorf("%+v, %v", s, err)
	}
}

// No bytes make a reader fail in another way than by an error.
func FuzzFields(f *testing.F) {
	f.Add(encodeRun(session.RunRequest{Plan: session.Plan{ID: "a", Steps: []session.Step{{Path: "/bin/sh", Argv: []string{"sh"}}}, Env: []string{"A=b"}}}, true))
	f.Add(encodeSnapshot(session.Snapshot{State: session.State{ID: "a", Warnings: []string{"w"}}, Output: "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if req, started, err := decodeRun(data); err == nil {
			again, _, err := decodeRun(encodeRun(req, started))
			if err != nil || again.Plan.ID != req.Plan.ID || len(again.Plan.Env) != len(req.Plan.Env) {
				t.Errorf("%+v, %v", again, err)
			}
		}
		if s, err := decodeSnapshot(data); err == nil {
			if _, err := decodeSnapshot(encodeSnapshot(s)); err != nil {
				t.Error(err)
			}
		}
	})
}
