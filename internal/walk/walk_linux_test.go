package walk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/proc"
	"openclaw/internal/shell"
	"openclaw/internal/walk"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == walk.Role {
		os.Exit(walk.Main())
	}
	os.Exit(m.Run())
}

// bench is a directory in which everything may run.
type bench struct {
	dir   string
	rules policy.Rules
	env   []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir, env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "GREETING=hello  there", "STAR=*", "EMPTY="}}
	for _, d := range []string{"sub/deep", "other dir"} {
		b.must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "two\n", "sub/c.txt": "c\n", ".hidden": "h\n", "x y.txt": "s\n"} {
		b.must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	b.must(t, os.WriteFile(filepath.Join(dir, "say"), []byte("#!/bin/sh\necho script \"$@\"; pwd\n"), 0o755))
	b.must(t, os.Symlink("sub", filepath.Join(dir, "link")))
	b.rules = policy.Rules{
		Allowlist: policy.Compile([]policy.Entry{{Pattern: "*"}}, dir), AllowStreamRedirects: true,
		SafeBins: policy.CompileSafeBins(nil, nil, nil),
	}
	return b
}

func (b *bench) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) judge(t *testing.T, command string) *shell.Plan {
	t.Helper()
	d := policy.Decide(policy.Input{
		Command: command, Dir: b.dir, Path: "/usr/bin:/bin", Machine: host.NewMachine(nil), Rules: b.rules,
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "test"},
	})
	if d.Plan == nil {
		t.Fatalf("%q is not allowed: %s: %s", command, d.Rule, d.Reason)
	}
	back, err := shell.DecodePlan(d.Plan.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// result is what a run left. Out has standard output and error in one stream when merged.
type result struct {
	out, err string
	code     int
	direct   bool
}

// start is the command of a launch, as a session would start it.
func start(ctx context.Context, l *walk.Launch) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.Path)
	cmd.Args, cmd.Env, cmd.Dir = l.Argv, l.Env, l.Dir
	if l.Plan != nil {
		cmd.ExtraFiles = []*os.File{l.Plan}
	}
	return cmd
}

func (b *bench) walk(t *testing.T, command string, merged bool) (result, error) {
	t.Helper()
	l, err := walk.Prepare(b.judge(t, command), command, b.dir, b.env, merged)
	if err != nil {
		return result{}, err
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := run(t, start(ctx, l), merged)
	r.direct = l.Plan == nil
	return r, nil
}

func run(t *testing.T, cmd *exec.Cmd, merged bool) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if merged {
		cmd.Stderr = &out
	}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	code := cmd.ProcessState.ExitCode()
	return result{out: out.String(), err: errs.String(), code: code}
}

// same are commands that have to do what bash does, to the byte.
var same = []string{
	"echo a b", "printf '%s|' a 'b c' \"d\"", "ls", "ls *.txt", "ls *", "ls .*", "ls nothing*", "ls sub/*.txt", "echo [ab].txt", "echo *.{txt,md}",
	"echo $GREETING", "echo \"$GREETING\"", "echo x${GREETING}y", "echo $STAR", "echo \"$STAR\"", "echo $UNSET end", "echo \"$UNSET\" end", "printf '<%s>' $EMPTY \"$EMPTY\"",
	"echo ~", "echo ~/x", "echo a~", "echo $?", "false; echo $?", "true && echo yes || echo no", "false && echo yes || echo no",
	"cat a.txt | head -2 | tail -1", "cat a.txt | sort | uniq | wc -l", "cat nothing 2>&1 | wc -l", "ls nothing |& wc -l",
	"cd sub && ls", "cd sub; pwd; cd ..; pwd", "cd sub && cd deep && pwd", "cd link && pwd && pwd -P", "cd 'other dir' && pwd", "cd nothing || echo none", "cd sub && cat c.txt",
	"(cd sub; pwd); pwd", "{ echo a; echo b; } | wc -l", "(echo a; echo b) | sort -r", "! true", "! false", "! false | true",
	"if true; then echo t; fi", "if false; then echo t; else echo e; fi", "if false; then echo t; elif true; then echo m; else echo e; fi", "if false; then echo t; fi",
	"for i in a b c; do echo x; done", "for f in 1 2; do cat b.txt; done | wc -l", "while false; do echo x; done", "until true; do echo x; done",
	"sh -c 'echo in; cd sub; pwd'; pwd", "bash -c 'false; echo $?'", "sh -c 'exit_not_there' ; echo post", "TERM=dumb printenv TERM", "env LANG=C printf x",
	"nice -n 1 echo nice", "timeout 5 echo t", "timeout 5 nice echo both", "echo out >/dev/null", "ls nothing 2>/dev/null; echo $?", "cat </dev/null | wc -c",
	"test -f a.txt && echo is", "[ -d sub ] && echo dir", "[ 1 = 2 ]; echo $?", "./say one two", "cd sub && ../say x", "command -v cat", "command -v nothing-here; echo $?", "command -v cd",
	"echo a\necho b", "echo a; # comment\necho b", "echo 'it'\\''s'", "echo $'a\\tb\\x41'", "printf '%s\\n' \"a\\\"b\\$c\"", "echo a \\\n b",
	"grep -c two a.txt b.txt", "find . -name '*.txt' | sort", "head -c 3 a.txt; echo", "tr a-z A-Z <a.txt 2>/dev/null; echo", "pwd | cat", "false | true; echo $?", "true | false; echo $?",
	"cat b.txt && cat b.txt || cat b.txt; cat b.txt", "echo \"$?\" $? '$?'", "cd; pwd", "cd - 2>/dev/null; echo $?", "cd sub; cd -; pwd",
	"(while true; do pwd; done; echo no) | true; echo end", "while true; do pwd; done | head -1; echo end", "while true; do echo x; done | head -1; echo end",
	"{ until false; do echo x; done; } | true", "(echo a; pwd) 2>/dev/null | true; echo end",
	"sh -c 'kill -9 $PPID' && echo never", "echo é ü 日本", "echo a{1,2}b{x,y}", "echo {1..4}", "ls 'x y.txt' x\\ y.txt", "cat a.txt a.txt | sort | uniq -c | sort -rn | head -1",
}

