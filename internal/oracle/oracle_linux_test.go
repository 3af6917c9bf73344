package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/policy"
)

// found is where failing commands are kept, one Go string a line.
const found = "testdata/found.txt"

// job is an allowed command that is to be traced.
type job struct {
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

// sum counts all families.
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
	src := newSource(t, uint64(seed))
	count := &tally{judged: map[string]int{}, allowed: map[string]int{}, traced: map[string]int{}}
	jobs := make(chan job, 64)
	var wg sync.WaitGroup
	for w := range 3 {
		scratch := filepath.Join(t.TempDir(), strconv.Itoa(w))
		must(t, os.Mkdir(scratch, 0o755))
		wg.Go(func() {
			for j := range jobs {
				count.add(count.traced, j.family)
				if why := y.fault(j.command, j.decision, scratch); why != "" {
					small := y.smaller(j.command, scratch)
					t.Errorf("%q: %s\nsmaller: %q", j.command, why, small)
					keep(t, small)
				}
			}
		})
	}
	seen := map[string]bool{}
	last := time.Now()
	for i := range n {
		family, command := src.next()
		if seen[command] {
			continue
		}
		seen[command] = true
		d := y.judge(command)
		count.add(count.judged, family)
		if again := y.judge(command); again.Outcome != d.Outcome || again.Reason != d.Reason {
			t.Errorf("%q is judged in two ways: %s and %s", command, d.Reason, again.Reason)
		}
		if d.Outcome != policy.OutcomeAllow {
			continue
		}
		count.add(count.allowed, family)
		src.allowed(command)
		jobs <- job{family, command, d}
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			fmt.Printf("oracle: %d of %d judged, %d allowed and traced\n", i, n, count.sum(count.traced))
		}
	}
	close(jobs)
	wg.Wait()
	for _, family := range slices.Sorted(maps.Keys(count.judged)) {
		t.Logf("%-22s %7d judged %6d allowed", family, count.judged[family], count.allowed[family])
	}
	t.Logf("%d judged, %d allowed, %d traced, seed %d", count.sum(count.judged), count.sum(count.allowed), count.sum(count.traced), seed)
	if count.sum(count.allowed) < n/20 {
		t.Errorf("only %d of %d were allowed: the oracle says little", count.sum(count.allowed), n)
	}
}

// smaller takes parts out of a failing command as long as it still fails.
func (y *yard) smaller(command, scratch string) string {
	fails := func(c string) bool {
		d := y.judge(c)
		return d.Outcome == policy.OutcomeAllow && y.fault(c, d, scratch) != ""
	}
	for size := max(len(command)/2, 1); size >= 1; size /= 2 {
		for at := 0; at+size <= len(command); {
			if c := command[:at] + command[at+size:]; fails(c) {
				command = c
			} else {
				at += size
			}
		}
	}
	return command
}

// keep adds a failing command to those that are always tried.
func keep(t *testing.T, command string) {
	f, err := os.OpenFile(found, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	defer f.Close()
	_, err = fmt.Fprintln(f, strconv.Quote(command))
	must(t, err)
}

// TestFound: what failed once is tried for ever.
func TestFound(t *testing.T) {
	y := newYard(t)
	data, err := os.ReadFile(found)
	must(t, err)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		command, err := strconv.Unquote(line)
		must(t, err)
		d := y.judge(command)
		if d.Outcome != policy.OutcomeAllow {
			continue
		}
		if why := y.fault(command, d, t.TempDir()); why != "" {
			t.Errorf("%q: %s", command, why)
		}
	}
}

// TestOracleSees: the oracle itself notices a start that was not judged.
func TestOracleSees(t *testing.T) {
	y := newYard(t)
	for _, command := range []string{"git a", "git a; ls b", "nice git", "sh -c 'git; ls' | cat"} {
		d := y.judge(command)
		if why := y.fault(command, d, t.TempDir()); why != "" {
			t.Errorf("%q: %s", command, why)
		}
		list, err := y.started(d.Plan, command, t.TempDir())
		if err != nil || len(list) == 0 {
			t.Errorf("%q: started %v, %v", command, list, err)
		}
		other := y.judge("printf x") // a judgement of something else names none of these
		if named(other)[list[0]] {
			t.Errorf("%q: %s is named by another judgement", command, list[0])
		}
	}
}
