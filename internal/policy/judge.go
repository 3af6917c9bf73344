package policy

import (
	"strings"

	"openclaw/internal/shell"
)

// Rules are what an agent's commands are held against, compiled. They are not changed once
// made.
type Rules struct {
	Allowlist            *List     // nil = empty
	SafeBins             *SafeBins // nil = none
	Skills               *Skills   // nil = none; they count only under Layers.Host.AutoAllowSkills (P-36)
	AllowStreamRedirects bool      // P-22
}

// judgement is a command held against the rules, before the modes are looked at.
type judgement struct {
	segments  []Segment
	remarks   []shell.Remark
	satisfied bool
	plan      *Plan // when satisfied
	whole     *Plan // when all of it is understood and could be started, satisfied or not
	judge     *judge
	inline    string // code on the command line, or that it cannot be ruled out (P-40)
}

// judge walks one command.
type judge struct {
	in     *Input
	m      Machine
	home   string     // real directory it begins in, "" = not known
	homeNo string     // why not
	dirs   []knownDir // of the cd steps met so far
	files  []found    // look-ups of this command
	slow   bool       // a pattern took too long: no other is tried (P-33)
	out    judgement
}

type knownDir struct {
	steps []string
	real  string
	why   string
}

type found struct {
	word, dir string
	file      *File
	err       error
}

func judgeCommand(in *Input) judgement {
	j := &judge{in: in, m: in.Machine}
	j.out.judge = j
	script := shell.Analyze(in.Command)
	j.out.remarks = script.Remarks
	if real, err := j.m.Dir(in.Dir); err != nil {
		j.homeNo = err.Error()
	} else {
		j.home = real
	}
	starts, ok := j.script(script)
	j.out.satisfied = ok && len(j.out.segments) > 0
	if startable(script, starts) && j.homeNo == "" {
		j.out.whole = &Plan{Root: script.Root, Starts: starts, Dir: j.home}
	}
	if j.out.satisfied {
		j.out.plan = &Plan{Root: script.Root, Starts: starts, Dir: j.home}
	}
	return j.out
}

// script judges all commands of a script. ok says that all of it is satisfied.
func (j *judge) script(s *shell.Script) (starts []shell.Start, ok bool) {
	ok = s.Understood()
	starts = make([]shell.Start, 0, len(s.Calls))
	for _, r := range s.Remarks {
		if j.in.Layers.StrictInlineEval && unreadable(r) {
			j.noteInline("the text cannot be read, so code in it cannot be ruled out")
		}
	}
	for _, redir := range looseRedirs(s.Root, nil) {
		if !j.in.Rules.AllowStreamRedirects {
			ok = false
			j.out.remarks = append(j.out.remarks, shell.Remark{
				Span: redir.Span, Node: "redirection", Rule: "P-22",
				Why: "is permitted only with tools.exec.allowStreamRedirects",
			})
		}
	}
	for _, call := range s.Calls {
		start, good := j.call(call)
		starts = append(starts, start)
		ok = ok && good
	}
	if j.in.Layers.StrictInlineEval {
		j.hidden(s)
	}
	return starts, ok
}

// startable says if every command of an understood text is a builtin of P-23 or a program
// that was found, so that it can run from its tree once a person has allowed it (P-61).
func startable(s *shell.Script, starts []shell.Start) bool {
	if !s.Understood() || len(starts) == 0 || len(starts) != len(s.Calls) {
		return false
	}
	for i := range starts {
		if st := &starts[i]; st.Builtin == "" && st.Shell == nil && st.Path == "" {
			return false
		}
		for _, a := range starts[i].Assigns {
			if a.Name == "PATH" { // bash looks the command up in it
				return false
			}
		}
	}
	return true
}

// unreadable says if nothing at all is known about what stands at the remark.
func unreadable(r shell.Remark) bool {
	return r.Node == "syntax" || r.Node == "character" || r.Rule == "P-26"
}

// looseRedirs lists the redirections of nodes that are no simple commands.
func looseRedirs(s *shell.Stmt, list []shell.Redir) []shell.Redir {
	if s == nil {
		return list
	}
	if s.Kind != shell.KindCall {
		list = append(list, s.Redirs...)
	}
	for _, kid := range s.Kids {
		list = looseRedirs(kid, list)
	}
	return list
}

// hidden looks for inline code in what was not understood.
func (j *judge) hidden(s *shell.Script) {
	keep := len(j.out.segments)
	for _, call := range s.Hidden {
		j.call(call)
	}
	j.out.segments = j.out.segments[:keep] // they are not segments of the command (P-21)
}

// scan looks for inline code in the text of a shell that is not walked in its place.
func (j *judge) scan(s *shell.Script) {
	segments, remarks := len(j.out.segments), len(j.out.remarks)
	j.script(s)
	j.out.segments, j.out.remarks = j.out.segments[:segments], j.out.remarks[:remarks]
}

