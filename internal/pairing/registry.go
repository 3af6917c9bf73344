package pairing

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"openclaw/internal/state"
)

const (
	bucket      = "device"
	requestLife = 5 * time.Minute // after the last try
	maxRequests = 200             // waiting devices; the oldest gives way
)

// Store is what is needed of the durable store.
type Store interface {
	Get(ctx context.Context, bucket, key string) (state.Item, error)
	Put(ctx context.Context, bucket, key string, value []byte, rev int64) (int64, error)
	Delete(ctx context.Context, bucket, key string, rev int64) error
	Scan(ctx context.Context, bucket, after string, limit int) ([]state.Item, error)
}

// Errors that callers tell apart.
var (
	ErrUnknownRequest = errors.New("unknown requestId")
	ErrUnknownDevice  = errors.New("unknown deviceId")
	ErrDenied         = errors.New("device pairing approval denied")
	ErrScope          = errors.New("requested scopes are beyond the token's")
)

// Needed says that a device has to be let in first (protocol 2.6).
type Needed struct {
	Reason    string // not-paired, role-upgrade, scope-upgrade or metadata-upgrade
	Request   Request
	Roles     []string // approved so far
	Scopes    []string
	Replaced  string // id of an earlier request that this one takes the place of
	Refreshed bool   // the same request was made before
}

// Error is the reason in the words clients know.
func (n *Needed) Error() string {
	why := map[string]string{
		"not-paired":       "device is not approved yet",
		"role-upgrade":     "device is asking for a higher role than currently approved",
		"scope-upgrade":    "device is asking for more scopes than currently approved",
		"metadata-upgrade": "device identity changed and must be re-approved",
	}[n.Reason]
	return "pairing required: " + why
}

// Registry is all devices. It may be used by many at once.
type Registry struct {
	store Store
	now   func() time.Time

	changing sync.Mutex          // one change of a device at a time, over the store
	mu       sync.Mutex          // guards waiting
	waiting  map[string]*Request // by device
}

// New makes a registry on a store. A nil now is time.Now.
func New(store Store, now func() time.Time) *Registry {
	if now == nil {
		now = time.Now
	}
	return &Registry{store: store, now: now, waiting: map[string]*Request{}}
}

func (r *Registry) load(ctx context.Context, id string) (*Device, int64, error) {
	it, err := r.store.Get(ctx, bucket, id)
	if errors.Is(err, state.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	d := &Device{}
	if err := json.Unmarshal(it.Value, d); err != nil {
		return nil, 0, fmt.Errorf("device %s: %w", id, err)
	}
	return d, it.Rev, nil
}

func (r *Registry) save(ctx context.Context, d *Device, rev int64) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = r.store.Put(ctx, bucket, d.ID, data, rev)
	return err
}

// TokenHolder reports whether a token is the device's for that role, and its scopes.
func (r *Registry) TokenHolder(ctx context.Context, deviceID, role, secret string) (scopes []string, ok bool, err error) {
	d, _, err := r.load(ctx, deviceID)
	if err != nil || d == nil {
		return nil, false, err
	}
	t := d.token(role)
	if t == nil || subtle.ConstantTimeCompare([]byte(t.Secret), []byte(secret)) != 1 {
		return nil, false, nil
	}
	return t.Scopes, true, nil
}

// Connect lets a device that has proved its key and signed in connect, and gives the token
// it may use from now on. Silent says which reasons are approved at once. A *Needed error
// says that the operator has to let it in first.
func (r *Registry) Connect(ctx context.Context, c Claim, silent func(reason string, paired bool) bool) (Token, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	d, rev, err := r.load(ctx, c.DeviceID)
	if err != nil {
		return Token{}, err
	}
	if reason := upgrade(d, &c); reason != "" {
		if d != nil && d.revoked(c.Role) || !silent(reason, d != nil) {
			return Token{}, r.wait(d, &c, reason)
		}
		d = r.approved(d, &c, "silent")
	}
	t := d.token(c.Role)
	if t == nil {
		d.Tokens = append(slices.DeleteFunc(d.Tokens, func(t Token) bool { return t.Role == c.Role }),
			Token{Role: c.Role, Scopes: slices.Clone(d.Scopes), Secret: newSecret(), CreatedMs: r.now().UnixMilli()})
		t = &d.Tokens[len(d.Tokens)-1]
	}
	now := r.now().UnixMilli()
	d.LastSeenMs, d.LastSeenWhy, t.LastUsedMs = now, "connect", now
	out := *t
	if c.Name != "" {
		d.Name = c.Name
	}
	return out, r.save(ctx, d, rev)
}

