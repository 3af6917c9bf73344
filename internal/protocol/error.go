package protocol

// ErrorType is the machine-readable kind of an Error.
type ErrorType string

// The kinds; HTTPStatus maps them.
const (
	ErrInvalid      ErrorType = "invalid_request" // the caller's input is wrong: 400
	ErrUnauthorized ErrorType = "unauthorized"    // no or a wrong credential: 401
	ErrForbidden    ErrorType = "forbidden"       // the credential may not do this: 403
	ErrNotFound     ErrorType = "not_found"       // no such tool, session or method: 404
	ErrConflict     ErrorType = "conflict"        // e.g. an idempotency key used with other arguments: 409
	ErrTooLarge     ErrorType = "too_large"       // body over the limit: 413
	ErrLimit        ErrorType = "limit_reached"   // too many running sessions: 429
	ErrUnavailable  ErrorType = "unavailable"     // shutting down or a target that is down: 503
	ErrInternal     ErrorType = "internal"        // our own fault: 500
)

// Error is the one error shape on the wire. Message is for people: lower case, what
// failed, on what; Hint says what to do.
type Error struct {
	Type    ErrorType `json:"type"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Details any       `json:"details,omitempty"` // for programs: what the socket's clients branch on
}

// Error returns the message, with the hint behind it when there is one.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// HTTPStatus returns the HTTP status code for the error's type; an unknown type is 500.
func (e *Error) HTTPStatus() int {
	switch e.Type {
	case ErrInvalid:
		return 400
	case ErrUnauthorized:
		return 401
	case ErrForbidden:
		return 403
	case ErrNotFound:
		return 404
	case ErrConflict:
		return 409
	case ErrTooLarge:
		return 413
	case ErrLimit:
		return 429
	case ErrUnavailable:
		return 503
	default:
		return 500
	}
}
