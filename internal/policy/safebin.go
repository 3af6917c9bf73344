package policy

import (
	"path"
	"strings"

	"openclaw/internal/shell"
)

// Profile says which arguments a safe bin may have (P-52). A flag that is named nowhere is
// refused.
type Profile struct {
	MinPositional, MaxPositional int
	AllowedValueFlags            []string // "-n", "--limit"
	DeniedFlags                  []string
}

// SafeBins is the compiled list of stdin-only filters that need no entry (P-50). It is not
// changed once made.
type SafeBins struct {
	bins     map[string]*binProfile
	trusted  []string // directories (P-51)
	warnings []string
}

// defaultSafeBins is P-50's.
var defaultSafeBins = []string{"cut", "uniq", "head", "tail", "tr", "wc"}

// CompileSafeBins reads the settings. A nil list is the default, an empty one none. trusted
// are directories besides /bin and /usr/bin.
func CompileSafeBins(list, trusted []string, profiles map[string]Profile) *SafeBins {
	s := &SafeBins{bins: map[string]*binProfile{}, trusted: []string{"/usr/bin", "/bin"}}
	for _, dir := range trusted {
		if strings.HasPrefix(dir, "/") {
			s.trusted = append(s.trusted, path.Clean(dir))
		}
	}
	if list == nil {
		list = defaultSafeBins
	}
	for _, name := range list {
		if why := neverSafe(name); why != "" {
			s.warnings = append(s.warnings, "safeBins: "+name+" is never a safe bin: "+why)
			continue
		}
		builtin := binTable[name]
		custom, ok := profiles[name]
		switch {
		case builtin == nil && !ok:
			s.warnings = append(s.warnings, "safeBins: "+name+" has no profile; add one to safeBinProfiles")
		case !ok:
			s.bins[name] = builtin
		default:
			s.bins[name] = mergeProfile(builtin, custom)
		}
	}
	return s
}

// Warnings lists the names that have no effect, with the reason.
func (s *SafeBins) Warnings() []string { return s.warnings }

// neverSafe says why a program can be no safe bin, whatever its profile (P-50).
func neverSafe(name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "/ "):
		return "it is no program's name"
	case name == "jq" || name == "awk" || name == "sed" || shell.IsInterpreter(name):
		return "it runs programs of its own language"
	case shell.IsShell(name) || shell.IsWrapper(name) || shell.IsMulticall(name):
		return "it starts other programs"
	case shell.Carrier(name, []shell.Word{{Text: name, Lit: true}}).Why != "":
		return "it starts other programs"
	}
	return ""
}

// mergeProfile lays an operator's profile over the built-in one: what that denies stays
// denied.
func mergeProfile(builtin *binProfile, custom Profile) *binProfile {
	p := &binProfile{custom: true}
	if builtin != nil {
		*p = *builtin
	}
	p.min, p.max = custom.MinPositional, custom.MaxPositional
	p.values = map[string]valueKind{}
	if builtin != nil {
		for flag, kind := range builtin.values {
			p.values[flag] = kind
		}
	}
	for _, flag := range custom.AllowedValueFlags {
		p.values[flag] = valueAny
	}
	p.denied = p.denied + " " + strings.Join(custom.DeniedFlags, " ") + " "
	return p
}

// inTrusted says if the file lies, by the path it was found at and by its real one, in one
// of the directories of P-51.
func (s *SafeBins) inTrusted(f *File, m Machine) bool {
	return s.trustedDir(path.Dir(f.Path), m) && s.trustedDir(path.Dir(f.Real), m)
}

func (s *SafeBins) trustedDir(dir string, m Machine) bool {
	for _, t := range s.trusted {
		if t == dir {
			return true
		}
	}
	for _, t := range s.trusted[2:] { // /bin and /usr/bin as they are; others may be links
		if real, err := m.Dir(t); err == nil && real == dir {
			return true
		}
	}
	return false
}

// check says why a use of the program is not safe, "" = it is.
func (s *SafeBins) check(name string, words []shell.Word) string {
	p := s.bins[name]
	if p == nil {
		return "it is not one of the safe bins"
	}
	c := binCheck{p: p}
	return c.run(words)
}

