package pairing

import (
	"slices"
)

// Roles of a connection.
const (
	RoleOperator = "operator"
	RoleNode     = "node"
)

// Token lets a device in without the shared secret (protocol 2.5). The same one is given
// until it is rotated, so it is kept as it is, in the store.
type Token struct {
	Role       string   `json:"role"`
	Scopes     []string `json:"scopes"`
	Secret     string   `json:"secret"`
	CreatedMs  int64    `json:"createdAtMs"`
	RotatedMs  int64    `json:"rotatedAtMs,omitempty"`
	RevokedMs  int64    `json:"revokedAtMs,omitempty"`
	LastUsedMs int64    `json:"lastUsedAtMs,omitempty"`
}

// Device is one that was let in.
type Device struct {
	ID          string   `json:"deviceId"`
	PublicKey   string   `json:"publicKey"`
	Name        string   `json:"displayName,omitempty"`
	Label       string   `json:"operatorLabel,omitempty"`
	Platform    string   `json:"platform,omitempty"`
	Family      string   `json:"deviceFamily,omitempty"`
	ClientID    string   `json:"clientId,omitempty"`
	ClientMode  string   `json:"clientMode,omitempty"`
	Roles       []string `json:"roles"`
	Scopes      []string `json:"scopes"`
	Via         string   `json:"approvedVia"` // owner or silent
	CreatedMs   int64    `json:"createdAtMs"`
	ApprovedMs  int64    `json:"approvedAtMs"`
	LastSeenMs  int64    `json:"lastSeenAtMs,omitempty"`
	LastSeenWhy string   `json:"lastSeenReason,omitempty"`
	Tokens      []Token  `json:"tokens"`
}

// Claim is a device that has proved its key and asks to connect.
type Claim struct {
	DeviceID, PublicKey, Name string
	Platform, Family          string
	ClientID, ClientMode      string
	Role                      string
	Scopes                    []string
	RemoteIP                  string
}

// Request is a device that waits for the operator.
type Request struct {
	ID         string   `json:"requestId"`
	DeviceID   string   `json:"deviceId"`
	PublicKey  string   `json:"publicKey"`
	Name       string   `json:"displayName,omitempty"`
	Platform   string   `json:"platform,omitempty"`
	Family     string   `json:"deviceFamily,omitempty"`
	ClientID   string   `json:"clientId,omitempty"`
	ClientMode string   `json:"clientMode,omitempty"`
	Role       string   `json:"role"`
	Roles      []string `json:"roles"`
	Scopes     []string `json:"scopes"`
	RemoteIP   string   `json:"remoteIp,omitempty"`
	Repair     bool     `json:"isRepair,omitempty"`
	Ts         int64    `json:"ts"` // of the last try, Unix time in ms
}

// Covers reports whether the held scopes include what is asked for: admin includes all,
// write includes read (protocol 3).
func Covers(held, asked []string) bool {
	for _, a := range asked {
		if !Holds(held, a) {
			return false
		}
	}
	return true
}

// Holds reports whether the held scopes include one.
func Holds(held []string, scope string) bool {
	switch {
	case scope == "", slices.Contains(held, scope), slices.Contains(held, "operator.admin"):
		return true
	case scope == "operator.read", scope == "operator.talk":
		return slices.Contains(held, "operator.write")
	}
	return false
}

// token is the one of a role that is not revoked; nil = none.
func (d *Device) token(role string) *Token {
	for i := range d.Tokens {
		if d.Tokens[i].Role == role && d.Tokens[i].RevokedMs == 0 {
			return &d.Tokens[i]
		}
	}
	return nil
}
