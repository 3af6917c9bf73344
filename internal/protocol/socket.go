package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Version is the wire protocol that is spoken (protocol 1.4).
const Version = 4

// Limits of a socket (protocol 1.1), in bytes.
const (
	HandshakeMax = 64 << 10 // of a frame before the sign-in
	PayloadMax   = 26214400
	BufferedMax  = 52428800 // waiting for a client that does not read
	TickMs       = 30000
)

// Codes of an error on the socket (protocol 1.3).
const (
	CodeInvalid     = "INVALID_REQUEST"
	CodeNotPaired   = "NOT_PAIRED"
	CodeForbidden   = "FORBIDDEN"
	CodeUnavailable = "UNAVAILABLE"
)

// RequestFrame is a client's call (protocol 1.2).
type RequestFrame struct {
	Type              string          `json:"type"` // "req"
	ID                string          `json:"id"`
	Method            string          `json:"method"`
	Params            json.RawMessage `json:"params,omitempty"`
	TraceParent       string          `json:"traceparent,omitempty"`       // accepted and ignored
	ExpectedProfileID string          `json:"expectedProfileId,omitempty"` // accepted and ignored
}

// Check says what the types cannot: what has to be there.
func (f *RequestFrame) Check() error {
	for _, need := range []struct{ name, value string }{{"type", f.Type}, {"id", f.ID}, {"method", f.Method}} {
		if need.value == "" {
			return fmt.Errorf("must have required property '%s'", need.name)
		}
	}
	if f.Type != "req" {
		return errors.New("at /type: must be equal to constant")
	}
	return nil
}

// ResponseFrame answers one.
type ResponseFrame struct {
	Type    string      `json:"type"` // "res"
	ID      string      `json:"id"`
	OK      bool        `json:"ok"`
	Payload any         `json:"payload,omitempty"`
	Error   *ErrorShape `json:"error,omitempty"`
}

// EventFrame tells something.
type EventFrame struct {
	Type    string `json:"type"` // "event"
	Event   string `json:"event"`
	Payload any    `json:"payload,omitempty"`
	Seq     int64  `json:"seq,omitempty"` // from 1, without gaps, of a connection's broadcasts
}

// ErrorShape is an error on the socket.
type ErrorShape struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	Details      any    `json:"details,omitempty"`
	Retryable    bool   `json:"retryable,omitempty"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty"`
}

// Error is the message.
func (e *ErrorShape) Error() string { return e.Message }

// Challenge is the payload of connect.challenge.
type Challenge struct {
	Nonce string `json:"nonce"`
	Ts    int64  `json:"ts"` // Unix time in ms
}

// ConnectParams are those of the first request (protocol 1.4).
type ConnectParams struct {
	MinProtocol int           `json:"minProtocol"`
	MaxProtocol int           `json:"maxProtocol"`
	Client      ConnectClient `json:"client"`
	Role        string        `json:"role,omitempty"`
	Scopes      []string      `json:"scopes,omitempty"`
	Caps        []string      `json:"caps,omitempty"`
	Commands    []string      `json:"commands,omitempty"`
	Device      *DeviceProof  `json:"device,omitempty"`
	Auth        *ConnectAuth  `json:"auth,omitempty"`
	PathEnv     string        `json:"pathEnv,omitempty"`
	Locale      string        `json:"locale,omitempty"`
	UserAgent   string        `json:"userAgent,omitempty"`

	Permissions map[string]bool `json:"permissions,omitempty"`
	ComputerUse json.RawMessage `json:"computerUse,omitempty"` // out of scope, as is the next
	WorkerRuns  json.RawMessage `json:"workerRuns,omitempty"`
}

// ConnectClient says what program connects.
type ConnectClient struct {
	ID              string `json:"id"`
	DisplayName     string `json:"displayName,omitempty"`
	Version         string `json:"version"`
	BuildID         string `json:"buildId,omitempty"`
	Platform        string `json:"platform"`
	DeviceFamily    string `json:"deviceFamily,omitempty"`
	ModelIdentifier string `json:"modelIdentifier,omitempty"`
	TimeZone        string `json:"timeZone,omitempty"`
	Mode            string `json:"mode"`
	InstanceID      string `json:"instanceId,omitempty"`
}