// binCheck judges from argv alone (P-52, P-53).
type binCheck struct {
	p          *binProfile
	positional int
	pattern    bool // grep has its pattern (P-55)
}

func (c *binCheck) run(words []shell.Word) string {
	options := true
	for i := 0; i < len(words); i++ {
		w := &words[i]
		if !w.Lit {
			return "the argument " + w.Text + " is not literal"
		}
		text := w.Text
		switch {
		case options && text == "--":
			options = false
		case options && strings.HasPrefix(text, "--"):
			used, why := c.long(text, words[i+1:])
			if why != "" {
				return why
			}
			i += used
		case options && len(text) > 1 && text[0] == '-':
			used, why := c.short(text, words[i+1:])
			if why != "" {
				return why
			}
			i += used
		default:
			if why := c.operand(text); why != "" {
				return why
			}
		}
	}
	switch {
	case c.positional < c.p.min:
		return "it needs more operands than it has"
	case c.p.needs != "" && !c.pattern:
		return "it needs " + c.p.needs
	}
	return ""
}

func (c *binCheck) operand(text string) string {
	switch {
	case text == "-" && c.p.dash:
		return "" // standard input
	case c.p.plus && len(text) > 1 && text[0] == '+' && numeric(text):
		return ""
	case pathLike(text):
		return "the operand " + text + " looks like a path"
	}
	if c.positional++; c.positional > c.p.max {
		return "the operand " + text + " may be a file"
	}
	return ""
}

func (c *binCheck) long(text string, rest []shell.Word) (used int, why string) {
	name, value, has := strings.Cut(text, "=")
	if denied(c.p.denied, name) {
		return 0, "the option " + name + " is not allowed"
	}
	kind, known := c.p.values[name]
	switch {
	case inList(c.p.flags, name) && !has:
		return 0, ""
	case inList(c.p.maybe, name):
		if !has || valueWord.ok(value) {
			return 0, ""
		}
		return 0, "the value of " + name + " is not understood"
	case !known:
		return 0, "the option " + name + " is not known"
	case !has:
		if len(rest) == 0 || !rest[0].Lit {
			return 0, "the option " + name + " has no literal value"
		}
		value, used = rest[0].Text, 1
	}
	return used, c.value(name, kind, value)
}

func (c *binCheck) short(text string, rest []shell.Word) (used int, why string) {
	if c.p.number && numeric(text) { // head -5
		return 0, ""
	}
	for i := 1; i < len(text); i++ {
		flag := "-" + text[i:i+1]
		kind, known := c.p.values[flag]
		switch {
		case denied(c.p.denied, flag):
			return 0, "the option " + flag + " is not allowed"
		case strings.IndexByte(c.p.letters, text[i]) >= 0:
			continue
		case !known:
			return 0, "the option " + flag + " is not known"
		case i+1 < len(text):
			return 0, c.value(flag, kind, text[i+1:])
		case len(rest) == 0 || !rest[0].Lit:
			return 0, "the option " + flag + " has no literal value"
		}
		return 1, c.value(flag, kind, rest[0].Text)
	}
	return 0, ""
}

func (c *binCheck) value(flag string, kind valueKind, value string) string {
	if inList(" -e --regexp ", flag) {
		c.pattern = true
	}
	if pathLike(value) || !kind.ok(value) {
		return "the value " + value + " of " + flag + " is not understood"
	}
	return ""
}

// pathLike says if a word could name a file elsewhere (P-53).
func pathLike(s string) bool {
	switch {
	case s == "." || s == "..", strings.HasPrefix(s, "/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), strings.HasPrefix(s, "~"):
		return true
	case len(s) >= 3 && s[1] == ':' && (s[2] == '\\' || s[2] == '/'):
		return true
	}
	return len(s) == 2 && s[1] == ':' && isWordByte(s[0]) && (s[0] < '0' || s[0] > '9')
}

// denied says if the flag, or what it abbreviates, is in the list.
func denied(list, flag string) bool {
	if inList(list, flag) {
		return true
	}
	return strings.HasPrefix(flag, "--") && len(flag) > 2 && strings.Contains(list, " "+flag)
}

func inList(list, word string) bool {
	return word != "" && strings.IndexByte(word, ' ') < 0 && strings.Contains(list, " "+word+" ")
}
