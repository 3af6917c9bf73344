package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"openclaw/internal/protocol"
)

const (
	dialTimeout = 5 * time.Second // the daemon is on this machine or near
	errorMax    = 64 << 10        // bytes read of an answer that is not ours
	keepIdle    = 4               // connections: the call, and keys typed beside it
)

// Client talks to one daemon with one token. It is safe for concurrent use and keeps
// its connections; whoever made it calls Close.
type Client struct {
	url   string
	token func() string // a func, so that printing a Client cannot print it
	http  *http.Client
}

// New makes a client of the daemon at url ("http://127.0.0.1:18789"). It does not
// connect yet. The token may be an agent's or the operator's (C-6); "" sends none.
func New(url, token string) *Client {
	return &Client{
		url:   strings.TrimRight(url, "/"),
		token: func() string { return token },
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:               nil, // a token must not pass through a proxy
				DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
				MaxIdleConnsPerHost: keepIdle,
				IdleConnTimeout:     time.Minute,
				DisableCompression:  true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

func (c *Client) transport() *http.Transport { return c.http.Transport.(*http.Transport) }

// Close ends the connections that are idle; calls that run end with their context.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// String names the daemon, never the token.
func (c *Client) String() string { return "gateway at " + c.url }

// RPC calls one control method (C-7), which takes the operator's token. Params may be
// nil. The answer is decoded into out, unless that is nil. Errors are *protocol.Error.
func (c *Client) RPC(ctx context.Context, method string, params, out any) error {
	req := protocol.RPCRequest{Method: method}
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			return invalid("parameters of %s: %v", method, err)
		}
		req.Params = raw
	}
	resp, err := c.post(ctx, "/rpc", "application/json", req)
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	var answer protocol.RPCResponse
	if err := c.decode(ctx, resp, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	if !answer.OK {
		return c.statusError(resp)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Result, out); err != nil {
		return c.unreadable(err)
	}
	return nil
}

// post sends a JSON body.
func (c *Client) post(ctx context.Context, path, accept string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, invalid("request: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, invalid("request: %v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	return c.do(req, accept)
}

// do sends a request. A failure to connect names the daemon, not a library's text.
func (c *Client) do(req *http.Request, accept string) (*http.Response, error) {
	req.Header.Set("Accept", accept)
	if token := c.token(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(req.Context(), err)
	}
	return resp, nil
}

// decode reads an answer that is one JSON value; anything else becomes an error that
// says what came instead.
func (c *Client) decode(ctx context.Context, resp *http.Response, out any) error {
	if !isType(resp, "application/json") {
		return c.statusError(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.decodeError(ctx, err)
	}
	return nil
}

// decodeError tells an answer that makes no sense from one that was cut off.
func (c *Client) decodeError(ctx context.Context, err error) *protocol.Error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return c.unreadable(err)
	}
	return c.broken(ctx, err)
}

// broken says that the connection failed: because the caller gave up, because nobody
// listens, or because the daemon went away in the middle.
func (c *Client) broken(ctx context.Context, err error) *protocol.Error {
	if ctx.Err() != nil {
		return &protocol.Error{Type: protocol.ErrUnavailable, Message: fmt.Sprintf("call ended before its answer: %v", context.Cause(ctx))}
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &protocol.Error{
			Type:    protocol.ErrUnavailable,
			Message: fmt.Sprintf("%s cannot be reached: %v", c, op.Err),
			Hint:    "openclaw status",
		}
	}
	return &protocol.Error{
		Type:    protocol.ErrUnavailable,
		Message: fmt.Sprintf("%s ended the connection before its answer: %v", c, bare(err)),
		Hint:    "if it was stopped or killed, the commands it waited for were ended; openclaw status",
	}
}

// bare takes the method and address off an error, which the message has already.
func bare(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// unreadable says that the answer is not what this program knows.
func (c *Client) unreadable(err error) *protocol.Error {
	return &protocol.Error{
		Type:    protocol.ErrInternal,
		Message: fmt.Sprintf("%s gave an answer that cannot be read: %v", c, err),
		Hint:    "compare openclaw version with the gateway's in openclaw status",
	}
}

// statusError turns an answer that is not ours (a plain-text 405, a stranger's page)
// into an error by its status code.
func (c *Client) statusError(resp *http.Response) *protocol.Error {
	kind := protocol.ErrInternal
	for _, t := range []protocol.ErrorType{
		protocol.ErrInvalid, protocol.ErrUnauthorized, protocol.ErrForbidden, protocol.ErrNotFound,
		protocol.ErrConflict, protocol.ErrTooLarge, protocol.ErrLimit, protocol.ErrUnavailable,
	} {
		if (&protocol.Error{Type: t}).HTTPStatus() == resp.StatusCode {
			kind = t
		}
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only to show; what cannot be read is not shown
	msg := fmt.Sprintf("%s answered %s", c, resp.Status)
	if s := strings.TrimSpace(string(text)); s != "" && isType(resp, "text/plain") {
		msg += ": " + s
	}
	return &protocol.Error{Type: kind, Message: msg}
}

func isType(resp *http.Response, want string) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), want)
}

// drain lets the connection be used again; a long rest is not worth reading.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, errorMax) // the connection is closed if this fails
	_ = body.Close()
}

func invalid(format string, args ...any) *protocol.Error {
	return &protocol.Error{Type: protocol.ErrInvalid, Message: fmt.Sprintf(format, args...)}
}
