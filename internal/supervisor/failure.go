package supervisor

import (
	"errors"

	"openclaw/internal/proc"
	"openclaw/internal/session"
)

// failure is an error on the wire. Code lets the other side tell it from others; a code
// that it does not know is an error like any other.
type failure struct {
	Code    string              `json:"code,omitempty"`
	Message string              `json:"message"`
	Written int                 `json:"written,omitempty"` // of a write: bytes that went in
	Limit   *session.LimitError `json:"limit,omitempty"`
}

// ErrUnsupported means that the supervisor that has the session is of an older version,
// which cannot do what was asked.
var ErrUnsupported = errors.New("the supervisor is of an older version, which cannot do this")

var errBadRequest = errors.New("the supervisor does not understand the request")

// codes are the errors that callers tell apart.
var codes = map[string]error{
	"not_found":    session.ErrNotFound,
	"running":      session.ErrRunning,
	"finished":     session.ErrFinished,
	"duplicate":    session.ErrDuplicate,
	"closing":      session.ErrClosing,
	"no_tty":       session.ErrNoTTY,
	"no_stdin":     session.ErrNoStdin,
	"input":        session.ErrInput,
	"input_full":   proc.ErrInputFull,
	"input_closed": proc.ErrInputClosed,
	"output_limit": proc.ErrTooMuchOutput,
	"changed":      proc.ErrChanged,
	"unsupported":  ErrUnsupported,
	"bad_request":  errBadRequest,
}

func failureOf(err error) failure {
	f := failure{Message: err.Error()}
	if errors.As(err, &f.Limit) {
		f.Code = "limit"
		return f
	}
	for code, sentinel := range codes {
		if errors.Is(err, sentinel) {
			f.Code = code
		}
	}
	return f
}

// err is the error that the failure was, as far as callers tell.
func (f failure) err() error {
	if f.Code == "limit" && f.Limit != nil {
		return f.Limit
	}
	return &remoteError{text: f.Message, is: codes[f.Code]}
}

// remoteError is an error of the supervisor.
type remoteError struct {
	text string
	is   error // the one callers tell it by; nil = none
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }
