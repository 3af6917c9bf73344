package cli

import (
	"testing"
)

// A command of an MCP client runs where the client started us; all else about its
// arguments, faults included, is the daemon's to judge.
func TestPlaceIn(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"ls"}`:                    `{"command":"ls","workdir":"/w"}`,
		`{}`:                                  `{"workdir":"/w"}`,
		`{"workdir":"/abs","command":"x"}`:    `{"workdir":"/abs","command":"x"}`,
		`{"workdir":"sub/..//d"}`:             `{"workdir":"/w/d"}`,
		`{"workdir":""}`:                      `{"workdir":"/w"}`,
		`{"workdir":null}`:                    `{"workdir":"/w"}`,
		`{"workdir":"  "}`:                    `{"workdir":"  "}`,
		`{"workdir":7}`:                       `{"workdir":7}`,
		`{"command":"a","command":"b"}`:       `{"command":"a","command":"b","workdir":"/w"}`,
		`{"workdir":"a","workdir":"/b"}`:      `{"workdir":"/w/a","workdir":"/b"}`,
		`{"n":1e400,"env":{"b":"1","a":"2"}}`: `{"n":1e400,"env":{"b":"1","a":"2"},"workdir":"/w"}`,
		`[1]`:                                 `[1]`,
		`{"a":`:                               `{"a":`,
		`{"a":1} {"b":2}`:                     `{"a":1} {"b":2}`,
		``:                                    ``,
	} {
		got, err := placeIn("/w", []byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", in, got, err, want)
		}
	}
}

func FuzzPlaceIn(f *testing.F) {
	f.Add(`{"command":"ls","workdir":"x"}`)
	f.Fuzz(func(t *testing.T, in string) {
		once, err := placeIn("/w", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		twice, err := placeIn("/w", once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%q became %q, then %q (%v)", in, once, twice, err)
		}
	})
}
