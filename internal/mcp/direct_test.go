package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"openclaw/internal/protocol"
)

// openSession makes a session that the SDK has seen at work, so that calls go direct.
func openSession(t testing.TB, url string) map[string]string {
	t.Helper()
	id := post(t, url, initializeMessage, nil).Header.Get(sessionHeader)
	headers := map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
	post(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers)
	return headers
}

func perRequestHeaders() map[string]string {
	return map[string]string{versionHeader: perRequestVersion, "Mcp-Method": "tools/call", "Mcp-Name": "exec"}
}

// isDirect tells the two ways apart: the SDK answers with an event stream.
func isDirect(r *http.Response) bool { return r.Header.Get("Content-Type") == "application/json" }

// answerOf takes the JSON-RPC message out of either form of answer.
func answerOf(t *testing.T, r *http.Response) map[string]any {
	t.Helper()
	text := r.Status // where post puts the body
	if _, data, ok := strings.Cut(text, "data: "); ok && !isDirect(r) {
		text = data
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// The short way says what the SDK says, in both forms of the protocol.
func TestDirectAnswersAsTheSDKDoes(t *testing.T) {
	output := "a<b>&\u2028\n"
	for name, answer := range map[string]func() (*protocol.ToolResult, error){
		"result": func() (*protocol.ToolResult, error) { return completed(output), nil },
		"error": func() (*protocol.ToolResult, error) {
			return nil, &protocol.Error{Type: "x", Message: "bad", Hint: "do"}
		},
		"no content": func() (*protocol.ToolResult, error) { return &protocol.ToolResult{}, nil },
		"panic":      func() (*protocol.ToolResult, error) { panic("our own fault") },
	} {
		srv := serveHTTP(t, &fakeCaller{call: func(context.Context, protocol.ToolRequest, func(protocol.Progress)) (*protocol.ToolResult, error) {
			return answer()
		}})
		for form, tt := range map[string]struct {
			headers map[string]string
			meta    string
		}{"session": {openSession(t, srv.URL), ""}, "per request": {perRequestHeaders(), benchMeta}} {
			// A progress token takes the SDK's way.
			slowMeta := `,"_meta":{"progressToken":1}`
			if tt.meta != "" {
				slowMeta = strings.Replace(tt.meta, `{`, `{"progressToken":1,`, 1)
			}
			quick := post(t, srv.URL, fmt.Sprintf(benchCall, 7, tt.meta), tt.headers)
			slow := post(t, srv.URL, fmt.Sprintf(benchCall, 7, slowMeta), tt.headers)
			if !isDirect(quick) || isDirect(slow) {
				t.Fatalf("%s, %s: direct %v and %v", name, form, isDirect(quick), isDirect(slow))
			}
			if a, b := answerOf(t, quick), answerOf(t, slow); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, %s:\ndirect %v\nSDK    %v", name, form, a, b)
			}
		}
	}
}

func TestOddRequestsAreLeftToTheSDK(t *testing.T) {
	srv := serveHTTP(t, &fakeCaller{})
	session, each := openSession(t, srv.URL), perRequestHeaders()
	with := func(base map[string]string, pairs ...string) map[string]string {
		out := map[string]string{"Want": "any"}
		for k, v := range base {
			out[k] = v
		}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	plain := fmt.Sprintf(benchCall, 7, "")
	for name, tt := range map[string]struct {
		headers map[string]string
		body    string
		status  int
	}{
		"unknown session":   {with(session, sessionHeader, "nosuch"), plain, 404},
		"no session":        {with(nil), plain, 200}, // the SDK's own refusal is in the answer
		"unknown version":   {with(session, versionHeader, "2020-01-01"), plain, 400},
		"other media type":  {with(session, "Content-Type", "text/plain"), plain, 415},
		"accepts nothing":   {with(session, "Accept", "text/html"), plain, 400},
		"no JSON":           {with(session), `"tools/call"`, 400},
		"wrong jsonrpc":     {with(session), strings.Replace(plain, `"2.0"`, `"1.0"`, 1), 400},
		"id null":           {with(session), strings.Replace(plain, `"id":7`, `"id":null`, 1), 400},
		"new in a session":  {with(session), fmt.Sprintf(benchCall, 7, benchMeta), 400},
		"header missing":    {with(each, "Mcp-Name", ""), fmt.Sprintf(benchCall, 7, benchMeta), 400},
		"name differs":      {with(each, "Mcp-Name", "process"), fmt.Sprintf(benchCall, 7, benchMeta), 400},
		"no meta":           {with(each), plain, 400},
		"no capabilities":   {with(each), fmt.Sprintf(benchCall, 7, strings.Replace(benchMeta, "clientCapabilities", "x", 1)), 400},
		"bad client info":   {with(each), fmt.Sprintf(benchCall, 7, strings.Replace(benchMeta, `{"name":"bench","version":"1"}`, `7`, 1)), 400},
		"version of a date": {with(each, versionHeader, "2099-01-01"), fmt.Sprintf(benchCall, 7, benchMeta), 400},
	} {
		if got := post(t, srv.URL, tt.body, tt.headers); got.StatusCode != tt.status || strings.Contains(got.Status, `"ok\n"`) {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.Status)
		}
	}
	if got := post(t, srv.URL, plain, session); !isDirect(got) {
		t.Error("the plain one does not go direct")
	}
}

func TestX7_DirectCallsCanBeCancelled(t *testing.T) {
	c, started, ended := blocking()
	srv := serveHTTP(t, c)
	headers := openSession(t, srv.URL)
	other := openSession(t, srv.URL)
	done := make(chan *http.Response, 1)
	go func() { done <- post(t, srv.URL, fmt.Sprintf(benchCall, 7, ""), headers) }()
	await(t, "the call", started)
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`
	post(t, srv.URL, fmt.Sprintf(cancelled, 7), other) // counts alike in another session
	post(t, srv.URL, fmt.Sprintf(cancelled, 8), headers)
	if got := post(t, srv.URL, fmt.Sprintf(benchCall, 9, `,"x":"`+strings.Repeat("y", 10)+`"`), map[string]string{sessionHeader: "nosuch", "Want": "404"}); got.StatusCode != 404 {
		t.Errorf("unknown session: %d", got.StatusCode)
	}
	select {
	case <-ended:
		t.Fatal("another cancellation ended it")
	case <-time.After(50 * time.Millisecond):
	}
	post(t, srv.URL, fmt.Sprintf(cancelled, 7), headers)
	await(t, "the cancellation", ended)
	if got := <-done; !isDirect(got) || !strings.Contains(got.Status, "cancelled") {
		t.Errorf("answer %s", got.Status)
	}
}

func TestX7_DirectCallEndsWithItsClientAndWithTheServer(t *testing.T) {
	c, started, ended := blocking()
	h := NewHTTP(Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, "k", c) }))
	defer srv.Close()
	headers := openSession(t, srv.URL)
	call := func(ctx context.Context) chan error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, strings.NewReader(fmt.Sprintf(benchCall, 7, "")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		done := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := call(ctx)
	await(t, "the call", started)
	cancel()
	await(t, "the cancellation", ended)
	<-gone
	served := call(t.Context())
	await(t, "the call", started)
	h.Close(t.Context())
	await(t, "the cancellation", ended)
	if err := <-served; err != nil {
		t.Errorf("the answer did not go out: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// Whatever comes, the short way takes only what is a call, and answers it with its id.
func FuzzDirect(f *testing.F) {
	f.Add(fmt.Sprintf(benchCall, 7, benchMeta))
	f.Add(fmt.Sprintf(benchCall, 7, ""))
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]`)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	h := NewHTTP(Options{})
	e := h.newEndpoint()
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		for k, v := range perRequestHeaders() {
			r.Header.Set(k, v)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		if !h.direct(e, w, r, []byte(body), &fakeCaller{}) {
			if w.Body.Len() > 0 {
				t.Error("answered and not taken")
			}
			return
		}
		var in, out struct {
			ID     any
			Method string
		}
		if err := json.Unmarshal([]byte(body), &in); err != nil || in.Method != "tools/call" {
			t.Fatalf("took %q", body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || !reflect.DeepEqual(in.ID, out.ID) {
			t.Fatalf("%q got %s", body, w.Body)
		}
	})
}
