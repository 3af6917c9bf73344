package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"

	"openclaw/internal/protocol"
)

// statusWriter remembers the status for the metrics. It passes on Flush and deadlines
// through Unwrap.
type statusWriter struct {
	http.ResponseWriter
	status int
	before func() // called in front of everything that is written; may be nil
}

// Write passes on.
func (w *statusWriter) Write(data []byte) (int, error) {
	if w.before != nil {
		w.before()
	}
	return w.ResponseWriter.Write(data)
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	if w.before != nil {
		w.before()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// writeJSON answers with one JSON value. A client that has gone is nobody to tell.
func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := encode(v)
	if err != nil {
		status = http.StatusInternalServerError
		data = []byte(`{"ok":false,"error":{"type":"internal","message":"answer cannot be encoded"}}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// encode makes JSON without the escapes for HTML, which would only blow output up.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// writeError answers with an error in the wire's one shape (protocol 7).
func writeError(w http.ResponseWriter, err *protocol.Error) {
	if err.Type == protocol.ErrLimit && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, err.HTTPStatus(), protocol.InvokeResponse{Error: err})
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

func unavailable(text string) *protocol.Error {
	return &protocol.Error{Type: protocol.ErrUnavailable, Message: text, Hint: "retry in a moment"}
}
