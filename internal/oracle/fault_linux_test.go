package oracle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"openclaw/internal/policy"
	"openclaw/internal/proc"
	"openclaw/internal/shell"
	"openclaw/internal/walk"
)

// Limits of one walk. One with a loop may go on for ever, and that is no fault.
const (
	hangs     = 30 * time.Second
	loopLimit = 2 * time.Second
	maxStarts = 150
)

// walked is what a walk did.
type walked struct {
	list []*started // without the walker
	self *started   // the walker, nil = the only program was started directly
	out  []byte
	cut  bool
}

// walk walks a plan as a session does: from the encoded plan, by walk.Prepare, in the
// walker's process where it is more than one program.
func (y *yard) walk(plan *shell.Plan, command string, limit time.Duration) (walked, error) {
	var w walked
	plan, err := shell.DecodePlan(plan.Encode())
	if err != nil {
		return w, err
	}
	env := append([]string(nil), y.env...)
	for k, v := range y.reqEnv {
		env = append(env, k+"="+v)
	}
	l, err := walk.Prepare(plan, command, y.work, env, len(command)%2 == 0)
	if err != nil {
		return w, err
	}
	defer l.Close()
	out, err := proc.MemoryFile("out")
	if err != nil {
		return w, err
	}
	defer out.Close()
	r := run{path: l.Path, argv: l.Argv, env: l.Env, dir: l.Dir, limit: limit, starts: maxStarts}
	r.files = []uintptr{y.null.Fd(), out.Fd(), out.Fd()}
	if l.Plan != nil {
		r.files = append(r.files, l.Plan.Fd())
	}
	if w.list, w.cut, err = trace(r); err != nil {
		return w, err
	}
	if l.Plan != nil && len(w.list) > 0 {
		w.self, w.list = w.list[0], w.list[1:]
	}
	w.out = make([]byte, 64<<10)
	n, _ := out.ReadAt(w.out, 0)
	w.out = w.out[:n]
	return w, nil
}

// refused says what is wrong with what a judgement names, before anything of it runs;
// runs is false when it may be right and is yet not harmless enough to run.
func (y *yard) refused(d policy.Decision, list []want) (why string, runs bool) {
	for i := range list {
		if why := y.model.refuses(&list[i]); why != "" {
			return why, false
		}
	}
	for i := range list {
		for _, st := range list[i].steps {
			by := d.Segments[list[i].start.Segment].SatisfiedBy
			harmless := isWrapper(st.real) || strings.HasPrefix(st.exe, y.dir+"/") || by != nil && *by == policy.BySafeBin || st.real == "/usr/bin/find" && y.name == ""
			if !harmless {
				return "", false
			}
		}
	}
	return "", true
}

// fault runs an allowed command and says what is wrong with what it did, "" = nothing.
// traced is false when it was not run.
func (y *yard) fault(command string, d policy.Decision) (why string, traced bool) {
	if d.Plan == nil {
		return "it was allowed without a plan", false
	}
	list := wants(d.Plan)
	if why, runs := y.refused(d, list); why != "" || !runs {
		return why, false
	}
	loops, limit := false, hangs
	for i := range list {
		loops = loops || list[i].loop
	}
	if loops || hasLoop(d.Plan) {
		loops, limit = true, loopLimit
	}
	w, err := y.walk(d.Plan, command, limit)
	switch {
	case err != nil:
		return err.Error(), true
	case w.cut && !loops:
		return "it hangs", true
	case bytes.Contains(w.out, []byte(mark)):
		return fmt.Sprintf("it has read a file: %q", w.out), true
	}
	if why := y.selfFault(w.self, command); why != "" {
		return why, true
	}
	return y.startFault(w, list, loops), true
}

// selfFault: the walker is this very program in its role, and nothing else.
func (y *yard) selfFault(self *started, command string) string {
	if self == nil {
		return ""
	}
	exe, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return err.Error()
	}
	if self.exe != exe || len(self.argv) != 3 || self.argv[1] != walk.Role || self.argv[2] != command {
		return "the walker is " + self.exe + " with " + quote(self.argv)
	}
	return ""
}

// startFault holds each start against what was judged. Where nothing loops, nothing starts
// more often than it was judged.
func (y *yard) startFault(w walked, list []want, loops bool) string {
	used := make([]bool, len(list))
	for _, s := range w.list {
		line := s.line(w.self)
		fits, again := fit(line, list, used)
		switch {
		case fits != "":
			return "it started " + s.exe + " with " + quote(s.argv) + ": " + fits
		case again && !loops:
			return "it started " + s.exe + " with " + quote(s.argv) + " more often than was judged"
		}
		if why := y.envFault(s, line); why != "" {
			return "it started " + s.exe + " with " + why
		}
	}
	return ""
}

// fit looks for a judged start that a real one is, and takes it; why says that there is
// none, again that all of them have happened. A start that is judged wholly literal is
// taken before one that also fits.
func fit(line []*started, list []want, used []bool) (why string, again bool) {
	why = "the judgement names nothing like it"
	found, free := false, -1
	for i := range list {
		no := list[i].misfit(line)
		if no != "" {
			if n := len(line); n <= len(list[i].steps) && list[i].steps[n-1].exe == line[n-1].exe {
				why = no
			}
			continue
		}
		found = true
		if !used[i] && (free < 0 || list[i].exact() && !list[free].exact()) {
			free = i
		}
	}
	switch {
	case !found:
		return why, false
	case len(line) > 1: // what a wrapper starts: its own start was counted
		return "", false
	case free < 0:
		return "", true
	}
	used[free] = true
	return "", false
}

// envFault: only P-34's small set and what a shell keeps of its directory may differ from
// what the command began with.
func (y *yard) envFault(s *started, line []*started) string {
	stdbuf := false
	for _, b := range line[:len(line)-1] {
		stdbuf = stdbuf || filepath.Base(b.exe) == "stdbuf"
	}
	for _, kv := range s.env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PWD":
			if real, err := filepath.EvalSymlinks(value); err != nil || real != s.cwd {
				return "PWD=" + value + " in " + s.cwd
			}
		case name == "OLDPWD", strings.HasPrefix(name, "LC_"), strings.Contains(" TERM LANG COLORTERM NO_COLOR FORCE_COLOR ", " "+name+" "):
		case stdbuf && (strings.HasPrefix(name, "_STDBUF_") || name == "LD_PRELOAD" && strings.HasSuffix(value, "/libstdbuf.so")):
		case !slices.Contains(y.env, kv) && y.reqEnv[name] != value:
			return kv + " in its environment"
		}
	}
	return ""
}

func hasLoop(p *shell.Plan) bool {
	var in func(st *shell.Stmt) bool
	in = func(st *shell.Stmt) bool {
		if st == nil {
			return false
		}
		if st.Kind == shell.KindWhile || st.Kind == shell.KindUntil || st.Kind == shell.KindFor {
			return true
		}
		for _, kid := range st.Kids {
			if in(kid) {
				return true
			}
		}
		return false
	}
	for i := range p.Starts {
		if p.Starts[i].Shell != nil && hasLoop(p.Starts[i].Shell) {
			return true
		}
	}
	return in(p.Root)
}
