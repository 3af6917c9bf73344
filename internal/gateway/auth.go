package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"openclaw/internal/identity"
	"openclaw/internal/protocol"
)

// unauthorizedBody is what clients of this protocol expect, to the byte.
const unauthorizedBody = `{"error":{"message":"Unauthorized","type":"unauthorized"}}`

// principal is a caller that has signed in.
type principal struct {
	operator  bool
	anonymous bool   // no token, in auth mode none
	agent     string // "" for the operator
	id        string // of the credential
	main      bool   // a token bound to its agent's main session
}

// anonymous is a caller without a token in auth mode none: agent main, in a session of
// its own, on the tool routes only.
func anonymous() principal {
	return principal{anonymous: true, agent: identity.MainAgent, id: "none"}
}

func holder(cred identity.Credential) principal {
	return principal{operator: cred.Kind == identity.KindOperator, agent: cred.Agent, id: cred.ID, main: cred.MainSession}
}

// signIn finds out who calls, or answers and returns false.
func (s *server) signIn(req *request) bool {
	token, given, ok := bearer(req.r)
	switch {
	case !given && s.cfg.Load().Gateway.Auth.Mode == "none":
		req.who, req.signedIn = anonymous(), func() bool { return true }
		return true
	case !given:
		unauthorized(req.w)
		return false
	}
	from := s.limiter.client(req.r.RemoteAddr)
	if wait := s.limiter.locked(from); wait > 0 {
		tooMany(req.w, wait)
		return false
	}
	if ok {
		if cred, known := req.backend.tokens.Authenticate(token); known {
			tokens, who := req.backend.tokens, holder(cred)
			req.who, req.signedIn = who, func() bool {
				cred, known := tokens.Authenticate(token)
				return known && holder(cred) == who
			}
			return true
		}
	}
	if wait := s.limiter.failed(from); wait > 0 {
		tooMany(req.w, wait)
		return false
	}
	unauthorized(req.w)
	return false
}

// bearer takes the token out of the Authorization header, the only place where one is
// looked for. given: there is such a header; ok: it holds one bearer token.
func bearer(r *http.Request) (token string, given, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) > 0, false
	}
	scheme, token, found := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimSpace(token)
	return token, true, found && strings.EqualFold(scheme, "Bearer") && token != ""
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(unauthorizedBody))
}

// refuse answers a caller that may not reach a route.
func refuse(w http.ResponseWriter, err *protocol.Error) {
	if err.Type == protocol.ErrUnauthorized {
		unauthorized(w)
		return
	}
	writeError(w, err)
}

// tooMany answers after too many wrong tokens.
func tooMany(w http.ResponseWriter, seconds int) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	writeError(w, &protocol.Error{Type: protocol.ErrLimit, Message: "too many failed attempts to sign in"})
}

// mayReach says whether a route is open to the caller (C-6).
func (p principal) mayReach(a access) *protocol.Error {
	switch {
	case a == accessTools, p.operator:
		return nil
	case a == accessEvents && !p.anonymous:
		return nil
	case p.anonymous:
		return &protocol.Error{Type: protocol.ErrUnauthorized, Message: "this route needs a token"}
	}
	return &protocol.Error{Type: protocol.ErrForbidden, Message: "an agent token opens the tool routes and its agent's events only", Hint: "this route needs the operator's token"}
}
