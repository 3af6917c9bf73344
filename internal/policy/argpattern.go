package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2/v2"

	"openclaw/internal/shell"
)

// argTime bounds one match (P-33). The engine's clock ticks every 100 ms, so the end may
// come that much later.
const argTime = 50 * time.Millisecond

// exactForm is how allow-always writes exact arguments in one directory.
const (
	exactForm   = "sha256:cwd-argv:v1:"
	contentForm = "sha256:cwd-argv-content:v1:"
)

// argPattern is a compiled argPattern (P-33).
type argPattern struct {
	exact   string // hexadecimal digest of an exact form, "" = a regular expression
	content bool   // the digest has the content of what the user can write, too
	some    *regexp2.Regexp
	whole   *regexp2.Regexp // the same, spanning all of the arguments (P-37)
}

func compileArgs(pattern string) (*argPattern, error) {
	for _, form := range []string{exactForm, contentForm} {
		if digest, ok := strings.CutPrefix(pattern, form); ok {
			if len(digest) != 2*sha256.Size {
				return nil, errors.New("its digest has the wrong length")
			}
			return &argPattern{exact: strings.ToLower(digest), content: form == contentForm}, nil
		}
	}
	clean, err := checkECMA(pattern)
	if err != nil {
		return nil, err
	}
	p := &argPattern{}
	if p.some, err = compileECMA(clean); err != nil {
		return nil, err
	}
	if p.whole, err = compileECMA("^(?:" + clean + ")" + endOfText); err != nil {
		return nil, err
	}
	return p, nil
}

func compileECMA(pattern string) (*regexp2.Regexp, error) {
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript, regexp2.OptionMaxBacktrackingStackSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("it is no regular expression: %w", err)
	}
	re.MatchTimeout = argTime
	return re, nil
}

// args are the arguments of a segment as entries look at them.
type args struct {
	words  []shell.Word // behind the program's
	dir    string       // real working directory, "" = not known
	joined string
	ready  bool
	why    string                    // why argPattern cannot be tested
	sums   func() ([]string, string) // contents of what the user can write, or why they cannot be told
	slow   *bool                     // of the whole command: a pattern took too long, no other is tried
}

// prepare joins the words once.
func (a *args) prepare() {
	if a.ready {
		return
	}
	a.ready = true
	var b strings.Builder
	for i := range a.words {
		w := &a.words[i]
		if !w.Lit {
			a.why = "they are not literal"
			return
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	a.joined = b.String()
	for _, r := range a.joined {
		// Where engines differ: ECMAScript counts UTF-16 units and knows more white space.
		if r > 0xffff || r >= 0x80 && (unicode.IsSpace(r) || r == 0xfeff || r == 0x180e) || r == 0x2028 || r == 0x2029 || r == '\r' {
			a.why = fmt.Sprintf("they hold a character (U+%04X) that regular expressions read in different ways", r)
			return
		}
	}
}

// match tests the arguments; whole asks for a match that spans all of them.
func (p *argPattern) match(a *args, whole bool) (ok bool, why string) {
	a.prepare()
	if p.exact != "" {
		return p.matchExact(a)
	}
	switch {
	case a.why != "":
		return false, a.why
	case *a.slow:
		return false, "another pattern took too long"
	}
	re := p.some
	if whole {
		re = p.whole
	}
	ok, err := re.MatchString(a.joined)
	switch {
	case err != nil:
		*a.slow = true
		return false, "the pattern took too long"
	case !ok && whole:
		return false, "no match of the pattern spans all of them"
	case !ok:
		return false, "the pattern does not match"
	}
	return true, ""
}

func (p *argPattern) matchExact(a *args) (ok bool, why string) {
	for i := range a.words {
		if !a.words[i].Lit {
			return false, "they are not literal"
		}
	}
	if a.dir == "" {
		return false, "the directory is not known"
	}
	var sums []string
	if p.content {
		if sums, why = a.sums(); why != "" {
			return false, why
		}
	}
	if exactDigest(a.dir, a.words, sums) != p.exact {
		if p.content {
			return false, "it allows exact arguments in one directory and files of one content, and these differ"
		}
		return false, "it allows exact arguments in one directory, and these differ"
	}
	return true, ""
}

// exactDigest is the digest of sha256:cwd-argv:v1 over the directory and the arguments
// behind the program's name; with sums of contents it is that of the content form.
func exactDigest(dir string, words []shell.Word, sums []string) string {
	h := sha256.New()
	field := func(s string) {
		h.Write([]byte(s)) // a hash never fails
		h.Write([]byte{0})
	}
	field(strconv.Itoa(len(dir)))
	field(dir)
	field(strconv.Itoa(len(words)))
	for i := range words {
		field(strconv.Itoa(len(words[i].Text)))
		field(words[i].Text)
	}
	for _, sum := range sums {
		field(sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}
