package tool

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/protocol"
)

func execOf(args string) protocol.ToolRequest {
	return protocol.ToolRequest{Tool: "exec", Args: []byte(args)}
}

func says(allow bool) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) { return allow, nil }
}

// question makes a call of a caller that asks its person itself.
func (b *bed) question(args string) *protocol.Question {
	b.t.Helper()
	res, q, err := b.s.Ask(b.t.Context(), b.caller, execOf(args), nil)
	if err != nil || q == nil {
		b.t.Fatalf("no question: %+v %v", res, err)
	}
	return q
}

func (b *bed) settled(args, state string, person func(context.Context) (bool, error)) *protocol.ExecResult {
	b.t.Helper()
	res, err := b.s.Answer(b.t.Context(), b.caller, execOf(args), state, person, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Details.(*protocol.ExecResult)
}

// noQuestion expects that a state is good for nothing.
func (b *bed) noQuestion(what, args, state string) {
	b.t.Helper()
	asked := false
	res, err := b.s.Answer(b.t.Context(), b.caller, execOf(args), state, func(context.Context) (bool, error) { asked = true; return true, nil }, nil)
	var wire *protocol.Error
	if !errors.As(err, &wire) || wire.Type != protocol.ErrInvalid || asked {
		b.t.Errorf("%s: %+v %v, asked %v", what, res, err, asked)
	}
}

func (b *bed) ran() bool {
	_, err := os.Stat(b.dir + "/ran")
	return err == nil
}

func (b *bed) touch() string { return `{"command":"touch ` + b.dir + `/ran"}` }

// TestA60b_Answers: allow runs the command within the call, anything else does not; who
// decided is recorded.
func TestA60b_Answers(t *testing.T) {
	b := newBed(t, askMode)
	args := `{"command":"echo hi; sleep 0.3; touch ` + b.dir + `/ran"}`
	q := b.question(args)
	if got := q.Approval.Request.AllowedDecisions; len(got) != 2 || got[0] != "allow-once" || got[1] != "deny" {
		t.Errorf("on offer: %v", got)
	}
	if b.ran() {
		t.Fatal("it ran before the answer")
	}
	var live strings.Builder
	res, err := b.s.Answer(t.Context(), b.caller, execOf(args), q.State, says(true), func(p protocol.Progress) { live.Write(p.Data) })
	if err != nil {
		t.Fatal(err)
	}
	if r := res.Details.(*protocol.ExecResult); r.Status != protocol.StatusCompleted || *r.Output != "hi\n" || !b.ran() || live.String() != "hi\n" {
		t.Errorf("%+v, live %q", r, live.String())
	}
	reg, err := b.s.Approvals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := reg.Get(q.Approval.ID)
	if err != nil || rec.Decision != approval.AllowOnce || *rec.Resolved().ResolvedBy != "mcp-client" || rec.Detached {
		t.Errorf("%+v %v", rec, err)
	}
	for name, tt := range map[string]struct {
		person func(context.Context) (bool, error)
		reason string
	}{
		"deny":      {says(false), "denied by mcp-client"},
		"no answer": {func(context.Context) (bool, error) { return true, errors.New("nobody") }, "denied (malformed-verdict)"},
	} {
		b := newBed(t, askMode)
		q := b.question(b.touch())
		if r := b.settled(b.touch(), q.State, tt.person); r.Status != protocol.StatusDenied || r.Denied.Reason != tt.reason || b.ran() {
			t.Errorf("%s: %+v %+v", name, r, r.Denied)
		}
	}
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	if lines, err := os.ReadFile(b.dir + "/exec/runs.jsonl"); err != nil || !strings.Contains(string(lines), `"resolvedBy":"mcp-client"`) {
		t.Errorf("%s %v", lines, err)
	}
}

// TestA60b_OwnCallsOnly: who asks itself is nobody whom other calls could wait for.
func TestA60b_OwnCallsOnly(t *testing.T) {
	b := newBed(t, askMode)
	q := b.question(`{"command":"touch other"}`)
	if r := b.exec(b.touch()); r.Status != protocol.StatusDenied || b.ran() {
		t.Errorf("%+v", r)
	}
	if res, again, err := b.s.Ask(t.Context(), b.caller, protocol.ToolRequest{Tool: "process", Args: []byte(`{"action":"list"}`)}, nil); err != nil || again != nil || res == nil {
		t.Errorf("%+v %+v %v", res, again, err)
	}
	if _, again, err := b.s.Ask(t.Context(), b.caller, protocol.ToolRequest{Tool: "exec", Args: []byte(b.touch()), IdempotencyKey: "k"}, nil); err == nil || again != nil {
		t.Error("with an idempotency key")
	}
	b.settled(`{"command":"touch other"}`, q.State, says(false))
}

// TestA60b_State: only the state that was given out opens its question, for its call, once.
func TestA60b_State(t *testing.T) {
	b := newBed(t, askMode)
	q := b.question(b.touch())
	raw, err := base64.RawURLEncoding.DecodeString(q.State)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		forged := append([]byte(nil), raw...)
		forged[i] ^= 1
		b.noQuestion("forged", b.touch(), base64.RawURLEncoding.EncodeToString(forged))
	}
	for _, state := range []string{"", "x", q.State[:len(q.State)-1], q.State + "A", q.State + "\n", q.Approval.ID} {
		b.noQuestion("no state", b.touch(), state)
	}
	b.noQuestion("another command", `{"command":"touch `+b.dir+`/ran "}`, q.State)
	b.noQuestion("more parameters", strings.Replace(b.touch(), `"}`, `","timeout":1}`, 1), q.State)
	other := *b
	other.caller.SessionKey = "agent:main:other"
	other.noQuestion("another caller", b.touch(), q.State)
	second := b.question(`{"command":"echo second"}`)
	b.noQuestion("another question", b.touch(), second.State)
	if b.ran() {
		t.Fatal("it ran")
	}
	spaced := strings.Replace(b.touch(), `:`, ` : `, 1) // a client may write it otherwise
	if r := b.settled(spaced, q.State, says(true)); r.Status != protocol.StatusCompleted || !b.ran() {
		t.Errorf("%+v %+v", r, r.Denied)
	}
	if err := os.Remove(b.dir + "/ran"); err != nil {
		t.Fatal(err)
	}
	b.noQuestion("replayed", b.touch(), q.State)
	elsewhere := newBed(t, askMode)
	elsewhere.question(b.touch())
	elsewhere.noQuestion("of another process", b.touch(), second.State)
	if b.ran() {
		t.Error("it ran again")
	}
}