// complaint takes off who complains.
var complaint = strings.NewReplacer("openclaw: ", "", "bash: line 1: ", "")

// TestP60_WalkIsBash: what is walked prints what bash prints and ends with its code.
func TestP60_WalkIsBash(t *testing.T) {
	b := newBench(t)
	b.env = append(b.env, "PWD="+b.dir)
	skip := map[string]string{ // these are a miss, which is right, so there is nothing to compare
		"tr a-z A-Z <a.txt 2>/dev/null; echo": "P-22", "sh -c 'kill -9 $PPID' && echo never": "P-24", "sh -c 'exit_not_there' ; echo post": "P-32",
	}
	for i, command := range same {
		if skip[command] != "" || raceEnabled && i%4 != 0 { // a walker with the detector takes long to start
			continue
		}
		for _, merged := range []bool{false, true} {
			got, err := b.walk(t, command, merged)
			if err != nil {
				t.Errorf("%q: %v", command, err)
				continue
			}
			bash := exec.Command("bash", "--noprofile", "--norc", "-c", command)
			bash.Dir, bash.Env = b.dir, b.env
			want := run(t, bash, merged)
			got.out, want.out = complaint.Replace(got.out), complaint.Replace(want.out)
			if got.out != want.out || got.code != want.code || (got.err == "") != (want.err == "") {
				t.Errorf("%q (merged %v): printed %q and %q, code %d; bash %q and %q, code %d", command, merged, got.out, got.err, got.code, want.out, want.err, want.code)
			}
		}
	}
}

// What is one program is started without a walker, after a cd too.
func TestP60_OneProgramIsDirect(t *testing.T) {
	b := newBench(t)
	for command, want := range map[string]bool{
		"ls": true, "cd sub && ls": true, "cd sub; cd deep; ls": true, "{ ls; }": true, "ls 2>&1": true, "nice ls": true, "TERM=x ls": true, "ls *.txt": true,
		"ls; ls": false, "ls | cat": false, "cd sub || ls": false, "! ls": false, "ls >/dev/null": false, "(ls)": false, "true && ls": false, "pwd": false,
	} {
		r, err := b.walk(t, command, true)
		if err != nil || r.direct != want {
			t.Errorf("%q: direct %v, want %v (%v)", command, r.direct, want, err)
		}
	}
}

// TestP60_ChangedIsRefused: what is not what was judged does not start, and nothing before
// it either.
func TestP60_ChangedIsRefused(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"replaced":      func(d string) error { return replace(d+"/say", "#!/bin/sh\necho other\n") },
		"written":       func(d string) error { return os.WriteFile(d+"/say", []byte("#!/bin/sh\necho evil\n"), 0o755) },
		"gone":          func(d string) error { return os.Remove(d + "/say") },
		"a link":        func(d string) error { return errors.Join(os.Remove(d+"/say"), os.Symlink("/bin/ls", d+"/say")) },
		"touched":       func(d string) error { now := time.Now(); return os.Chtimes(d+"/say", now, now) },
		"another mode":  func(d string) error { return os.Chmod(d+"/say", 0o700) },
		"the directory": func(d string) error { return errors.Join(os.Rename(d, d+"-old"), os.Mkdir(d, 0o755)) },
	} {
		for _, command := range []string{"./say x", "echo first; ./say x", "echo first | ./say", "nice ./say", "sh -c './say y'", "if true; then ./say; fi"} {
			b := newBench(t)
			plan := b.judge(t, command)
			if err := change(b.dir); err != nil {
				t.Fatal(err)
			}
			l, err := walk.Prepare(plan, command, b.dir, b.env, true)
			if err == nil {
				l.Close()
			}
			var c *proc.ChangedError
			if !errors.As(err, &c) || !strings.HasPrefix(c.Path, b.dir) {
				t.Errorf("%s: %q: %v", name, command, err)
			}
			_ = os.RemoveAll(b.dir + "-old")
		}
	}
}

