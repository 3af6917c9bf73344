package policy

import (
	"path"
	"strings"
)

// Entry is one line of an allowlist (P-30).
type Entry struct {
	ID         string
	Pattern    string
	ArgPattern string // "" = any arguments
	Source     string
	Agent      string // whose list it stands in; "*" = everybody's
}

// List is a compiled allowlist. It is not changed once made, and may be used by many at
// once; make it again when the document changes.
type List struct {
	entries []compiled
	exact   map[string][]int // by the whole folded path
	last    map[string][]int // by the folded last element, where that has no wildcard
	wild    []int            // the rest of the path patterns
	names   map[string][]int // bare names without wildcard
	anyName []int            // bare names with one, and the lone *
	useless []string         // entries that match nothing, with the reason
}

type compiled struct {
	Entry
	path   glob
	wanted string      // the elements before the first wildcard, in the case they were written
	args   *argPattern // nil = any arguments
}

// Compile reads the entries; home replaces a leading ~. An entry that cannot be understood
// matches nothing and is reported by Useless.
func Compile(entries []Entry, home string) *List {
	a := &List{exact: map[string][]int{}, last: map[string][]int{}, names: map[string][]int{}}
	for _, e := range entries {
		if why := a.add(e, home); why != "" {
			a.useless = append(a.useless, e.Pattern+": "+why)
		}
	}
	return a
}

// Useless lists the entries that match nothing, each with the reason.
func (a *List) Useless() []string { return a.useless }

// Len is the number of entries that can match.
func (a *List) Len() int { return len(a.entries) }

func (a *List) add(e Entry, home string) (why string) {
	c := compiled{Entry: e}
	pattern := e.Pattern
	switch {
	case pattern == "":
		return "it is empty"
	case pattern[0] == '=':
		return "it is a marker of another program"
	case strings.IndexByte(pattern, 0) >= 0 || len(pattern) > 4096:
		return "it is no path"
	}
	if e.ArgPattern != "" {
		var err error
		if c.args, err = compileArgs(e.ArgPattern); err != nil {
			return "its argPattern cannot be used: " + err.Error()
		}
	}
	if pattern == "~" || strings.HasPrefix(pattern, "~/") {
		if home == "" || home[0] != '/' {
			return "there is no home directory for ~"
		}
		pattern = strings.TrimSuffix(home, "/") + pattern[1:]
	}
	i := len(a.entries)
	switch {
	case !strings.Contains(pattern, "/") && pattern[0] != '~':
		if strings.ContainsAny(pattern, "*?") {
			a.anyName = append(a.anyName, i)
		} else {
			a.names[pattern] = append(a.names[pattern], i)
		}
	case pattern[0] != '/':
		return "a path has to begin with / or ~/, and a bare name has no slash"
	case path.Clean(pattern) != pattern:
		return "a path must not have //, /./, /../ or a slash at its end"
	default:
		c.path = compileGlob(pattern)
		c.wanted = "/" + strings.Join(strings.Split(strings.TrimPrefix(pattern, "/"), "/")[:c.path.literal], "/")
		a.index(i, &c.path)
	}
	a.entries = append(a.entries, c)
	return ""
}

func (a *List) index(i int, g *glob) {
	last := g.elements[len(g.elements)-1]
	switch {
	case g.exact:
		a.exact[g.text] = append(a.exact[g.text], i)
	case !strings.ContainsAny(last, "*?"):
		a.last[last] = append(a.last[last], i)
	default:
		a.wild = append(a.wild, i)
	}
}

// use is one program in one segment, held against the list.
type use struct {
	bare    string // the name when it was found through PATH, else ""
	file    *File
	args    args
	applet  bool // the file holds many programs: its real path says nothing
	exact   bool // only an exact path entry will do (P-32)
	carrier bool // only an entry that binds all arguments will do (P-37)
	same    func(prefix, path string) bool
}

// near is why the closest entry did not match.
type near struct{ why string }

// find returns the first entry that matches, nil with the reason when there is none.
func (a *List) find(u *use) (*compiled, near) {
	var n near
	if a == nil {
		return nil, n
	}
	if u.bare != "" && !u.exact {
		for _, i := range a.names[u.bare] {
			if e := a.try(i, u, &n); e != nil {
				return e, n
			}
		}
	}
	for _, i := range a.anyName {
		e := &a.entries[i]
		if u.exact || e.Pattern != "*" && (u.bare == "" || !matchName(e.Pattern, u.bare)) {
			continue
		}
		if e := a.try(i, u, &n); e != nil {
			return e, n
		}
	}
	for k, p := range u.paths() {
		if k > 0 && p == u.file.Real || p == "" {
			continue
		}
		if e := a.findPath(p, k == 2, u, &n); e != nil {
			return e, n
		}
	}
	return nil, n
}

// paths are the paths an entry may match (P-31): the resolved one, the one through which
// PATH found it, and for a program named by its path that path when only directories of it
// are links, for entries that spell it the same.
func (u *use) paths() [3]string {
	out := [3]string{u.file.Real}
	if u.applet {
		out[0] = ""
	}
	if u.bare != "" {
		out[1] = u.file.Path
	} else if u.file.Direct == u.file.Real {
		out[2] = u.file.Path
	}
	return out
}

func (a *List) findPath(p string, onlyExact bool, u *use, n *near) *compiled {
	folded := foldPath(p)
	for _, i := range a.exact[folded] {
		if u.spelled(&a.entries[i], p) {
			if e := a.try(i, u, n); e != nil {
				return e
			}
		}
	}
	if onlyExact {
		return nil
	}
	for _, list := range [2][]int{a.last[folded[strings.LastIndexByte(folded, '/')+1:]], a.wild} {
		for _, i := range list {
			e := &a.entries[i]
			if !strings.HasPrefix(folded, e.path.prefix) || !e.path.match(folded) || !u.spelled(e, p) {
				continue
			}
			if u.exact {
				n.why = "others can change it (" + u.file.Loose + "), so only an entry with its exact path satisfies, not " + e.Pattern
				continue
			}
			if e := a.try(i, u, n); e != nil {
				return e
			}
		}
	}
	return nil
}

// spelled guards the matching without regard to case: where the entry's own spelling names
// another file or folder on this machine, it is that one which is meant.
func (u *use) spelled(c *compiled, p string) bool {
	if len(c.wanted) > len(p) || p[:len(c.wanted)] == c.wanted {
		return true
	}
	return u.same(c.wanted, p[:len(c.wanted)])
}

// try holds the arguments against one entry whose path matches.
func (a *List) try(i int, u *use, n *near) *compiled {
	e := &a.entries[i]
	if u.carrier {
		last := e.Pattern[strings.LastIndexByte(e.Pattern, '/')+1:]
		switch {
		case strings.ContainsAny(last, "*?"):
			return nil
		case e.args == nil:
			n.why = "the entry " + e.Pattern + " has no argPattern, which it needs for a program that starts others"
			return nil
		}
	}
	if e.args == nil {
		return e
	}
	ok, why := e.args.match(&u.args, u.carrier)
	if !ok {
		n.why = "the entry " + e.Pattern + " does not allow these arguments: " + why
		return nil
	}
	return e
}

func (c *compiled) ref() *EntryRef {
	return &EntryRef{ID: c.ID, Pattern: c.Pattern, ArgPattern: c.ArgPattern, Source: c.Source, Agent: c.Agent}
}
