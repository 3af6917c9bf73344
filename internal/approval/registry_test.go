package approval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"openclaw/internal/state"
)

// office is a registry on a real store, whose clock the test moves.
type office struct {
	t     *testing.T
	path  string
	store *state.Store
	reg   *Registry
	skew  atomic.Int64 // of the clock, in ms
	final chan Record
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, path: filepath.Join(t.TempDir(), "exec.db"), final: make(chan Record, 100)}
	o.open()
	t.Cleanup(o.close)
	return o
}

func (o *office) open() {
	o.t.Helper()
	var err error
	if o.store, err = state.Open(context.Background(), o.path); err != nil {
		o.t.Fatal(err)
	}
	o.reg, err = OpenRegistry(context.Background(), Options{
		Store: o.store, Now: func() time.Time { return time.Now().Add(time.Duration(o.skew.Load()) * time.Millisecond) },
		OnFinal: func(_ context.Context, r Record) { o.final <- r },
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) close() {
	o.reg.Close()
	if err := o.store.Close(); err != nil {
		o.t.Error(err)
	}
}

func (o *office) restart() {
	o.close()
	o.open()
}

func request(command string) Request {
	return Request{
		Kind: KindExec, Agent: "main", SessionKey: "agent:main:main", Command: command, Cwd: "/tmp", Host: "gateway",
		Decisions: []Decision{AllowOnce, AllowAlways, DenyIt},
	}
}

func (o *office) ask(command string) Record {
	o.t.Helper()
	rec, joined, err := o.reg.Ask(o.t.Context(), "", request(command), []byte("plan of "+command), 0)
	if err != nil || joined {
		o.t.Fatalf("joined %v, %v", joined, err)
	}
	return rec
}

var person = Resolver{Kind: "device", ID: "phone", Name: "phone"}

// TestA11_OneWins: of many answers at once one is recorded, and all are told the same.
func TestA11_OneWins(t *testing.T) {
	o := newOffice(t)
	for range 5 {
		rec := o.ask("git push")
		var wg sync.WaitGroup
		var mu sync.Mutex
		applied := 0
		said := map[Decision]int{}
		for i := range 50 {
			d := []Decision{AllowOnce, AllowAlways, DenyIt}[i%3]
			wg.Go(func() {
				got, ok, err := o.reg.Resolve(t.Context(), rec.ID, d, person)
				mu.Lock()
				defer mu.Unlock()
				if ok {
					applied++
				}
				if err != nil && !errors.Is(err, ErrResolved) || errors.Is(err, ErrResolved) == (got.Decision == d) {
					t.Errorf("%s: %v, recorded %s", d, err, got.Decision)
				}
				said[got.Decision]++
			})
		}
		wg.Wait()
		if applied != 1 || len(said) != 1 {
			t.Errorf("%d applied, told %v", applied, said)
		}
		if f := <-o.final; f.ID != rec.ID || len(o.final) != 0 {
			t.Errorf("told of %s, %d more", f.ID, len(o.final))
		}
	}
}

// TestA11_Answers tells the ways apart in which an id has no open question.
func TestA11_Answers(t *testing.T) {
	o := newOffice(t)
	rec := o.ask("id")
	if _, _, err := o.reg.Resolve(t.Context(), "00000000-no", DenyIt, person); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if _, _, err := o.reg.Resolve(t.Context(), rec.ID, "perhaps", person); !errors.Is(err, ErrNotOffered) {
		t.Errorf("not offered: %v", err)
	}
	if got, ok, err := o.reg.Resolve(t.Context(), strings.ToUpper(rec.Slug), DenyIt, person); err != nil || !ok || got.Status != Denied {
		t.Errorf("by slug: %+v %v %v", got, ok, err)
	}
	if _, ok, err := o.reg.Resolve(t.Context(), rec.ID, DenyIt, person); err != nil || ok {
		t.Errorf("the same again: %v %v", ok, err)
	}
	if got, _, err := o.reg.Resolve(t.Context(), rec.ID, AllowOnce, person); !errors.Is(err, ErrResolved) || got.Decision != DenyIt || !strings.Contains(err.Error(), "deny by phone") {
		t.Errorf("another: %v %v", got.Decision, err)
	}
	old := o.ask("late")
	o.skew.Store(DefaultTimeout.Milliseconds() + 1)
	if got, ok, err := o.reg.Resolve(t.Context(), old.ID, AllowOnce, person); ok || !errors.Is(err, ErrResolved) || got.Status != Expired || got.Reason != ReasonTimeout {
		t.Errorf("late: %+v %v %v", got, ok, err)
	}
	gone := o.ask("gone")
	if got, ok, err := o.reg.Cancel(t.Context(), gone.ID, ReasonAborted); err != nil || !ok || got.Status != Cancelled {
		t.Errorf("cancelled: %+v %v %v", got, ok, err)
	}
	if _, _, err := o.reg.Resolve(t.Context(), gone.ID, AllowOnce, person); !errors.Is(err, ErrResolved) {
		t.Errorf("after it was cancelled: %v", err)
	}
}

// TestA10_Expires: nobody has to come by for a request to end.
func TestA10_Expires(t *testing.T) {
	o := newOffice(t)
	rec, _, err := o.reg.Ask(t.Context(), "", request("id"), nil, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.reg.Wait(t.Context(), rec.ID)
	if err != nil || got.Status != Expired || got.Reason != ReasonTimeout || got.Decision != "" {
		t.Errorf("%+v %v", got, err)
	}
}

// TestA14_Restart: pending stays pending, decided stays decided, the plan with it.
func TestA14_Restart(t *testing.T) {
	o := newOffice(t)
	a, b := o.ask("stays"), o.ask("denied")
	if _, _, err := o.reg.Resolve(t.Context(), b.ID, DenyIt, person); err != nil {
		t.Fatal(err)
	}
	<-o.final
	o.restart()
	if p := o.reg.Pending(); len(p) != 1 || p[0].ID != a.ID || p[0].Request.Command != "stays" {
		t.Fatalf("%+v", p)
	}
	if plan, err := o.reg.Plan(t.Context(), a.ID); err != nil || string(plan) != "plan of stays" {
		t.Errorf("%q %v", plan, err)
	}
	if _, err := o.reg.Plan(t.Context(), b.ID); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("the plan of a denied one: %v", err)
	}
	if got, err := o.reg.Get(b.Slug); err != nil || got.Status != Denied {
		t.Errorf("%+v %v", got, err)
	}
	if _, _, err := o.reg.Resolve(t.Context(), a.ID, AllowOnce, person); err != nil {
		t.Fatal(err)
	}
	<-o.final
	o.restart()
	if u := o.reg.Unfinished(); len(u) != 1 || u[0].ID != a.ID || u[0].Run != nil {
		t.Fatalf("%+v", u)
	}
	o.skew.Store(2 * DefaultTimeout.Milliseconds())
	o.restart()
	if len(o.reg.Pending()) != 0 {
		t.Error("pending after everything was decided")
	}
}

// TestA14_NothingRunsTwice: a command is begun once and ends once.
func TestA14_NothingRunsTwice(t *testing.T) {
	o := newOffice(t)
	rec := o.ask("id")
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunStarting}); err == nil {
		t.Error("begun before it was allowed")
	}
	if _, _, err := o.reg.Resolve(t.Context(), rec.ID, AllowOnce, person); err != nil {
		t.Fatal(err)
	}
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunStarting, SessionID: "a-b"}); err != nil {
		t.Fatal(err)
	}
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunStarting}); !errors.Is(err, ErrResolved) {
		t.Errorf("begun twice: %v", err)
	}
	zero := 0
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunEnded, ExitCode: &zero}); err != nil {
		t.Fatal(err)
	}
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunCancelled}); !errors.Is(err, ErrResolved) {
		t.Errorf("ended twice: %v", err)
	}
	got, err := o.reg.Get(rec.ID)
	if err != nil || got.Run.SessionID != "a-b" || got.Run.State != RunEnded {
		t.Errorf("%+v %v", got.Run, err)
	}
	if _, err := o.reg.Plan(t.Context(), rec.ID); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("the plan stays: %v", err)
	}
	items, _, err := o.reg.History(t.Context(), Filter{}, "", 10)
	if err != nil || len(items) != 1 || items[0].Run == nil || items[0].Run.State != RunEnded {
		t.Errorf("%+v %v", items, err)
	}
}

