package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
)

var shellNames = " sh ash bash dash zsh ksh "

// bash is the real one, under the same trace.
type bash struct {
	y        *yard
	path, rc string
}

func newBash(t *testing.T, y *yard) *bash {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	b := &bash{y: y, path: path, rc: filepath.Join(y.dir, "rc")}
	// What is judged as a program is to be started as one here too (P-23).
	must(t, os.WriteFile(b.rc, []byte("enable -n echo printf test [\n"), 0o600))
	return b
}

// comparable says if bash is to do the same: a shell within the text must be bash too,
// and without start-up files of its own.
func (b *bash) comparable(p *shell.Plan) bool {
	if hasLoop(p) {
		return false
	}
	for i := range p.Starts {
		s := &p.Starts[i]
		if s.Shell == nil {
			continue
		}
		for k, w := range s.Argv {
			if k == 0 && filepath.Base(w.Text) != "bash" || k == 1 && w.Text != "-c" {
				return false
			}
		}
		if !b.comparable(s.Shell) {
			return false
		}
	}
	return true
}

func (b *bash) run(command string) ([]string, error) {
	r := run{path: b.path, argv: []string{"bash", "--noprofile", "--norc", "-c", command}, dir: b.y.work, limit: hangs, starts: maxStarts}
	r.env = append(slices.Clone(b.y.env), "PWD="+b.y.work, "BASH_ENV="+b.rc)
	null := b.y.null.Fd()
	r.files = []uintptr{null, null, null}
	list, cut, err := trace(r)
	if err == nil && cut {
		err = fmt.Errorf("bash does not end")
	}
	return outline(list, nil), err
}

// outline is what started, in words that are the same however it came about: the programs
// from the outermost wrapper on, the last one's words, and where. Shells are left out, the
// order too, since the parts of a pipeline start at once.
func outline(list []*started, self *started) []string {
	var out []string
	for _, s := range list {
		if isShell(s) {
			continue
		}
		var chain []string
		for _, l := range s.line(self) {
			if !isShell(l) {
				chain = append(chain, l.exe)
			}
		}
		argv := s.argv
		switch {
		case isWrapper(s.exe): // its inner program is a path here and a word there
			argv = nil
		case len(chain) > 1:
			argv = argv[1:]
		}
		if filepath.Base(s.exe) == "interp" { // a script is started by its judged path, not by the word
			argv = slices.Clone(argv)
			for i, a := range argv {
				if strings.HasSuffix(a, "/say") && !filepath.IsAbs(a) {
					argv[i] = filepath.Join(s.cwd, a)
				}
			}
		}
		out = append(out, strings.Join(chain, " > ")+": "+quote(argv)+" in "+s.cwd)
	}
	slices.Sort(out)
	return out
}

func isShell(s *started) bool { return strings.Contains(shellNames, " "+filepath.Base(s.exe)+" ") }

// differ says in what a walk is not what bash does with the text, "" = in nothing.
func (b *bash) differ(command string, d policy.Decision) string {
	w, err := b.y.walk(d.Plan, command, hangs)
	if err != nil {
		return err.Error()
	}
	want, err := b.run(command)
	if err != nil {
		return err.Error()
	}
	got := outline(w.list, w.self)
	if !slices.Equal(got, want) {
		return "started\n\t" + strings.Join(got, "\n\t") + "\nand by bash\n\t" + strings.Join(want, "\n\t")
	}
	return ""
}

// TestOracleBash: what is allowed starts the same programs, with the same words in the same
// directories, as bash starts when it reads the text (P-20). A tenth of
// OPENCLAW_ORACLE_N is judged, 1,000 at least.
func TestOracleBash(t *testing.T) {
	y := newYard(t)
	b := newBash(t, y)
	n, seed := max(setting("OPENCLAW_ORACLE_N", 2000)/10, 1000), setting("OPENCLAW_ORACLE_SEED", 1)
	src := newSource(t, y, uint64(seed)+1e6)
	compared, last := 0, time.Now()
	for i := range n {
		in, _, command := src.next()
		d := in.judge(command)
		if in != y || d.Outcome != policy.OutcomeAllow {
			continue
		}
		src.allowed(y, command)
		// Here other spellings count: reading them is what is compared.
		if _, runs := y.refused(d, wants(d.Plan)); !runs || !b.comparable(d.Plan) {
			continue
		}
		compared++
		if why := b.differ(command, d); why != "" {
			small := minimise(command, func(c string) bool {
				d := y.judge(c)
				if d.Outcome != policy.OutcomeAllow || !b.comparable(d.Plan) {
					return false
				}
				_, runs := y.refused(d, wants(d.Plan))
				return runs && b.differ(c, d) != ""
			})
			t.Errorf("%q: %s\nsmaller: %q", command, why, small)
		}
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			fmt.Printf("oracle: %d of %d judged, %d compared with bash\n", i+1, n, compared)
		}
	}
	t.Logf("%d judged, %d compared with bash, seed %d", n, compared, seed)
	if compared < n/20 {
		t.Errorf("only %d of %d were compared: the test says little", compared, n)
	}
}

// TestOracleBashSees: the comparison notices what it is there for.
func TestOracleBashSees(t *testing.T) {
	y := newYard(t)
	b := newBash(t, y)
	for text, other := range map[string]string{
		"git a": "git b", "git a; ls": "git a", "git a | ls b": "git a | ls b c", "nice git a": "git a", "cd sub && git a": "git a", "echo a b": "echo 'a b'",
		"nice git": "nice -n 1 ls", "bash -c 'git a'": "bash -c 'git b'", "ls *.txt": "ls '*.txt'", "time git a": "nice git a", "./say x": "./say y",
	} {
		d := y.judge(text)
		if d.Plan == nil {
			t.Fatalf("%q: %s", text, d.Reason)
		}
		if why := b.differ(text, d); why != "" {
			t.Errorf("%q: %s", text, why)
		}
		if b.differ(other, d) == "" {
			t.Errorf("%q is not told from %q", text, other)
		}
	}
}
