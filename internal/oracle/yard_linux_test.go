package oracle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// mark is in every data file of a yard: a filter that prints it has read a file.
const mark = "MARK-OF-A-FILE"

// yard is a scratch directory with programs that do nothing. Some are on the list, the
// others exist and are not.
type yard struct {
	name      string // the id of the case it is made for, "" = of no case
	dir, work string
	bin, path string
	env       []string
	null      *os.File
	machine   *host.Machine
	layers    policy.Layers
	rules     policy.Rules
	reqEnv    map[string]string
	model     model
}

var (
	listed   = []string{"git", "ls", "echo", "cat", "printf", "test", "[", "rg", "make"}
	unlisted = []string{"id", "evil", "touch", "curl", "x"}
)

// noop is a program that does nothing, to be copied under many names.
func noop(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Skip("needs /usr/bin/true")
	}
	return data
}

// needTrace skips where the kernel lets nothing be traced.
func needTrace(t *testing.T) {
	t.Helper()
	list, _, err := trace(run{path: "/usr/bin/true", argv: []string{"true"}, limit: 10 * time.Second, starts: 1})
	if err != nil {
		t.Skipf("needs a system that lets a process trace its children (ptrace): %v", err)
	}
	if len(list) != 1 || filepath.Base(list[0].exe) == "" {
		t.Fatalf("the trace of true has %d starts", len(list))
	}
}

// plainYard is an empty yard: its directories and what to run commands with.
func plainYard(t *testing.T, dir string) *yard {
	t.Helper()
	y := &yard{dir: dir, work: filepath.Join(dir, "work"), bin: filepath.Join(dir, "bin"), machine: host.NewMachine(nil)}
	for _, d := range []string{y.bin, y.work} {
		must(t, os.MkdirAll(d, 0o755))
	}
	y.path = y.bin + ":/usr/bin:/bin"
	y.layers = policy.Layers{Security: policy.Allowlist, SecuritySource: "oracle"}
	return y
}

// environment is what every command of the yard begins with. GORACE is for the walker, who
// is this program: with the race detector it would sleep for a second at its end.
func (y *yard) environment(more ...string) {
	y.env = append([]string{"PATH=" + y.path, "HOME=" + y.dir, "LANG=C.UTF-8", "X=id", "EMPTY=", "SP=a  b", "STAR=*", "GORACE=atexit_sleep_ms=0"}, more...)
}

func newYard(t *testing.T) *yard {
	t.Helper()
	needTrace(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	y := plainYard(t, dir)
	for _, d := range []string{"work/sub/deep", "work/d 1"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	data := noop(t)
	for _, name := range append(append([]string{"interp"}, listed...), unlisted...) {
		must(t, os.WriteFile(filepath.Join(y.bin, name), data, 0o755))
	}
	for _, name := range []string{"tool", "git", "sub/tool", "sub/id"} {
		must(t, os.WriteFile(filepath.Join(y.work, name), data, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(y.work, "say"), []byte("#!"+y.bin+"/interp -a\n"), 0o755))
	for _, name := range []string{"a.txt", "b.txt", "b", "-rf", "x.sh", "list0", "sub/c.txt"} {
		must(t, os.WriteFile(filepath.Join(y.work, name), []byte("id\n"+mark+"\n"), 0o644))
	}
	must(t, os.Symlink("../bin/id", filepath.Join(y.work, "ls")))
	must(t, os.Symlink("sub", filepath.Join(y.work, "link")))
	var entries []policy.Entry
	for _, name := range listed {
		entries = append(entries, policy.Entry{Pattern: filepath.Join(y.bin, name)})
	}
	entries = append(entries, policy.Entry{Pattern: filepath.Join(y.work, "tool")}, policy.Entry{Pattern: filepath.Join(y.work, "say")},
		policy.Entry{Pattern: "/usr/bin/find", ArgPattern: `^\. -name [a-z*.]+$`})
	bins := []string{"cut", "uniq", "head", "tail", "tr", "wc", "grep", "sort"}
	y.rules = policy.Rules{Allowlist: policy.Compile(entries, dir), AllowStreamRedirects: true, SafeBins: policy.CompileSafeBins(bins, nil, nil)}
	y.model = newModel(entries, bins, nil, dir)
	y.environment()
	y.files(t)
	return y
}

// files opens what commands read from and write to.
func (y *yard) files(t *testing.T) {
	t.Helper()
	var err error
	y.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { y.null.Close() })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (y *yard) judge(command string) policy.Decision {
	return policy.Decide(policy.Input{
		Command: command, Dir: y.work, Path: y.path, Agent: "main", Machine: y.machine.Once(), Rules: y.rules, Layers: y.layers, Env: y.reqEnv,
	})
}
