package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// rpc calls a method as the operator. It reports false when the daemon has gone.
func (d *daemon) rpc(method string, params, result any) (failure string, ok bool) {
	body, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err != nil {
		d.t.Error(err)
		return "", false
	}
	req, err := http.NewRequest(http.MethodPost, d.url+"/rpc", strings.NewReader(string(body)))
	if err != nil {
		d.t.Error(err)
		return "", false
	}
	req.Header.Set("Authorization", "Bearer "+d.secret("gateway-token"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	var answer struct {
		OK     bool
		Result json.RawMessage
		Error  struct{ Message string }
	}
	if json.NewDecoder(res.Body).Decode(&answer) != nil {
		return "", false
	}
	if !answer.OK {
		return answer.Error.Message, true
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			d.t.Error(err)
		}
	}
	return "", true
}

// watch listens for approvals, so that somebody is there to answer.
func (d *daemon) watch(ctx context.Context) {
	open := make(chan struct{})
	go func() { // ends with ctx or the daemon
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/events?approvals=1", nil)
		if err != nil {
			close(open)
			return
		}
		req.Header.Set("Authorization", "Bearer "+d.secret("gateway-token"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			close(open)
			return
		}
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		lines.Scan()
		close(open)
		for lines.Scan() {
		}
	}()
	<-open
}

// asked is one command that waits or waited for an answer.
type asked struct {
	mark     string // what it writes, once
	id       string
	sent     string // the answer that was given; "" = none
	taken    bool   // the daemon said that it is recorded
	settled  bool   // nothing more can become of it
	verified bool
}

// approvalView is what approval.get says.
type approvalView struct {
	Approval struct {
		Status, Decision, Reason string
		Run                      *struct{ State, Reason string }
	}
}

// TestCrash_A14 asks, answers and kills the daemon at a random point, again and again:
// every request is in one legal state, no command ran twice, none without a recorded
// allow, no allow-always entry is lost or doubled, the document is never torn.
// CRASH_ROUNDS sets how often (make crash: 300).
func TestCrash_A14(t *testing.T) {
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("CRASH_ROUNDS")); err == nil && n > 0 {
		rounds = n
	}
	p := newPlace(t, `tools: {exec: {mode: "ask"}}`)
	c := &crash{place: p, file: filepath.Join(p.home, "ran"), rnd: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 14)), states: map[string]int{}}
	for round := range rounds {
		c.round(round)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	d := p.start()
	c.verify(d, true)
	t.Logf("%d rounds, %d requests: %v", rounds, len(c.all), c.states)
}

type crash struct {
	*place
	file   string
	rnd    *rand.Rand
	all    []*asked
	states map[string]int
	n      int
}

func (c *crash) round(round int) {
	d := c.start()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d.watch(ctx)
	c.verify(d, false)
	token := d.secret("agent-token")
	for range 1 + c.rnd.IntN(4) {
		c.n++
		a := &asked{mark: fmt.Sprintf("m%d", c.n)}
		res := d.invoke(token, "exec", map[string]any{"command": "echo " + a.mark + " | tee -a " + c.file})
		if res["status"] != "approval-pending" {
			c.t.Errorf("%s: %v", a.mark, res)
			return
		}
		a.id, _ = res["sessionId"].(string)
		c.all = append(c.all, a)
	}
	open := []*asked{}
	for _, a := range c.all {
		if a.sent == "" && !a.settled {
			open = append(open, a)
		}
	}
	var wg sync.WaitGroup
	for _, a := range open {
		if c.rnd.IntN(4) == 0 {
			continue // stays pending over the kill
		}
		a.sent = []string{"allow-once", "allow-once", "allow-always", "deny"}[c.rnd.IntN(4)]
		pause := time.Duration(c.rnd.IntN(20)) * time.Millisecond
		wg.Go(func() {
			time.Sleep(pause)
			var res struct{ Applied bool }
			if failure, ok := d.rpc("approval.resolve", map[string]string{"id": a.id, "decision": a.sent}, &res); ok && failure == "" {
				a.taken = true
			}
		})
	}
	time.Sleep(time.Duration(c.rnd.IntN(40)) * time.Millisecond)
	d.kill9()
	wg.Wait()
}