func replace(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// TestP60_ChangedOnTheWay: a program that an earlier one of the same command changes does
// not start, and the walk ends there.
func TestP60_ChangedOnTheWay(t *testing.T) {
	for _, command := range []string{
		"cp b.txt say; ./say; echo post", "cp b.txt say && ./say || echo post", "cp b.txt say; ./say | cat; echo post", "cp b.txt say; nice ./say; echo post",
	} {
		b := newBench(t)
		r, err := b.walk(t, command, true)
		if err != nil {
			t.Fatal(err)
		}
		if r.code != 126 || strings.Contains(r.out, "post") || !strings.Contains(r.out, "changed after it was judged") {
			t.Errorf("%q: code %d, %q", command, r.code, r.out)
		}
	}
}

// A directory that was moved away under a walk is not another one's.
func TestP60_DirectoryOnTheWay(t *testing.T) {
	b := newBench(t)
	r, err := b.walk(t, "mv sub gone; ln -s /tmp sub; cd sub && ls; echo post", true)
	if err != nil || r.code != 126 || strings.Contains(r.out, "post") {
		t.Errorf("%v: code %d, %q", err, r.code, r.out)
	}
}

// TestP60_LinkLedElsewhere: a link to an allowed program that leads elsewhere after the last
// check starts nothing else, neither a script nor what stands behind a wrapper.
func TestP60_LinkLedElsewhere(t *testing.T) {
	for _, command := range []string{"./alias x", "nice ./alias x", "ways/say x", "nice ways/say x"} {
		b := newBench(t)
		b.must(t, errors.Join(
			os.Symlink("say", b.dir+"/alias"), os.Symlink(".", b.dir+"/ways"), os.Mkdir(b.dir+"/evil", 0o755),
			os.WriteFile(b.dir+"/evil/say", []byte("#!/bin/sh\necho evil\n"), 0o755)))
		l, err := walk.Prepare(b.judge(t, command), command, b.dir, b.env, true)
		if err != nil {
			t.Fatal(err)
		}
		b.must(t, errors.Join(os.Remove(b.dir+"/alias"), os.Symlink("evil/say", b.dir+"/alias"), os.Remove(b.dir+"/ways"), os.Symlink("evil", b.dir+"/ways")))
		if r := run(t, start(t.Context(), l), true); strings.Contains(r.out, "evil") || !strings.Contains(r.out, "script x") {
			t.Errorf("%q: code %d, %q", command, r.code, r.out)
		}
		l.Close()
	}
}

// TestP60_OwnDirectory: /proc/self/cwd is not where the judge was but where the program is
// started.
func TestP60_OwnDirectory(t *testing.T) {
	for _, command := range []string{"/proc/self/cwd/say x", "nice /proc/self/cwd/say x", "./alias x"} {
		b := newBench(t)
		b.must(t, errors.Join(
			os.Symlink("/proc/self/cwd/say", b.dir+"/alias"), os.WriteFile(b.dir+"/sub/say", []byte("#!/bin/sh\necho evil\n"), 0o755),
			os.Symlink("/proc/self/cwd/say", b.dir+"/sub/alias")))
		t.Chdir(b.dir)
		b.dir += "/sub"
		r, err := b.walk(t, command, true)
		if err == nil && (strings.Contains(r.out, "evil") || !strings.Contains(r.out, "script x")) {
			t.Errorf("%q: code %d, %q", command, r.code, r.out)
		}
	}
}

// The walk takes its plan from nowhere but its descriptor.
func TestWalkWithoutPlan(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", walk.Role, "echo hi")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 126 || !strings.HasPrefix(string(out), "openclaw") {
		t.Errorf("code %d, %q", cmd.ProcessState.ExitCode(), out)
	}
}

// A plan that is damaged in any place starts nothing but what it names, and never panics.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := shell.DecodePlan(data)
		if err != nil {
			return
		}
		again, err := shell.DecodePlan(p.Encode())
		if err != nil || !bytes.Equal(again.Encode(), p.Encode()) {
			t.Errorf("%v: encoded again it is another plan", err)
		}
	})
}
