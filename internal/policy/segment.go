package policy

import (
	"path"
	"strings"

	"openclaw/internal/shell"
)

// maxWrappers is how many wrappers within each other are looked through (P-34).
const maxWrappers = 16

// segment is one simple command being judged.
type segment struct {
	j     *judge
	call  *shell.Call
	index int // of its Segment
	start *shell.Start
	dir   string // real working directory, "" = not known
	dirNo string // why not
}

func (s *segment) seg() *Segment { return &s.j.out.segments[s.index] }

// miss says why the segment is not satisfied.
func (s *segment) miss(rule, why, hint string) {
	seg := s.seg()
	seg.SatisfiedBy, seg.Rule, seg.Why, seg.Hint = nil, rule, why, hint
	if rule != "P-30" && rule != "P-31" {
		seg.alwaysWhy = why
	}
}

func (s *segment) satisfy(by Satisfier, rule, why string) {
	seg := s.seg()
	seg.SatisfiedBy, seg.Rule, seg.Why = &by, rule, why
}

func cleanPath(p string) string { return path.Clean(p) }

func (s *segment) judge() {
	c := s.call
	first := &c.Words[0]
	strict := s.j.in.Layers.StrictInlineEval
	s.seg().Program = first.Text
	if strict {
		s.inlineAround()
	}
	switch {
	case !first.Lit:
		if strict {
			s.inline("the program is named by an expansion, so inline code cannot be ruled out")
		}
		s.miss("P-22", "the program's name is not literal", "write the program's name out")
		return
	case first.Text == "":
		s.miss("P-21", "the program's name is empty", "")
		return
	}
	if !strings.Contains(first.Text, "/") && s.builtin(first.Text) {
		return
	}
	s.program(0, 0)
	if s.seg().SatisfiedBy != nil {
		s.around()
	}
}

// around checks what stands around the words; it can only make a miss.
func (s *segment) around() bool {
	c := s.call
	for _, a := range c.Assigns {
		if why := inSmallEnv(a.Name, a.Value); why != "" {
			s.miss("P-24", why, "leave the assignment out")
			return false
		}
	}
	if s.j.in.envMiss != "" {
		s.miss("P-24", s.j.in.envMiss, "leave it out of env")
		return false
	}
	if len(c.Redirs) > 0 && !s.j.in.Rules.AllowStreamRedirects {
		s.miss("P-22", "redirections are not permitted", "openclaw.json: tools.exec.allowStreamRedirects permits 2>&1 and those to /dev/null")
		return false
	}
	if !c.Strict {
		return true
	}
	for i := range c.Words {
		if !c.Words[i].Lit {
			s.miss("P-22", "the word "+c.Words[i].Text+" in a loop or conditional is not literal", "write the commands out one by one")
			return false
		}
	}
	return true
}

// builtin judges a bare name that bash keeps to itself; false = it is a program's.
func (s *segment) builtin(name string) bool {
	args := s.call.Words[1:]
	if shell.IsCommandV(s.call.Words) {
		s.start.Builtin = "command -v"
		s.satisfyBuiltin("command -v starts nothing")
		return true
	}
	switch shell.Builtin(name) {
	case shell.BuiltinHarmless:
		s.start.Builtin = name
		s.satisfyBuiltin("a builtin that starts nothing")
		return true
	case shell.BuiltinOther:
		if s.j.in.Layers.StrictInlineEval && shell.BuiltinRunsCode(name) {
			s.inline("the builtin " + name + " runs code from its arguments")
		}
		s.miss("P-22", "the builtin "+name+" changes how the shell reads or runs what follows", "write the command without it")
		return true
	case shell.BuiltinProgram:
		if why := shell.BuiltinOnly(name, args); why != "" {
			s.miss("P-23", why, "")
			return true
		}
	}
	return false
}

func (s *segment) satisfyBuiltin(why string) {
	s.satisfy(ByBuiltin, "P-23", why)
	s.around()
}

// program judges the words from index at on as one program with its arguments. depth is
// the number of wrappers around it.
func (s *segment) program(at, depth int) {
	words := s.call.Words[at:]
	word := words[0].Text
	seg := s.seg()
	seg.Program = word
	if c := shell.Carrier(baseName(word), words); c.Never { // also where it is not installed
		s.miss("P-37", c.Why, "")
		return
	}
	file, err := s.j.find(word, s.dir, s.dirNo)
	if err != nil {
		if s.j.in.Layers.StrictInlineEval { // nothing runs now, but it might at the start
			s.inlineProgram(names{baseName(word)}, words)
		}
		s.miss("P-32", err.Error(), "")
		return
	}
	seg.ResolvedPath, seg.RealPath, seg.file = file.Path, file.Real, file
	seg.args = words
	s.pin(at, word, file)
	n, applet := namesOf(word, file)
	if s.j.in.Layers.StrictInlineEval && !s.walked(n, depth) {
		s.inlineProgram(n, words)
	}
	switch {
	case n.any(shell.IsWrapper):
		s.wrapper(n, at, depth)
	case s.own(n, words):
	case n.any(shell.IsAnyShell):
		s.shell(n, words, file, depth)
	default:
		s.leaf(n, words, file, applet)
	}
}

