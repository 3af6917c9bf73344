package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// yard is a scratch directory with programs that do nothing. Some are on the list, the
// others exist and are not.
type yard struct {
	dir, bin, path string
	strace         string
	machine        *host.Machine
	rules          policy.Rules
}

var (
	listed   = []string{"git", "ls", "echo", "cat", "printf", "test", "[", "rg", "make"}
	unlisted = []string{"id", "evil", "touch", "curl", "x"}
)

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{machine: host.NewMachine(nil)}
	var err error
	if y.strace, err = exec.LookPath("strace"); err != nil {
		t.Skip("needs strace")
	}
	if out, err := exec.Command(y.strace, "-f", "/bin/true").CombinedOutput(); err != nil {
		t.Skipf("needs a strace that may trace: %s", out)
	}
	if y.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	noop, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Skip("needs /usr/bin/true")
	}
	y.bin = filepath.Join(y.dir, "bin")
	for _, d := range []string{"bin", "work/sub/deep", "work/d 1"} {
		must(t, os.MkdirAll(filepath.Join(y.dir, d), 0o755))
	}
	for _, name := range append(append([]string{}, listed...), unlisted...) {
		must(t, os.WriteFile(filepath.Join(y.bin, name), noop, 0o755))
	}
	for _, name := range []string{"work/tool", "work/git", "work/sub/tool", "work/sub/id"} {
		must(t, os.WriteFile(filepath.Join(y.dir, name), noop, 0o755))
	}
	for _, name := range []string{"work/a.txt", "work/b.txt", "work/-rf", "work/x.sh", "work/list0"} {
		must(t, os.WriteFile(filepath.Join(y.dir, name), []byte("id\n"), 0o644))
	}
	must(t, os.Symlink("../bin/id", filepath.Join(y.dir, "work/ls")))
	must(t, os.Symlink("sub", filepath.Join(y.dir, "work/link")))
	var entries []policy.Entry
	for _, name := range listed {
		entries = append(entries, policy.Entry{Pattern: filepath.Join(y.bin, name)})
	}
	entries = append(entries, policy.Entry{Pattern: filepath.Join(y.dir, "work/tool")}, policy.Entry{Pattern: "/usr/bin/find", ArgPattern: `^\. -name [a-z*.]+$`})
	y.path = y.bin + ":/usr/bin:/bin"
	y.rules = policy.Rules{
		Allowlist: policy.Compile(entries, y.dir), AllowStreamRedirects: true,
		SafeBins: policy.CompileSafeBins([]string{"cut", "uniq", "head", "tail", "tr", "wc", "grep", "sort"}, nil, nil),
	}
	return y
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (y *yard) work() string { return filepath.Join(y.dir, "work") }

func (y *yard) judge(command string) policy.Decision {
	return policy.Decide(policy.Input{
		Command: command, Dir: y.work(), Path: y.path, Machine: y.machine.Once(), Rules: y.rules,
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "oracle"},
	})
}