func (j *judge) noteInline(why string) {
	if j.out.inline == "" {
		j.out.inline = why
	}
}

// call judges one simple command and appends its segment.
func (j *judge) call(c *shell.Call) (shell.Start, bool) {
	seg := Segment{Span: c.Span, Text: j.in.Command[c.Span.Start:c.Span.End], args: c.Words}
	seg.Argv = make([]string, len(c.Words))
	for i := range c.Words {
		seg.Argv[i] = c.Words[i].Text
	}
	start := shell.Start{Segment: len(j.out.segments), Argv: c.Words, Assigns: c.Assigns, Redirs: c.Redirs}
	for _, a := range c.Assigns {
		if why := inSmallEnv(a.Name, a.Value); why != "" {
			seg.again = why
		}
	}
	if len(c.Redirs) > 0 && !j.in.Rules.AllowStreamRedirects {
		seg.again = "redirections are not permitted"
	}
	j.out.segments = append(j.out.segments, seg)
	one := segment{j: j, call: c, index: start.Segment, start: &start}
	one.dir, one.dirNo = j.dirOf(c.Dir)
	one.seg().dir, start.Dir = one.dir, one.dir
	one.judge()
	s := one.seg()
	if s.Inline != "" {
		j.noteInline(s.Inline)
		s.SatisfiedBy = nil
	}
	return start, s.SatisfiedBy != nil
}

// dirOf is the real directory at a place in the text.
func (j *judge) dirOf(d shell.Dir) (real, why string) {
	if d.Unknown != "" {
		return "", d.Unknown
	}
	if len(d.Steps) == 0 {
		return j.home, j.homeNo
	}
	for i := range j.dirs {
		if sameSteps(j.dirs[i].steps, d.Steps) {
			return j.dirs[i].real, j.dirs[i].why
		}
	}
	last := len(d.Steps) - 1
	real, why = j.dirOf(shell.Dir{Steps: d.Steps[:last]})
	if why == "" {
		real, why = j.step(real, d.Steps[last])
	}
	j.dirs = append(j.dirs, knownDir{d.Steps, real, why})
	return real, why
}

func sameSteps(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// step follows one cd. A shell takes .. off the path as it is written, the kernel follows
// the links: where the two differ the directory is not known.
func (j *judge) step(from, to string) (real, why string) {
	if to[0] != '/' {
		to = from + "/" + to
	}
	real, err := j.m.Dir(to)
	if err != nil {
		return "", "the cd before it leads to no directory: " + err.Error()
	}
	if strings.Contains(to, "..") {
		if written, err := j.m.Dir(cleanPath(to)); err != nil || written != real {
			return "", "the cd before it goes through a link with .., which can be read in two ways"
		}
	}
	return real, ""
}

// find looks a command word up, once per command.
func (j *judge) find(word, dir, dirNo string) (*File, error) {
	for i := range j.files {
		if f := &j.files[i]; f.word == word && f.dir == dir {
			return f.file, f.err
		}
	}
	f := found{word: word, dir: dir}
	switch {
	case !strings.Contains(word, "/"):
		f.file, f.err = j.m.InPath(word, j.in.Path, dir)
	case word[0] == '/':
		f.file, f.err = j.m.At(word)
	case dir == "":
		f.err = reason("it is named relative to a directory that is not known: " + dirNo)
	default:
		f.file, f.err = j.m.At(dir + "/" + word)
	}
	j.files = append(j.files, f)
	return f.file, f.err
}

// contents are the sums of what a use of a program runs and the user can write: the program
// first, then the script file it is given. why says that they cannot be told.
func (j *judge) contents(words []shell.Word, file *File, dir string) (sums []string, why string) {
	files := []string{file.Real}
	for _, name := range []string{baseName(words[0].Text), baseName(file.Real)} {
		if kind, _ := shell.PackageRunner(name, words); kind != shell.NoRunner {
			return nil, "it runs files that a package names"
		}
		scripts, why := shell.ScriptFiles(name, words)
		switch {
		case why != "":
			return nil, why
		case shell.RunsModule(name, words):
			return nil, "which file the module is read from cannot be told"
		case len(scripts) == 0:
			continue
		}
		for _, script := range scripts {
			switch {
			case script == "":
				return nil, "the name of its script is empty"
			case script[0] == '/':
				files = append(files, script)
			case dir == "":
				return nil, "the directory of its script is not known"
			default:
				files = append(files, dir+"/"+script)
			}
		}
		break
	}
	for _, path := range files {
		c, err := j.m.Content(path)
		if err != nil {
			return nil, err.Error()
		}
		if c.Writable {
			sums = append(sums, c.SHA256)
		}
	}
	return sums, ""
}

// reason is an error that is only a text for people.
type reason string

// Error is the reason.
func (r reason) Error() string { return string(r) }