// pin notes what is started: the outermost program in the start, the others in Inner. The
// directories of a program that is named by its path are resolved: /proc/self is another
// one for who starts it.
func (s *segment) pin(at int, word string, f *File) {
	p := f.Path
	if strings.Contains(word, "/") && f.Direct != "" {
		p = f.Direct
	}
	if at == 0 {
		s.start.Path, s.start.Real, s.start.ID = p, f.Real, f.ID
		return
	}
	s.start.Inner = append(s.start.Inner, shell.InnerStart{Arg: at, Path: p, Real: f.Real, ID: f.ID})
}

// pinReal makes the program noted last start by its resolved path: a link to it, which an
// entry says nothing about, may lead elsewhere by the time a script or what is behind a
// wrapper is opened.
func (s *segment) pinReal(f *File) {
	if last := len(s.start.Inner) - 1; last >= 0 {
		s.start.Inner[last].Path = f.Real
		return
	}
	s.start.Path = f.Real
}

// names are the names a program goes by: as written, and of the file that really runs.
type names []string

func (n names) any(is func(string) bool) bool {
	for _, name := range n {
		if is(name) {
			return true
		}
	}
	return false
}

func (n names) all(is func(string) bool) bool {
	for _, name := range n {
		if !is(name) {
			return false
		}
	}
	return len(n) > 0
}

func baseName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// namesOf collects the names that decide what the program is. applet says that the file
// holds many programs and the name picks one.
func namesOf(word string, f *File) (n names, applet bool) {
	typed, real, on := baseName(word), baseName(f.Real), baseName(f.Path)
	n = names{typed}
	if on != typed {
		n = append(n, on)
	}
	if shell.IsMulticall(real) && !shell.IsMulticall(typed) {
		return n, true
	}
	if real != typed && real != on {
		n = append(n, real)
	}
	return n, false
}

// wrapper looks through a wrapper (P-34).
func (s *segment) wrapper(n names, at, depth int) {
	words := s.call.Words[at:]
	name := n[0]
	switch {
	case len(n) > 1:
		s.miss("P-34", "it is a link that gives a wrapper another name ("+strings.Join(n, ", ")+")", "call the wrapper by its own name")
		return
	case !s.trusted():
		s.miss("P-34", "the wrapper does not lie in a trusted directory ("+s.seg().RealPath+")", "")
		return
	case name == "nohup" && s.j.in.Terminal:
		s.miss("P-34", "in a terminal nohup writes the output to a file, nohup.out", "leave nohup or the terminal (pty) out")
		return
	case depth >= maxWrappers:
		s.miss("P-34", "there are too many wrappers around the command", "leave some out")
		return
	}
	w, _ := shell.Unwrap(name, words)
	if w.Why != "" {
		s.miss("P-34", "the wrapper "+name+" cannot be looked through: "+w.Why, "leave the wrapper or its option out")
		return
	}
	for _, a := range w.Assigns {
		if why := inSmallEnv(a.Name, a.Value); why != "" {
			s.miss("P-34", why, "leave the assignment out")
			return
		}
	}
	s.program(at+w.Inner, depth+1)
	if w.Assigning && strings.Contains(s.innerPath(at+w.Inner), "=") {
		s.start.Path = "" // also where a person allows it: not from the tree
		s.miss("P-34", name+" would take the path "+s.innerPath(at+w.Inner)+" for an assignment and start the word behind it", "leave the wrapper out")
	}
}

// innerPath is the path that a wrapper is given in place of the word at an index.
func (s *segment) innerPath(at int) string {
	for _, in := range s.start.Inner {
		if in.Arg == at {
			return in.Path
		}
	}
	return ""
}

// trusted says if the program just looked up lies in P-51's directories.
func (s *segment) trusted() bool {
	bins := s.j.in.Rules.SafeBins
	if bins == nil {
		bins = noSafeBins
	}
	f := s.seg().file
	return f.Loose == "" && bins.inTrusted(f, s.j.m)
}

// noSafeBins has the trusted directories that are always there.
var noSafeBins = CompileSafeBins([]string{}, nil, nil)

// walked says if the program is a shell whose text is judged in its place.
func (s *segment) walked(n names, depth int) bool {
	return depth == 0 && s.call.Inner != nil && n.all(shell.IsShell)
}

