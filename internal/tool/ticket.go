package tool

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
)

const (
	// ticketsMax is how many questions callers may hold at once. Requests are bounded by
	// themselves, but several callers can hold the same one.
	ticketsMax = 1000
	// ticketGrace is how long after the request's time an answer still learns what became
	// of it.
	ticketGrace = time.Hour
)

// errTicket is the same for all that is wrong with a state.
var errTicket = errors.New("the state is none of an open question: it was changed, was used before, or belongs to another call")

// asked is a question that its caller takes along, with its place on the flight.
type asked struct {
	rec    approval.Record
	flight *flight
}

// tickets are the questions that callers have taken along (A-60b). What a caller brings
// back names one of them, is signed with a key of this process, and is good once.
type tickets struct {
	key []byte

	mu   sync.Mutex
	open map[string]ticket // by nonce
}

type ticket struct {
	asked
	call [sha256.Size]byte // the call it belongs to
}

func newTickets() *tickets {
	t := &tickets{key: make([]byte, sha256.Size), open: map[string]ticket{}}
	rand.Read(t.key) //nolint:errcheck // it never fails
	return t
}

// issue gives the state for a question; it is not ok when there are too many.
func (t *tickets) issue(a asked, call [sha256.Size]byte, now time.Time) (state string, ok bool) {
	one := ticket{asked: a, call: call}
	nonce := make([]byte, 16)
	rand.Read(nonce) //nolint:errcheck // it never fails
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, old := range t.open {
		if now.After(time.UnixMilli(old.rec.ExpiresMs).Add(ticketGrace)) {
			delete(t.open, n)
		}
	}
	if len(t.open) >= ticketsMax {
		return "", false
	}
	t.open[string(nonce)] = one
	return base64.RawURLEncoding.EncodeToString(append(nonce, t.sign(nonce, &one)...)), true
}

// redeem gives the question of a state, once. The error is errTicket.
func (t *tickets) redeem(state string, call [sha256.Size]byte) (asked, error) {
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(raw) != 16+sha256.Size || base64.RawURLEncoding.EncodeToString(raw) != state { // in no other spelling
		return asked{}, errTicket
	}
	nonce, mac := raw[:16], raw[16:]
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.open[string(nonce)]
	if !ok {
		return asked{}, errTicket
	}
	one.call = call // of another call, it signs otherwise
	if !hmac.Equal(mac, t.sign(nonce, &one)) {
		return asked{}, errTicket
	}
	delete(t.open, string(nonce))
	return one.asked, nil
}

// sign binds a nonce to the request, what it is bound to itself, its time and its call.
func (t *tickets) sign(nonce []byte, one *ticket) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write(nonce)
	h.Write(one.call[:])
	_ = binary.Write(h, binary.BigEndian, one.rec.ExpiresMs) // a hash takes everything
	fmt.Fprintf(h, "%q %q", one.rec.ID, one.rec.Request.Digest)
	return h.Sum(nil)
}

// callSum names a call: who makes it, and what it says however that is written.
func callSum(c Caller, req protocol.ToolRequest) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", c.Agent, c.SessionKey, c.Credential, req.Tool, canonical(req)))
}