// upgrade says what a device asks for beyond what was approved, "" = nothing.
func upgrade(d *Device, c *Claim) string {
	switch {
	case d == nil, d.PublicKey != c.PublicKey:
		return "not-paired"
	case !slices.Contains(d.Roles, c.Role), d.revoked(c.Role):
		return "role-upgrade"
	case !Covers(d.Scopes, c.Scopes):
		return "scope-upgrade"
	case d.Platform != "" && d.Platform != c.Platform, d.Family != "" && d.Family != c.Family:
		return "metadata-upgrade"
	}
	return ""
}

// revoked reports whether the role's token was taken away: then only a new approval helps.
func (d *Device) revoked(role string) bool {
	return d.token(role) == nil && slices.ContainsFunc(d.Tokens, func(t Token) bool { return t.Role == role && t.RevokedMs != 0 })
}

// wait makes or refreshes a device's request.
func (r *Registry) wait(d *Device, c *Claim, reason string) *Needed {
	now := r.now()
	req := Request{
		ID: newRequestID(), DeviceID: c.DeviceID, PublicKey: c.PublicKey, Name: c.Name, Platform: c.Platform, Family: c.Family,
		ClientID: c.ClientID, ClientMode: c.ClientMode, Role: c.Role, Roles: []string{c.Role}, Scopes: append([]string{}, c.Scopes...),
		RemoteIP: c.RemoteIP, Repair: d != nil, Ts: now.UnixMilli(),
	}
	n := &Needed{Reason: reason}
	if d != nil {
		n.Roles, n.Scopes = d.Roles, d.Scopes
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
	if old := r.waiting[c.DeviceID]; old != nil {
		if old.PublicKey == req.PublicKey && old.Role == req.Role && slices.Equal(old.Scopes, req.Scopes) {
			req.ID, n.Refreshed = old.ID, true
		} else {
			n.Replaced = old.ID
		}
	} else if len(r.waiting) >= maxRequests {
		r.dropOldest()
	}
	r.waiting[c.DeviceID] = &req
	n.Request = req
	return n
}

// expire drops what nobody has asked for lately. Callers hold mu.
func (r *Registry) expire(now time.Time) {
	for id, w := range r.waiting {
		if now.Sub(time.UnixMilli(w.Ts)) > requestLife {
			delete(r.waiting, id)
		}
	}
}

func (r *Registry) dropOldest() {
	var oldest string
	for id, w := range r.waiting {
		if oldest == "" || w.Ts < r.waiting[oldest].Ts {
			oldest = id
		}
	}
	delete(r.waiting, oldest)
}

// approved is the device with what it asks for.
func (r *Registry) approved(d *Device, c *Claim, via string) *Device {
	now := r.now().UnixMilli()
	if d == nil || d.PublicKey != c.PublicKey {
		d = &Device{ID: c.DeviceID, PublicKey: c.PublicKey, CreatedMs: now}
	}
	d.Name, d.Platform, d.Family, d.ClientID, d.ClientMode = cmp.Or(c.Name, d.Name), c.Platform, c.Family, c.ClientID, c.ClientMode
	if !slices.Contains(d.Roles, c.Role) {
		d.Roles = append(d.Roles, c.Role)
	}
	for _, s := range c.Scopes {
		if !slices.Contains(d.Scopes, s) {
			d.Scopes = append(d.Scopes, s)
		}
	}
	if d.Scopes == nil {
		d.Scopes = []string{}
	}
	d.Via, d.ApprovedMs = via, now
	// A token of other scopes, or one that was revoked, makes room for a new one.
	d.Tokens = slices.DeleteFunc(d.Tokens, func(t Token) bool {
		return t.Role == c.Role && (t.RevokedMs != 0 || !Covers(t.Scopes, c.Scopes))
	})
	return d
}

// Approve lets a waiting device in. Held are the approver's scopes: an operator device gets
// no more than its approver has, a node needs admin (protocol 2.7).
func (r *Registry) Approve(ctx context.Context, requestID string, held []string) (*Device, error) {
	req, err := r.take(requestID, func(w *Request) error {
		if w.Role == RoleNode && !Holds(held, "operator.admin") || !Covers(held, w.Scopes) {
			return ErrDenied
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	d, rev, err := r.load(ctx, req.DeviceID)
	if err != nil {
		return nil, err
	}
	d = r.approved(d, &Claim{
		DeviceID: req.DeviceID, PublicKey: req.PublicKey, Name: req.Name, Platform: req.Platform, Family: req.Family,
		ClientID: req.ClientID, ClientMode: req.ClientMode, Role: req.Role, Scopes: req.Scopes,
	}, "owner")
	return d, r.save(ctx, d, rev)
}

// Reject sends a waiting device away.
func (r *Registry) Reject(requestID string) (Request, error) {
	return r.take(requestID, func(*Request) error { return nil })
}

// take takes a request out if may says so.
func (r *Registry) take(requestID string, may func(*Request) error) (Request, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(r.now())
	for id, w := range r.waiting {
		if w.ID == requestID {
			if err := may(w); err != nil {
				return Request{}, err
			}
			delete(r.waiting, id)
			return *w, nil
		}
	}
	return Request{}, ErrUnknownRequest
}

// Waiting lists the devices that wait, the newest first.
func (r *Registry) Waiting() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(r.now())
	out := make([]Request, 0, len(r.waiting))
	for _, w := range r.waiting {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Request) int { return cmp.Compare(b.Ts, a.Ts) })
	return out
}

// Devices lists those that were let in.
func (r *Registry) Devices(ctx context.Context) ([]Device, error) {
	out := []Device{}
	for after := ""; ; {
		page, err := r.store.Scan(ctx, bucket, after, 200)
		if err != nil {
			return nil, err
		}
		for _, it := range page {
			var d Device
			if err := json.Unmarshal(it.Value, &d); err != nil {
				return nil, fmt.Errorf("device %s: %w", it.Key, err)
			}
			out = append(out, d)
			after = it.Key
		}
		if len(page) < 200 {
			return out, nil
		}
	}
}

// Remove forgets a device.
func (r *Registry) Remove(ctx context.Context, deviceID string) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	d, rev, err := r.load(ctx, deviceID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.waiting, deviceID)
	r.mu.Unlock()
	if d == nil {
		return ErrUnknownDevice
	}
	return r.store.Delete(ctx, bucket, deviceID, rev)
}

// Rename gives a device the operator's name for it.
func (r *Registry) Rename(ctx context.Context, deviceID, label string) error {
	return r.change(ctx, deviceID, func(d *Device) error { d.Label = label; return nil })
}

// Rotate makes a new token for a role; scopes nil keeps the old one's.
func (r *Registry) Rotate(ctx context.Context, deviceID, role string, scopes []string) (out Token, err error) {
	err = r.change(ctx, deviceID, func(d *Device) error {
		t := d.token(role)
		if t == nil {
			return ErrUnknownDevice
		}
		if scopes != nil {
			if !Covers(d.Scopes, scopes) {
				return ErrScope
			}
			t.Scopes = scopes
		}
		t.Secret, t.RotatedMs = newSecret(), r.now().UnixMilli()
		out = *t
		return nil
	})
	return out, err
}

// Revoke takes a role's token away; the device then needs a new approval.
func (r *Registry) Revoke(ctx context.Context, deviceID, role string) (atMs int64, err error) {
	err = r.change(ctx, deviceID, func(d *Device) error {
		t := d.token(role)
		if t == nil {
			return ErrUnknownDevice
		}
		atMs = r.now().UnixMilli()
		t.RevokedMs = atMs
		return nil
	})
	return atMs, err
}

func (r *Registry) change(ctx context.Context, deviceID string, do func(*Device) error) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	d, rev, err := r.load(ctx, deviceID)
	if err != nil {
		return err
	}
	if d == nil {
		return ErrUnknownDevice
	}
	if err := do(d); err != nil {
		return err
	}
	return r.save(ctx, d, rev)
}

func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func newRequestID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
