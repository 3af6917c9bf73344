package identity

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// signatureLife is how far a device's clock may be off (protocol 2.3).
const signatureLife = 2 * time.Minute

// Why a device's proof is refused (protocol 2.3), in the order in which it is looked at.
var (
	ErrDeviceID         = errors.New("device identity mismatch")
	ErrSignatureExpired = errors.New("device signature expired")
	ErrNonceRequired    = errors.New("device nonce required")
	ErrNonceMismatch    = errors.New("device nonce mismatch")
	ErrSignature        = errors.New("device signature invalid")
	ErrPublicKey        = errors.New("device public key invalid")
)

// DeviceClaim is what a device signs (protocol 2.3).
type DeviceClaim struct {
	DeviceID, PublicKey, Signature, Nonce string
	SignedAtMs                            int64 // Unix time in ms

	ClientID, ClientMode, Role string
	Scopes                     []string
	Token                      string // the first of token, deviceToken and bootstrapToken that was sent
	Platform, Family           string
}

// Verify holds a claim against the nonce the gateway gave. The key comes back in its one
// form, base64url without padding.
func (c *DeviceClaim) Verify(nonce string, now time.Time) (key string, err error) {
	raw, keyErr := decode64(c.PublicKey)
	if keyErr != nil || len(raw) != ed25519.PublicKeySize {
		return "", ErrPublicKey
	}
	sum := sha256.Sum256(raw)
	skew := now.Sub(time.UnixMilli(c.SignedAtMs))
	switch {
	case hex.EncodeToString(sum[:]) != c.DeviceID:
		return "", ErrDeviceID
	case skew > signatureLife || skew < -signatureLife:
		return "", ErrSignatureExpired
	case strings.TrimSpace(c.Nonce) == "":
		return "", ErrNonceRequired
	case c.Nonce != nonce:
		return "", ErrNonceMismatch
	}
	sig, err := decode64(c.Signature)
	if err != nil || len(sig) != ed25519.SignatureSize {
		return "", ErrSignature
	}
	base := c.base()
	v3 := "v3|" + base + "|" + lowered(c.Platform) + "|" + lowered(c.Family)
	if !ed25519.Verify(raw, []byte(v3), sig) && !ed25519.Verify(raw, []byte("v2|"+base), sig) {
		return "", ErrSignature
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// decode64 reads base64url without padding, or standard base64.
func decode64(s string) ([]byte, error) {
	if b, err := base64.RawURLEncoding.DecodeString(s); err == nil {
		return b, nil
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil {
		return b, nil
	}
	return base64.RawStdEncoding.DecodeString(s)
}

// lowered trims a text and lowers its ASCII letters only.
func lowered(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimSpace(s))
}

// Sign fills in the claim's device, key and signature (v3).
func (c *DeviceClaim) Sign(key ed25519.PrivateKey) {
	public, _ := key.Public().(ed25519.PublicKey) // it always is one
	sum := sha256.Sum256(public)
	c.DeviceID, c.PublicKey = hex.EncodeToString(sum[:]), base64.RawURLEncoding.EncodeToString(public)
	c.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte("v3|"+c.base()+"|"+lowered(c.Platform)+"|"+lowered(c.Family))))
}

// base is what both forms of the signature cover.
func (c *DeviceClaim) base() string {
	return strings.Join([]string{
		c.DeviceID, c.ClientID, c.ClientMode, c.Role, strings.Join(c.Scopes, ","), strconv.FormatInt(c.SignedAtMs, 10), c.Token, c.Nonce,
	}, "|")
}