// TestA15_LateDecision: what came of a run stays in the history when the decision is written
// behind it.
func TestA15_LateDecision(t *testing.T) {
	o := newOffice(t)
	rec := o.ask("id")
	decided, _, err := o.reg.Resolve(t.Context(), rec.ID, AllowOnce, person)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.reg.SetRun(t.Context(), rec.ID, Run{State: RunEnded}); err != nil {
		t.Fatal(err)
	}
	o.reg.remember(t.Context(), decided)
	items, _, err := o.reg.History(t.Context(), Filter{}, "", 10)
	if err != nil || len(items) != 1 || items[0].Run == nil || items[0].Run.State != RunEnded {
		t.Errorf("%+v %v", items, err)
	}
}

// TestA16_Limits: 1,000 pending, 50 of a session, identical ones join.
func TestA16_Limits(t *testing.T) {
	o := newOffice(t)
	req := request("same")
	req.Digest = "d"
	first, joined, err := o.reg.Ask(t.Context(), "", req, nil, 0)
	if err != nil || joined {
		t.Fatal(err)
	}
	if again, joined, err := o.reg.Ask(t.Context(), "", req, nil, 0); err != nil || !joined || again.ID != first.ID {
		t.Errorf("%v %v %v", again.ID, joined, err)
	}
	if _, _, err := o.reg.Ask(t.Context(), first.ID, request("x"), nil, 0); !errors.Is(err, ErrTaken) {
		t.Errorf("a known id: %v", err)
	}
	for i := range 49 {
		o.ask(fmt.Sprint("c", i))
	}
	if _, _, err := o.reg.Ask(t.Context(), "", request("one more"), nil, 0); !errors.Is(err, ErrLimit) {
		t.Errorf("51 of a session: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 950 {
		wg.Go(func() {
			r := request("x")
			r.SessionKey = fmt.Sprint("agent:main:", i)
			if _, _, err := o.reg.Ask(t.Context(), "", r, nil, 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r := request("x")
	r.SessionKey = "other"
	if _, _, err := o.reg.Ask(t.Context(), "", r, nil, 0); !errors.Is(err, ErrLimit) {
		t.Errorf("1001 pending: %v", err)
	}
	begin := time.Now()
	if n := len(o.reg.Pending()); n != 1000 {
		t.Errorf("%d pending", n)
	}
	t.Logf("1,000 pending listed in %v", time.Since(begin))
	if _, _, err := o.reg.Resolve(t.Context(), first.ID, DenyIt, person); err != nil {
		t.Fatal(err)
	}
	if _, joined, err := o.reg.Ask(t.Context(), "", req, nil, 0); err != nil || joined {
		t.Errorf("joined a decided one: %v %v", joined, err)
	}
}

// TestA15_History pages from the newest to the oldest, masks secrets, and forgets in time.
func TestA15_History(t *testing.T) {
	o := newOffice(t)
	for i := range 25 {
		rec := o.ask(fmt.Sprintf("deploy --token=verysecretvalue %d", i))
		o.skew.Add(10)
		if _, _, err := o.reg.Resolve(t.Context(), rec.ID, DenyIt, person); err != nil {
			t.Fatal(err)
		}
		<-o.final
	}
	var got []string
	for cursor := ""; ; {
		items, next, err := o.reg.History(t.Context(), Filter{Agent: "main"}, cursor, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if strings.Contains(it.Request.Command, "verysecret") {
				t.Errorf("a secret in the history: %s", it.Request.Command)
			}
			got = append(got, it.Request.Command[strings.LastIndexByte(it.Request.Command, ' ')+1:])
		}
		if cursor = next; next == "" {
			break
		}
	}
	if len(got) != 25 || got[0] != "24" || got[24] != "0" {
		t.Errorf("%v", got)
	}
	if items, _, err := o.reg.History(t.Context(), Filter{Status: Allowed}, "", 10); err != nil || len(items) != 0 {
		t.Errorf("%v %v", items, err)
	}
	o.skew.Add((31 * 24 * time.Hour).Milliseconds())
	if items, _, err := o.reg.History(t.Context(), Filter{}, "", 10); err != nil || len(items) != 0 {
		t.Errorf("after 31 days: %v %v", items, err)
	}
	if n, err := o.reg.Trim(t.Context()); n != 25 || err != nil {
		t.Errorf("%d trimmed, %v", n, err)
	}
}

// TestA12_Reachable follows who listens.
func TestA12_Reachable(t *testing.T) {
	o := newOffice(t)
	if o.reg.Reachable() {
		t.Error("nobody is there")
	}
	quiet, screen := o.reg.Subscribe(false), o.reg.Subscribe(true)
	if !o.reg.Reachable() {
		t.Error("a screen is there")
	}
	rec := o.ask("id")
	for _, s := range []*Subscription{quiet, screen} {
		if e, err := s.Next(t.Context()); err != nil || e.Final || e.Record.ID != rec.ID {
			t.Errorf("%+v %v", e, err)
		}
	}
	screen.Close()
	screen.Close()
	if o.reg.Reachable() {
		t.Error("the screen has gone")
	}
	if _, _, err := o.reg.Cancel(t.Context(), rec.ID, ReasonAborted); err != nil {
		t.Fatal(err)
	}
	if e, err := quiet.Next(t.Context()); err != nil || !e.Final || e.Record.Status != Cancelled {
		t.Errorf("%+v %v", e, err)
	}
	quiet.Close()
	if _, err := quiet.Next(t.Context()); err == nil {
		t.Error("Next after Close")
	}
}

// Detaching and deciding at once loses neither.
func TestA14_DetachWhileDeciding(t *testing.T) {
	o := newOffice(t)
	for range 20 {
		rec := o.ask("id")
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := o.reg.Detach(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, _, err := o.reg.Resolve(t.Context(), rec.ID, AllowOnce, person); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		got, err := o.reg.Get(rec.ID)
		if err != nil || !got.Detached || got.Status != Allowed {
			t.Errorf("%+v %v", got, err)
		}
		<-o.final
	}
	o.restart()
	if n := len(o.reg.Unfinished()); n != 20 {
		t.Errorf("%d unfinished", n)
	}
	if slices.ContainsFunc(o.reg.Unfinished(), func(r Record) bool { return !r.Detached }) {
		t.Error("not detached after a restart")
	}
}

// ended waits for a request to become final.
func (o *office) ended() {
	o.t.Helper()
	select {
	case <-o.final:
	case <-time.After(5 * time.Second):
		o.t.Fatal("nothing became final")
	}
}

// TestA14_CallersGo: whoever goes in the middle of a change leaves a registry that knows
// what is kept: each request can be decided once, also after a restart.
func TestA14_CallersGo(t *testing.T) {
	o := newOffice(t)
	hasty := func(do func(ctx context.Context)) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(time.Now().UnixNano()%3000) * time.Microsecond)
			cancel()
		}()
		do(ctx)
		cancel()
	}
	for i := range 60 {
		rec := o.ask(fmt.Sprint("decide ", i))
		hasty(func(ctx context.Context) { _, _, _ = o.reg.Resolve(ctx, rec.ID, AllowOnce, person) })
		hasty(func(ctx context.Context) { _ = o.reg.Detach(ctx, rec.ID) })
		if _, _, err := o.reg.Resolve(t.Context(), rec.ID, DenyIt, person); err != nil && !errors.Is(err, ErrResolved) {
			t.Fatalf("%d: %v", i, err)
		}
		o.ended()
		kept := 0
		hasty(func(ctx context.Context) {
			if _, _, err := o.reg.Ask(ctx, "", request(fmt.Sprint("ask ", i)), []byte("plan"), 0); err == nil {
				kept++
			}
		})
		if n := len(o.reg.Pending()); n != kept {
			t.Fatalf("%d: %d pending, %d were asked", i, n, kept)
		}
		if i%10 == 9 {
			o.restart()
		}
		if n := len(o.reg.Pending()); n != kept {
			t.Fatalf("%d: %d pending after a restart, %d were asked", i, n, kept)
		}
		for _, p := range o.reg.Pending() {
			if _, _, err := o.reg.Cancel(t.Context(), p.ID, ReasonAborted); err != nil {
				t.Fatal(err)
			}
			o.ended()
		}
	}
}

// TestA16_JoinAtOnce: who joins a request that is being kept takes nothing from the one who
// asked first, and all of them have the same.
func TestA16_JoinAtOnce(t *testing.T) {
	o := newOffice(t)
	for i := range 20 {
		req := request("id")
		req.Digest = fmt.Sprint(i)
		var wg sync.WaitGroup
		ids := make([]string, 6)
		for k := range ids {
			wg.Go(func() {
				rec, _, err := o.reg.Ask(t.Context(), "", req, []byte("plan"), 0)
				if err == nil {
					err = o.reg.Detach(t.Context(), rec.ID)
				}
				if err != nil {
					t.Error(err)
				}
				ids[k] = rec.ID
			})
		}
		wg.Wait()
		if slices.Sort(ids); ids[0] != ids[5] {
			t.Errorf("%v", ids)
		}
		if _, _, err := o.reg.Resolve(t.Context(), ids[0], DenyIt, person); err != nil {
			t.Error(err)
		}
		o.ended()
	}
}
