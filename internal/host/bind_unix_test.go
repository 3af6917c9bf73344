//go:build unix

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"openclaw/internal/policy"
)

// yard is a directory with programs and scripts, and a PATH with a directory in front.
type yard struct {
	t         *testing.T
	dir, path string
}

func newYard(t *testing.T) *yard {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, dir: dir, path: dir + "/first:" + dir + "/bin:/usr/bin:/bin"}
	for _, d := range []string{"first", "bin", "work", "other", "node_modules/.bin", "work/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"bin/tool", "bin/strace", "bin/node", "bin/npx", "bin/npm", "bin/pnpm", "bin/yarn", "bin/ruby", "node_modules/.bin/lint", "work/run.sh"} {
		y.write(f, "#!/bin/sh\necho "+f+"\n")
	}
	y.write("work/job.py", "print(1)\n")
	y.write("work/a.js", "1\n")
	for _, f := range []string{"prog.awk", "more.awk", "prog.sed"} {
		y.write("work/"+f, "p\n")
	}
	if err := os.Symlink("job.py", filepath.Join(dir, "work/link.py")); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	if err := os.WriteFile(filepath.Join(y.dir, name), []byte(text), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) bind(command string) (*Binding, error) {
	y.t.Helper()
	d := policy.Decide(policy.Input{
		Command: command, Dir: y.dir + "/work", Path: y.path, Machine: NewMachine(nil),
		Layers: policy.Layers{Security: policy.Allowlist, Ask: policy.AskOnMiss},
	})
	if d.Whole == nil {
		y.t.Fatalf("%q is not understood: %s", command, d.Reason)
	}
	return Bind(d.Whole, y.dir+"/work", y.path)
}

// TestA30_Drift: what changes between the question and the start is named, and nothing
// runs.
func TestA30_Drift(t *testing.T) {
	replace := func(path, text string) func(y *yard) error {
		return func(y *yard) error { // the same size, the same time: only the content differs
			full := filepath.Join(y.dir, path)
			info, err := os.Stat(full)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(full+".new", []byte(text), 0o755), os.Chtimes(full+".new", info.ModTime(), info.ModTime()), os.Rename(full+".new", full))
		}
	}
	for name, c := range map[string]struct {
		command string
		change  func(y *yard) error
		names   string
	}{
		"script replaced (app-0002)": {"python3 job.py", replace("work/job.py", "print(2)\n"), "job.py"},
		"script edited in place":     {"python3 job.py", func(y *yard) error { return os.WriteFile(y.dir+"/work/job.py", []byte("x"), 0o644) }, "job.py"},
		"script of a shell":          {"sh run.sh", replace("work/run.sh", "#!/bin/sh\necho work/run.xx\n"), "run.sh"},
		"script behind a wrapper":    {"nice python3 job.py", replace("work/job.py", "print(2)\n"), "job.py"},
		"script in sh -c":            {"sh -c 'python3 job.py; tool'", replace("work/job.py", "print(2)\n"), "job.py"},
		"script in a chain":          {"tool && python3 job.py", replace("work/job.py", "print(2)\n"), "job.py"},
		"script link moved": {"python3 link.py", func(y *yard) error {
			return errors.Join(os.Remove(y.dir+"/work/link.py"), os.Symlink("a.js", y.dir+"/work/link.py"))
		}, "link.py"},
		"script gone":              {"python3 job.py", func(y *yard) error { return os.Remove(y.dir + "/work/job.py") }, "job.py"},
		"script that comes":        {"python3 new.py", func(y *yard) error { return os.WriteFile(y.dir+"/work/new.py", nil, 0o644) }, "new.py"},
		"script of awk":            {"awk -f prog.awk x", replace("work/prog.awk", "q\n"), "prog.awk"},
		"name that node completes": {"node b", func(y *yard) error { return os.WriteFile(y.dir+"/work/b.js", nil, 0o644) }, "b.js"},
		"script behind env":        {"env A=1 python3 job.py", replace("work/job.py", "print(2)\n"), "job.py"},
		"executable (app-0007)":    {"./run.sh", replace("work/run.sh", "#!/bin/sh\necho work/run.xx\n"), "run.sh"},
		"executable by PATH":       {"tool", replace("bin/tool", "#!/bin/sh\necho bin/tooo\n"), "bin/tool"},
		"PATH shadowed (app-0006)": {"tool", func(y *yard) error { return os.WriteFile(y.dir+"/first/tool", []byte("#!/bin/sh\n"), 0o755) }, "first/tool"},
		"directory replaced": {"tool", func(y *yard) error {
			return errors.Join(os.Rename(y.dir+"/work", y.dir+"/gone"), os.Mkdir(y.dir+"/work", 0o755))
		}, "/work"},
		"directory a link": {"tool", func(y *yard) error {
			return errors.Join(os.Rename(y.dir+"/work", y.dir+"/gone"), os.Symlink("gone", y.dir+"/work"))
		}, "/work"},
		"runner's tool": {"npx lint", replace("node_modules/.bin/lint", "#!/bin/sh\necho node_modules/.bin/lxxx\n"), "lint"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			b, err := y.bind(c.command)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Verify(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			time.Sleep(2 * time.Millisecond)
			if err := c.change(y); err != nil {
				t.Fatal(err)
			}
			var changed *ChangedError
			if err := b.Verify(); !errors.As(err, &changed) || !strings.Contains(changed.Path, c.names) {
				t.Errorf("%v, want one that names %s", err, c.names)
			}
		})
	}
}

