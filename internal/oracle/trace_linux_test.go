package oracle

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/shell"
	"openclaw/internal/walk"
)

// A trace is read line by line: the walker opens each program it is about to start with
// flags that nothing else here uses, so a later start of /proc/self/fd/N is of the file
// that was last opened so as N.
var (
	openLine = regexp.MustCompile(`openat\(AT_FDCWD, "((?:[^"\\]|\\.)*)", O_RDONLY\|O_NOCTTY\|O_NONBLOCK\|O_CLOEXEC\)\s+= (\d+)$`)
	execLine = regexp.MustCompile(`execve(?:at)?\("((?:[^"\\]|\\.)*)", \[(.*?)\](?:\.\.\.)?, .*\)\s+= 0$`)
	resumed  = regexp.MustCompile(`<\.\.\. (\w+) resumed>(.*)$`)
	fdPath   = regexp.MustCompile(`^/proc/self/fd/(\d+)$`)
)

// started walks a plan and returns the files that were started, in order, without the
// walker itself.
func (y *yard) started(plan *shell.Plan, command, scratch string) ([]string, error) {
	env := []string{"PATH=" + y.path, "HOME=" + y.dir, "LANG=C.UTF-8"}
	l, err := walk.Prepare(plan, command, y.work(), env, true)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	log := filepath.Join(scratch, "trace")
	args := []string{"-f", "-qq", "-s", "200", "--seccomp-bpf", "-e", "trace=execve,execveat,openat", "-e", "signal=none", "-o", log}
	var path string
	if l.Plan == nil { // the descriptor is this program's, not strace's
		if path, err = os.Readlink(l.Path); err != nil {
			path = l.Path // a script, by its path
		}
	} else if path, err = os.Executable(); err != nil {
		return nil, err
	}
	args = append(append(args, path), l.Argv[1:]...)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, y.strace, args...)
	cmd.Env, cmd.Dir = l.Env, y.work()
	if l.Plan == nil {
		if cmd.Dir, err = os.Readlink(l.Dir); err != nil {
			return nil, err
		}
	} else {
		cmd.ExtraFiles = []*os.File{l.Plan}
	}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // its exit code is the command's business
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it hangs")
	}
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	list := readTrace(data)
	if l.Plan != nil && len(list) > 0 {
		list = list[1:]
	}
	return list, nil
}

func readTrace(data []byte) []string {
	opened := map[string]string{}
	pending := map[string]string{} // of calls that were interrupted by another's line
	var list []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		pid, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		if head, cut := strings.CutSuffix(rest, " <unfinished ...>"); cut {
			pending[pid] = head
			continue
		}
		if m := resumed.FindStringSubmatch(rest); m != nil {
			rest = pending[pid] + m[2]
			delete(pending, pid)
		}
		if m := openLine.FindStringSubmatch(rest); m != nil {
			opened[m[2]] = m[1]
			continue
		}
		m := execLine.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		path := m[1]
		if fd := fdPath.FindStringSubmatch(path); fd != nil {
			if file, ok := opened[fd[1]]; ok {
				path = file
			}
		}
		list = append(list, path)
	}
	return list
}

// named are the files that a judgement lets start.
func named(d policy.Decision) map[string]bool {
	set := map[string]bool{}
	var add func(p *shell.Plan)
	add = func(p *shell.Plan) {
		for i := range p.Starts {
			s := &p.Starts[i]
			if s.Shell != nil {
				add(s.Shell)
			}
			if s.Path != "" {
				set[s.Path], set[s.Real] = true, true
			}
			for _, in := range s.Inner {
				set[in.Path], set[in.Real] = true, true
			}
		}
	}
	if d.Plan != nil {
		add(d.Plan)
	}
	return set
}

// permitted are the files that may ever start here, whatever a judgement says: the
// listed ones, the trusted wrappers and the safe bins. It guards against a judgement that
// names what it should not.
func (y *yard) permitted(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, name := range listed {
		if real == filepath.Join(y.bin, name) {
			return true
		}
	}
	if real == filepath.Join(y.dir, "work/tool") {
		return true
	}
	switch base := filepath.Base(real); filepath.Dir(real) {
	case "/usr/bin", "/bin":
		return strings.Contains(" env nice nohup stdbuf timeout setsid time ionice chrt taskset cut uniq head tail tr wc grep sort find ", " "+base+" ")
	}
	return false
}

// fault runs an allowed command and says what is wrong with what it started, "" = nothing.
func (y *yard) fault(command string, d policy.Decision, scratch string) string {
	if d.Plan == nil {
		return "it was allowed without a plan"
	}
	plan, err := shell.DecodePlan(d.Plan.Encode())
	if err != nil {
		return err.Error()
	}
	list, err := y.started(plan, command, scratch)
	if err != nil {
		return err.Error()
	}
	set := named(d)
	for _, path := range list {
		switch {
		case !set[path]:
			return "it started " + path + ", which the judgement does not name"
		case !y.permitted(path):
			return "it started " + path + ", which nothing allows"
		}
	}
	return ""
}