// verify looks at every request after a restart.
func (c *crash) verify(d *daemon, last bool) {
	ran := map[string]int{}
	if data, err := os.ReadFile(c.file); err == nil {
		for line := range strings.Lines(string(data)) {
			ran[strings.TrimSpace(line)]++
		}
	}
	entries := c.entries()
	for _, a := range c.all {
		if a.verified {
			continue
		}
		var v approvalView
		settle := func() bool {
			failure, ok := d.rpc("approval.get", map[string]string{"id": a.id}, &v)
			if !ok || failure != "" {
				c.t.Errorf("%s: %s %v", a.mark, failure, ok)
				return true
			}
			run := v.Approval.Run
			return v.Approval.Status != "allowed" || run != nil && (run.State == "ended" || run.State == "cancelled" || run.State == "refused")
		}
		c.await("the run of "+a.mark+" is over", settle)
		if data, err := os.ReadFile(c.file); err == nil {
			ran[a.mark] = strings.Count("\n"+string(data), "\n"+a.mark+"\n")
		}
		c.check(a, v, ran[a.mark])
		if a.taken && a.sent == "allow-always" && v.Approval.Status == "allowed" && entries != nil && entries[a.mark] == 0 {
			entries = c.entries() // it may have been stored just now
			if entries[a.mark] != 1 {
				c.t.Errorf("%s: its entry stands %d times in the document", a.mark, entries[a.mark])
			}
		}
		if entries[a.mark] > 1 {
			c.t.Errorf("%s: its entry is doubled", a.mark)
		}
		if v.Approval.Status != "pending" {
			a.settled, a.verified = true, !last
		} else {
			a.sent = "" // it was not taken: it is asked again
		}
	}
}

func (c *crash) check(a *asked, v approvalView, ran int) {
	got := v.Approval
	run := "-"
	if got.Run != nil {
		run = got.Run.State
	}
	c.states[got.Status+"/"+run]++ // what is pending is counted each time
	switch got.Status {
	case "pending":
		if a.taken || ran > 0 {
			c.t.Errorf("%s is pending, but its answer was taken (%v) or it ran (%d)", a.mark, a.taken, ran)
		}
	case "allowed":
		want := map[string]int{"ended": 1, "cancelled": 0, "refused": 0}[run]
		if got.Decision != a.sent || ran != want {
			c.t.Errorf("%s: %s by %q, answered %q, run %s, it ran %d times", a.mark, got.Status, got.Decision, a.sent, run, ran)
		}
	case "denied":
		if a.sent != "deny" || ran > 0 {
			c.t.Errorf("%s is denied, answered %q, ran %d times", a.mark, a.sent, ran)
		}
	default:
		c.t.Errorf("%s is %s (%s)", a.mark, got.Status, got.Reason)
	}
}

// entries counts the document's entries by the command they were stored for.
func (c *crash) entries() map[string]int {
	data, err := os.ReadFile(filepath.Join(c.state, "exec-approvals.json"))
	if os.IsNotExist(err) {
		return map[string]int{}
	}
	var doc struct {
		Agents map[string]struct {
			Allowlist []struct{ Pattern, CommandText string }
		}
	}
	if err != nil || json.Unmarshal(data, &doc) != nil {
		c.t.Errorf("the document is torn: %v\n%s", err, data)
		return nil
	}
	out := map[string]int{}
	for _, scope := range doc.Agents {
		for _, e := range scope.Allowlist {
			if strings.HasSuffix(e.Pattern, "/echo") {
				out[strings.Fields(e.CommandText)[1]]++
			}
		}
	}
	return out
}
