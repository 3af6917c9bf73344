package oracle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

// job is an allowed command that is to be traced.
type job struct {
	y               *yard
	family, command string
	decision        policy.Decision
}

// tally counts by family.
type tally struct {
	mu                      sync.Mutex
	judged, allowed, traced map[string]int
}

func (c *tally) add(m map[string]int, family string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m[family]++
}

func (c *tally) sum(m map[string]int) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range m {
		n += v
	}
	return n
}

// setting reads a number from the environment.
func setting(name string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// TestOracle is P-71. OPENCLAW_ORACLE_N is how many commands are judged (2,000; make oracle
// takes 200,000), OPENCLAW_ORACLE_SEED picks others.
func TestOracle(t *testing.T) {
	y := newYard(t)
	n, seed := setting("OPENCLAW_ORACLE_N", 2000), setting("OPENCLAW_ORACLE_SEED", 1)
	src := newSource(t, y, uint64(seed))
	before := snapshot(t, y.dir)
	count := &tally{judged: map[string]int{}, allowed: map[string]int{}, traced: map[string]int{}}
	jobs := make(chan job, 64)
	var wg sync.WaitGroup
	for range 3 { // a walk mostly waits, so one more than there are processors
		wg.Go(func() {
			for j := range jobs {
				count.trace(t, j)
			}
		})
	}
	walks := map[[32]byte]bool{}
	last := time.Now()
	for i := range n {
		if end, ok := t.Deadline(); ok && time.Until(end) < 40*time.Second {
			t.Errorf("out of time after %d of %d commands", i, n) // better than no counts at all
			break
		}
		y, family, command := src.next()
		d := y.judge(command)
		count.add(count.judged, family)
		if why := differs(d, y.judge(command)); why != "" {
			t.Errorf("%q is judged in two ways: %s", command, why)
		}
		if d.Outcome != policy.OutcomeAllow {
			continue
		}
		count.add(count.allowed, family)
		src.allowed(y, command)
		if key := sameWalk(y, d.Plan); !walks[key] { // other spellings of it are walked alike
			walks[key] = true
			jobs <- job{y, family, command, d}
		}
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			fmt.Printf("oracle: %d of %d judged, %d allowed, %d traced\n", i+1, n, count.sum(count.allowed), count.sum(count.traced))
		}
	}
	close(jobs)
	wg.Wait()
	count.report(t, n, seed)
	for _, change := range changes(before, snapshot(t, y.dir)) {
		t.Errorf("something that was allowed has changed a file: %s", change)
	}
}

// trace runs one job and makes it smaller when it fails.
func (c *tally) trace(t *testing.T, j job) {
	why, traced := j.y.fault(j.command, j.decision)
	if traced {
		c.add(c.traced, j.family)
	}
	if why == "" {
		return
	}
	small := j.y.smaller(j.command)
	t.Errorf("%s in yard %q: %q: %s\nsmaller: %q", j.family, j.y.name, j.command, why, small)
	c.mu.Lock()
	defer c.mu.Unlock()
	keep(t, finding{Command: small, Case: j.y.name, Why: why})
}

func (c *tally) report(t *testing.T, n, seed int) {
	t.Helper()
	for _, family := range slices.Sorted(maps.Keys(c.judged)) {
		t.Logf("%-22s %7d judged %6d allowed %6d traced", family, c.judged[family], c.allowed[family], c.traced[family])
	}
	traced := c.sum(c.traced)
	t.Logf("%d judged, %d allowed, %d of them different and traced, seed %d", c.sum(c.judged), c.sum(c.allowed), traced, seed)
	if traced < n/10 {
		t.Errorf("only %d of %d were traced: the oracle says little", traced, n)
	}
}

// differs says how two judgements of one command differ (P-72).
func differs(a, b policy.Decision) string {
	const late = "the pattern took too long" // a clock's word, on a busy machine not twice the same; it is a miss in any case
	if a.Outcome != policy.OutcomeAllow && b.Outcome != policy.OutcomeAllow && (strings.Contains(a.Reason, late) || strings.Contains(b.Reason, late)) {
		return ""
	}
	switch {
	case a.Outcome != b.Outcome || a.Rule != b.Rule || a.Reason != b.Reason:
		return a.Rule + ": " + a.Reason + ", then " + b.Rule + ": " + b.Reason
	case (a.Plan == nil) != (b.Plan == nil) || a.Plan != nil && !bytes.Equal(a.Plan.Encode(), b.Plan.Encode()):
		return "the plans differ"
	case !reflect.DeepEqual(a.Remarks, b.Remarks):
		return "the remarks differ"
	}
	return ""
}

// sameWalk is the same for plans of one yard that differ only in where their words stand
// in the text.
func sameWalk(y *yard, plan *shell.Plan) [32]byte {
	copied, err := shell.DecodePlan(plan.Encode())
	if err != nil {
		return [32]byte{}
	}
	noSpans(copied)
	return sha256.Sum256(append([]byte(y.name+"\x00"), copied.Encode()...))
}

func noSpans(p *shell.Plan) {
	var stmt func(st *shell.Stmt)
	stmt = func(st *shell.Stmt) {
		if st == nil {
			return
		}
		st.Span = shell.Span{}
		noWordSpans(st.Values, st.Redirs, nil)
		for _, kid := range st.Kids {
			stmt(kid)
		}
	}
	stmt(p.Root)
	for i := range p.Starts {
		s := &p.Starts[i]
		noWordSpans(s.Argv, s.Redirs, s.Assigns)
		if s.Shell != nil {
			noSpans(s.Shell)
		}
	}
}

func noWordSpans(words []shell.Word, redirs []shell.Redir, assigns []shell.Assign) {
	for i := range words {
		words[i].Span = shell.Span{}
	}
	for i := range redirs {
		redirs[i].Span = shell.Span{}
	}
	for i := range assigns {
		assigns[i].Span = shell.Span{}
	}
}