// shell judges a shell: its -c text in its place, or its script file by an entry (P-34,
// P-35).
func (s *segment) shell(n names, words []shell.Word, file *File, depth int) {
	code, _ := shell.InlineCode(pick(n, shell.IsAnyShell), words)
	if code == "" && s.call.Inner == nil {
		code = s.noScript(pick(n, shell.IsAnyShell), words)
	}
	if code == "" && s.call.Inner == nil {
		s.leaf(n, words, file, false)
		return
	}
	if s.call.Inner != nil && n.all(shell.IsShell) && depth == 0 && s.trusted() && !s.entry(words, file, false, true) {
		s.text(file)
		return
	}
	if s.j.in.Layers.StrictInlineEval && s.call.Inner != nil {
		s.j.scan(s.call.Inner)
	}
	if s.entry(words, file, false, true) { // an argPattern that spans everything (P-35)
		return
	}
	switch {
	case depth > 0:
		s.miss("P-34", "a wrapper around a shell's text cannot be looked through", "put the wrapper inside of the text, in front of each command")
	case s.call.Inner == nil && s.call.InnerWhy != "":
		s.miss("P-34", s.call.InnerWhy, "write the text without the shell around it")
	case s.call.Inner == nil:
		s.miss("P-35", "the shell runs text, not a script file: "+code, "write the commands without the shell around them")
	default:
		s.miss("P-34", "the shell does not lie in a trusted directory ("+file.Real+")", "")
	}
}

func pick(n names, is func(string) bool) string {
	for _, name := range n {
		if is(name) {
			return name
		}
	}
	return n[0]
}

// shellOnly is why nothing is stored for a shell itself: each command of its text has a
// segment of its own.
const shellOnly = "it is a shell"

// text judges the text of sh -c; it is walked in the shell's place.
func (s *segment) text(file *File) {
	inner := s.call.Inner
	s.j.out.remarks = append(s.j.out.remarks, inner.Remarks...)
	starts, ok := s.j.script(inner)
	if ok || startable(inner, starts) {
		s.start.Path, s.start.Real, s.start.ID = "", "", FileID{}
		s.start.Shell = &Plan{Root: inner.Root, Starts: starts, Dir: s.dir}
	}
	if !ok {
		s.miss("P-34", "not every command of the shell's text is satisfied", "")
		s.seg().alwaysWhy = shellOnly
		return
	}
	s.satisfy(ByAllowlist, "P-34", "every command of the text is satisfied; the shell itself is not started")
}

// leaf judges a program that is not looked through.
func (s *segment) leaf(n names, words []shell.Word, file *File, applet bool) {
	carrier := ""
	for _, name := range n {
		c := shell.Carrier(name, words)
		if c.Never {
			s.miss("P-37", c.Why, "")
			return
		}
		if c.Why != "" {
			carrier = c.Why
		}
	}
	if s.entry(words, file, applet, carrier != "") {
		return
	}
	if carrier != "" {
		s.miss("P-37", carrier+"; only an entry whose argPattern spans all arguments satisfies", s.spanHint(words, file))
		return
	}
	ok, why := s.skill(n, words, file, applet)
	if ok || s.safeBin(words, file) || s.seg().Why != "" {
		return
	}
	s.miss("P-31", file.Real+" is on no allowlist"+why, s.addHint(file))
}

// entry holds the program against the allowlist.
func (s *segment) entry(words []shell.Word, file *File, applet, carrier bool) bool {
	u := use{file: file, args: args{words: words[1:], dir: s.dir, slow: &s.j.slow, sums: func() ([]string, string) { return s.j.contents(words, file, s.dir) }}, applet: applet, exact: file.Loose != "", carrier: carrier, same: s.sameFile}
	if !strings.Contains(words[0].Text, "/") {
		u.bare = words[0].Text
	}
	e, n := s.j.in.Rules.Allowlist.find(&u)
	if e == nil {
		if n.why != "" {
			s.miss("P-31", n.why, s.addHint(file))
		}
		return false
	}
	s.seg().Entry = e.ref()
	if u.bare == "" && !applet { // an applet's name picks what it does
		s.pinReal(file)
	}
	s.satisfy(ByAllowlist, "P-31", "an entry allows it")
	return true
}

// sameFile says if two spellings of a path, that differ in case, name one file; a spelling
// that names nothing is the other one.
func (s *segment) sameFile(literal, p string) bool {
	a, ok := s.realOf(literal)
	if !ok {
		return true
	}
	b, ok := s.realOf(p)
	return ok && a == b
}

// realOf resolves a directory or program.
func (s *segment) realOf(p string) (string, bool) {
	if real, err := s.j.m.Dir(p); err == nil {
		return real, true
	}
	f, err := s.j.m.At(p)
	if err != nil {
		return "", false
	}
	return f.Real, true
}

// safeBin judges a use as a stdin-only filter (P-50..P-56). When it is one by name but not
// by its arguments, the reason is left in the segment.
func (s *segment) safeBin(words []shell.Word, file *File) bool {
	bins := s.j.in.Rules.SafeBins
	name := baseName(words[0].Text)
	if bins == nil || bins.bins[name] == nil {
		return false
	}
	if !s.trusted() {
		s.miss("P-51", file.Real+" does not lie in a trusted directory for safe bins", "openclaw.json: tools.exec.safeBinTrustedDirs, or "+s.addHint(file))
		return false
	}
	if why := bins.check(name, words[1:]); why != "" {
		s.miss("P-53", "as a safe bin: "+why, s.addHint(file))
		return false
	}
	s.satisfy(BySafeBin, "P-50", "with these arguments it only filters its standard input")
	s.start.Literal = true
	return true
}