// TestA30_Bound: what can be bound, and what no approval is given for.
func TestA30_Bound(t *testing.T) {
	for command, want := range map[string]string{ // the files bound beside the first program, or the reason
		"tool": "", "python3 job.py": "job.py", "python3 -u job.py x y": "job.py", "sh run.sh": "run.sh", "node a.js": "a.js", "npx lint": "lint", "npm exec lint": "lint",
		"pnpm exec lint": "lint", "pnpm node a.js": "a.js", "yarn node a.js": "a.js", "python3 -c 'print(1)'": "", "make": "", "npm ci": "", "ruby -rjson a.js": "a.js",
		"npm run build": "!package file", "npm test": "!package file", "yarn build": "!package file", "pnpm run x": "!package file", "node -r ./x.js a.js": "!loads further",
		"awk -f prog.awk x": "prog.awk", "awk -fprog.awk -v f=1": "prog.awk", "awk --file=prog.awk": "prog.awk", "awk -f prog.awk -f more.awk": "prog.awkmore.awk",
		"sed -n -f prog.sed x": "prog.sed", "sed -nfprog.sed": "prog.sed", "sed --file prog.sed": "prog.sed", "sed s/a/b/ job.py": "",
		"bash --rcfile job.py run.sh": "!loads further", "env A=1 python3 job.py": "python3job.py", "env -C sub python3 job.py": "job.py",
		"find run.sh -exec sh {} +": "run.sh", "find sub -name x": "", "nice env A=1 sh run.sh": "envshrun.sh", "strace -f sh run.sh": "run.sh", "nice tool": "tool",
		"npx cowsay": "!not installed", "npx lint@2": "!fetch", "node --import ./x.js a.js": "!loads further", "python3 sub": "!directory",
	} {
		y := newYard(t)
		if strings.HasPrefix(command, "make") {
			y.write("bin/make", "#!/bin/sh\n")
		}
		b, err := y.bind(command)
		if why, refused := strings.CutPrefix(want, "!"); refused {
			var unbound *UnboundError
			if !errors.As(err, &unbound) || !strings.Contains(err.Error(), why) {
				t.Errorf("%q: %v, want %q", command, err, why)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", command, err)
			continue
		}
		got := ""
		for _, f := range b.Files[1:] {
			got += filepath.Base(f.Path)
			if f.Script && f.SHA256 == "" {
				t.Errorf("%q: %s is not bound by content", command, f.Path)
			}
		}
		if got != want {
			t.Errorf("%q: bound %q, want %q", command, got, want)
		}
	}
}
