package client

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzEvents: whatever comes, reading ends, and no event holds a line end that was not
// between two of its data lines.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {}\n\n"))
	f.Add([]byte("data\n\ndata:a\r\ndata: b\r\n\r\n: c\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		events := 0
		err := readEvents(bytes.NewReader(in), func(id string, data []byte) error {
			events++
			if strings.Contains(id, "\n") || bytes.Count(data, []byte("\n")) >= max(1, bytes.Count(in, []byte("data"))) {
				t.Errorf("event %q %q", id, data)
			}
			return nil
		})
		if err == nil || events > bytes.Count(in, []byte("data")) {
			t.Errorf("%d events, %v", events, err)
		}
	})
}
