package oracle

import (
	"path/filepath"
	"regexp"
	"strings"

	"openclaw/internal/policy"
)

// model is a second, much simpler opinion on what may start: it has nothing in common with
// the judge but the list. It guards against a judgement that names what it should not.
type model struct {
	entries []modelEntry
	safe    []string // names of safe bins
	trusted []string
}

type modelEntry struct {
	path *regexp.Regexp // nil: a bare name
	name *regexp.Regexp
	args *regexp.Regexp // nil: any
}

var wrapperNames = " env nice nohup stdbuf timeout setsid time ionice chrt taskset "

// globText turns a pattern of an entry into a regular expression.
func globText(pattern string) *regexp.Regexp {
	s := regexp.QuoteMeta(pattern)
	s = strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*", `\?`, "[^/]").Replace(s)
	return regexp.MustCompile("(?is)^" + s + "$")
}

func newModel(entries []policy.Entry, safe, trusted []string, home string) model {
	m := model{safe: safe, trusted: append([]string{"/usr/bin", "/bin"}, trusted...)}
	if safe == nil {
		m.safe = []string{"cut", "uniq", "head", "tail", "tr", "wc"}
	}
	for _, e := range entries {
		var me modelEntry
		switch {
		case e.Pattern == "*":
			me.path = regexp.MustCompile("")
		case strings.Contains(e.Pattern, "/"):
			p := e.Pattern
			if rest, ok := strings.CutPrefix(p, "~/"); ok {
				p = home + "/" + rest
			}
			me.path = globText(p)
		default:
			me.name = globText(e.Pattern)
		}
		if e.ArgPattern != "" { // one that Go cannot read is the judge's business alone
			me.args, _ = regexp.Compile(e.ArgPattern)
		}
		m.entries = append(m.entries, me)
	}
	return m
}

// refuses says why a judged start is none that the list lets happen, "" = it does.
func (m *model) refuses(w *want) string {
	last := len(w.steps) - 1
	for i := range w.steps[:last] {
		if real := w.steps[i].real; !isWrapper(real) {
			return real + " starts another program and is no wrapper"
		}
	}
	st := &w.steps[last]
	if m.listed(st) || m.safeBin(st.real) {
		return ""
	}
	return "nothing on the list is " + st.real
}

func isWrapper(real string) bool {
	dir := filepath.Dir(real)
	return (dir == "/usr/bin" || dir == "/bin") && strings.Contains(wrapperNames, " "+filepath.Base(real)+" ")
}

func (m *model) listed(st *step) bool {
	for _, e := range m.entries {
		if e.args != nil && (!st.exact || len(st.argv) == 0 || !e.args.MatchString(strings.Join(st.argv[1:], " "))) {
			continue
		}
		if e.path != nil && (e.path.MatchString(st.real) || e.path.MatchString(st.path)) || e.name != nil && e.name.MatchString(filepath.Base(st.path)) {
			return true
		}
	}
	return false
}

func (m *model) safeBin(real string) bool {
	for _, dir := range m.trusted {
		if filepath.Dir(real) != dir && !strings.HasPrefix(real, dir+"/") {
			continue
		}
		for _, name := range m.safe {
			if name == filepath.Base(real) {
				return true
			}
		}
	}
	return false
}