// ConnectAuth is what a client signs in with; a nil field was not sent.
type ConnectAuth struct {
	Token                *string `json:"token,omitempty"`
	BootstrapToken       *string `json:"bootstrapToken,omitempty"`
	DeviceToken          *string `json:"deviceToken,omitempty"`
	Password             *string `json:"password,omitempty"`
	ApprovalRuntimeToken *string `json:"approvalRuntimeToken,omitempty"`
	AgentRuntimeToken    *string `json:"agentRuntimeIdentityToken,omitempty"`
}

// DeviceProof proves a device's key (protocol 2.3).
type DeviceProof struct {
	ID        string `json:"id"`
	PublicKey string `json:"publicKey"`
	Signature string `json:"signature"`
	SignedAt  int64  `json:"signedAt"` // Unix time in ms
	Nonce     string `json:"nonce"`
}

// Hello is hello-ok (protocol 1.5).
type Hello struct {
	Type     string        `json:"type"` // "hello-ok"
	Protocol int           `json:"protocol"`
	Server   HelloServer   `json:"server"`
	Features HelloFeatures `json:"features"`
	Snapshot HelloSnapshot `json:"snapshot"`
	Auth     HelloAuth     `json:"auth"`
	Policy   HelloPolicy   `json:"policy"`
}

// HelloServer names the server and the connection.
type HelloServer struct {
	Version string `json:"version"`
	ConnID  string `json:"connId"`
}

// HelloFeatures lists what is offered.
type HelloFeatures struct {
	Methods []string `json:"methods"`
	Events  []string `json:"events"`
}

// HelloSnapshot is the state at the moment of the sign-in.
type HelloSnapshot struct {
	Presence     []any          `json:"presence"`
	Health       map[string]any `json:"health"`
	StateVersion struct {
		Presence int `json:"presence"`
		Health   int `json:"health"`
	} `json:"stateVersion"`
	UptimeMs int64 `json:"uptimeMs"`
}

// HelloAuth is what the connection may do.
type HelloAuth struct {
	Role        string   `json:"role"`
	Scopes      []string `json:"scopes"`
	Method      string   `json:"method,omitempty"`
	DeviceToken string   `json:"deviceToken,omitempty"`
	IssuedAtMs  int64    `json:"issuedAtMs,omitempty"`
}

// HelloPolicy has the socket's limits.
type HelloPolicy struct {
	MaxPayload       int `json:"maxPayload"`
	MaxBufferedBytes int `json:"maxBufferedBytes"`
	TickIntervalMs   int `json:"tickIntervalMs"`
}

var (
	clientIDs = strings.Fields("webchat-ui openclaw-control-ui openclaw-browser-copilot openclaw-tui webchat cli gateway-client openclaw-macos openclaw-linux openclaw-ios " +
		"openclaw-watchos openclaw-android node-host openclaw-worker test fingerprint openclaw-probe")
	clientModes = strings.Fields("webchat cli ui backend node worker probe test")
)

// Check validates what the types cannot say; the error is in the schema's words.
func (p *ConnectParams) Check() error {
	c := &p.Client
	switch {
	case p.MinProtocol < 1:
		return errors.New("at /minProtocol: must be >= 1")
	case p.MaxProtocol < 1:
		return errors.New("at /maxProtocol: must be >= 1")
	case !slices.Contains(clientIDs, c.ID):
		return errors.New("at /client/id: must be equal to one of the allowed values")
	case !slices.Contains(clientModes, c.Mode):
		return errors.New("at /client/mode: must be equal to one of the allowed values")
	case c.Version == "":
		return errors.New("at /client/version: must NOT have fewer than 1 characters")
	case c.Platform == "":
		return errors.New("at /client/platform: must NOT have fewer than 1 characters")
	case len(c.BuildID) > 96:
		return errors.New("at /client/buildId: must NOT have more than 96 characters")
	case len(c.TimeZone) > 64:
		return errors.New("at /client/timeZone: must NOT have more than 64 characters")
	}
	if d := p.Device; d != nil && (d.ID == "" || d.PublicKey == "" || d.Signature == "") {
		return errors.New("at /device: must have id, publicKey, signature, signedAt and nonce")
	}
	return nil
}

var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// Closed reads one JSON object into v and refuses what it has no place for, in the words
// clients know. Empty text is an empty object.
func Closed(data []byte, v any) error {
	if len(bytes.TrimSpace(data)) == 0 || bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return errors.New("at root: text behind the object")
	}
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("at root: unexpected property '%s'", m[1])
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("at /%s: must be %s", strings.ReplaceAll(kind.Field, ".", "/"), kind.Type)
	}
	return errors.New("at root: must be object")
}