// TestA60b_Together: calls at once have questions of their own; identical ones share one
// decision and one run, whichever is answered first.
func TestA60b_Together(t *testing.T) {
	b := newBed(t, askMode)
	args := []string{`{"command":"echo once >> ran; cat ran","workdir":"` + b.dir + `"}`, `{"command":"echo other"}`}
	first, same, other := b.question(args[0]), b.question(args[0]), b.question(args[1])
	if first.Approval.ID != same.Approval.ID || first.State == same.State || other.Approval.ID == first.Approval.ID {
		t.Fatalf("%+v\n%+v\n%+v", first, same, other)
	}
	var both sync.WaitGroup
	both.Go(func() {
		if r := b.settled(args[1], other.State, says(false)); r.Status != protocol.StatusDenied {
			t.Errorf("%+v", r)
		}
	})
	if r := b.settled(args[0], first.State, says(true)); *r.Output != "once\n" {
		t.Errorf("%+v", r)
	}
	both.Wait()
	if r := b.settled(args[0], same.State, says(false)); r.Output == nil || *r.Output != "once\n" { // it has run: too late
		t.Errorf("%+v", r)
	}
}

// TestA60b_QuestionGone: a question that is settled elsewhere, or whose call is cancelled,
// does not stay before the person.
func TestA60b_QuestionGone(t *testing.T) {
	b := newBed(t, askMode)
	for name, tt := range map[string]struct {
		end  func(id string, cancel context.CancelFunc)
		want string
	}{
		"killed":    {func(id string, _ context.CancelFunc) { b.process(`{"action":"kill","sessionId":"` + id + `"}`) }, "cancelled"},
		"cancelled": {func(_ string, cancel context.CancelFunc) { cancel() }, ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		q := b.question(b.touch())
		res, err := b.s.Answer(ctx, b.caller, execOf(b.touch()), q.State, func(ctx context.Context) (bool, error) {
			tt.end(q.Approval.ID, cancel)
			<-ctx.Done()
			return true, nil
		}, nil)
		cancel()
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || string(res.Details.(*protocol.ExecResult).Status) != tt.want) || b.ran() {
			t.Errorf("%s: %+v %v", name, res, err)
		}
		reg, _ := b.s.Approvals(t.Context())
		if rec, err := reg.Get(q.Approval.ID); err != nil || rec.Status != approval.Cancelled {
			t.Errorf("%s: %+v %v", name, rec, err)
		}
	}
}

// TestA60b_Bound: the answer allows what was shown and nothing else.
func TestA60b_Bound(t *testing.T) {
	b := newBed(t, askMode)
	script := b.dir + "/s.sh"
	if err := os.WriteFile(script, []byte("echo shown\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := `{"command":"bash ` + script + `"}`
	q := b.question(args)
	if err := os.WriteFile(script, []byte("touch "+b.dir+"/ran\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.settled(args, q.State, says(true)); r.Status != protocol.StatusDenied || r.Denied.Rule != "A-30" || b.ran() {
		t.Errorf("%+v %+v", r, r.Denied)
	}
}

// TestA60b_TicketLife: an open question is forgotten some time after the request's, and
// there are never too many.
func TestA60b_TicketLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTickets()
		one := asked{rec: approval.Record{ID: "id", ExpiresMs: time.Now().Add(time.Minute).UnixMilli()}, flight: &flight{}}
		call := callSum(Caller{}, execOf(`{}`))
		old, ok := ts.issue(one, call, time.Now())
		if !ok {
			t.Fatal("none")
		}
		for range ticketsMax - 1 {
			ts.issue(one, call, time.Now())
		}
		if _, ok := ts.issue(one, call, time.Now()); ok {
			t.Error("one too many")
		}
		time.Sleep(time.Minute + ticketGrace + time.Second)
		if _, ok := ts.issue(one, call, time.Now()); !ok || len(ts.open) != 1 {
			t.Errorf("%d open", len(ts.open))
		}
		if _, err := ts.redeem(old, call); !errors.Is(err, errTicket) {
			t.Error(err)
		}
	})
}

// TestA60b_Timeout: no answer in time is told as that.
func TestA60b_Timeout(t *testing.T) {
	b := newBed(t, askMode)
	later := time.Now()
	var mu sync.Mutex
	b.s.desk.options.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return later }
	q := b.question(b.touch())
	mu.Lock()
	later = later.Add(approval.DefaultTimeout + time.Second)
	mu.Unlock()
	if r := b.settled(b.touch(), q.State, says(true)); r.Status != protocol.StatusDenied || !strings.Contains(r.Denied.Reason, "timeout") || b.ran() {
		t.Errorf("%+v %+v", r, r.Denied)
	}
}
