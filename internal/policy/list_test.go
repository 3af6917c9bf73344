package policy

import (
	"strings"
	"testing"

	"openclaw/internal/shell"
)

func TestP31_Glob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/usr/bin/*", "/usr/bin/git", true},
		{"/usr/bin/*", "/usr/bin/a/b", false},
		{"/usr/bin/**", "/usr/bin/a/b", true},
		{"/usr/**/b", "/usr/b", true},
		{"/usr/**/b", "/usr/x/y/b", true},
		{"/usr/**/b", "/usr/x/y/c", false},
		{"/**", "/a", true},
		{"/**/bin/*", "/opt/x/bin/y", true},
		{"/**/bin/*", "/opt/x/bin/y/z", false},
		{"/**/a/**/b", "/x/a/y/a/z/b", true},
		{"/a**b", "/axxb", true},
		{"/a**b", "/a/b", false},
		{"/usr/bin/gi?", "/usr/bin/git", true},
		{"/usr/bin/gi?", "/usr/bin/gi", false},
		{"/usr/bin/gi?", "/usr/bin/gi/", false},
		{"/x/?", "/x/é", true},
		{"/USR/bin/Git", "/usr/BIN/gIT", true},
		{"/usr/bin/git", "/usr/bin/gitx", false},
		{"/usr/bin/\u212a", "/usr/bin/k", false}, // a look-alike of K
		{"/usr/bin/[a]", "/usr/bin/a", false},
		{"/a/*/c/*", "/a/b/c/d", true},
		{"/" + strings.Repeat("*a", 20) + "b", "/" + strings.Repeat("a", 200), false},
		{"/" + strings.Repeat("**/a/", 20) + "b", strings.Repeat("/a", 200), false},
	} {
		g := compileGlob(c.pattern)
		if got := g.match(foldPath(c.path)); got != c.want {
			t.Errorf("%.40s on %.40s: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestP30_Useless(t *testing.T) {
	for _, pattern := range []string{"", "=command:0123", "bin/git", "~user/x", "/usr//bin/x", "/usr/../x", "/usr/bin/", "x\x00", "./x"} {
		if a := Compile([]Entry{{Pattern: pattern}}, "/home/u"); a.Len() != 0 || len(a.Useless()) != 1 {
			t.Errorf("%q can match", pattern)
		}
	}
	for _, args := range []string{"(", "(?i)x", `\p{L}`, `\Ax\z`, "(?>x)", "a++", "[]", "[^]", "[[:alpha:]]", `(x)\1`, `\cA`, "(?#x)", "(?P<n>x)", "(?'n'x)", "(?<n>x)(?<n>y)", `\u{41}`, "sha256:cwd-argv:v1:00", "sha256:cwd-argv-content:v1:00"} {
		if a := Compile([]Entry{{Pattern: "x", ArgPattern: args}}, ""); a.Len() != 0 {
			t.Errorf("the argPattern %q can match", args)
		}
	}
}

// matchArgs holds literal arguments against an argPattern.
func matchArgs(t *testing.T, pattern string, whole bool, words ...string) bool {
	t.Helper()
	p, err := compileArgs(pattern)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	slow := false
	a := args{slow: &slow, dir: "/srv/ws"}
	for _, w := range words {
		a.words = append(a.words, shell.Word{Text: w, Lit: true})
	}
	ok, _ := p.match(&a, whole)
	return ok
}

func TestP33_ECMAScript(t *testing.T) {
	for _, c := range []struct {
		pattern, args string
		want          bool
	}{
		{"^--version$", "--version", true},
		{"^--version$", "--version\n", false}, // $ is the very end
		{"^--version$", "x\n--version", false},
		{"version", "--version x", true},
		{"^(?!config).*$", "config -l", false},
		{"(?<=a)b", "ab", true},
		{`^\d+$`, "12", true},
		{`^\d+$`, "\u0661\u0662", false}, // Arabic digits
		{`^\w+$`, "é", false},
		{`^\S+$`, "a\u00a0b", false}, // white space in ECMAScript
		{`^.$`, "\U0001f600", false}, // two units in ECMAScript
		{`^[^x]+$`, "abc", true},
		{`^a\$b$`, "a$b", true},
		{`^[$]$`, "$", true},
		{`^(?:a|b){2}$`, "ab", true},
		{`^\x41\u0042$`, "AB", true},
		{`^(?<n>a)$`, "a", true},
		{"", "anything", true},
	} {
		if c.pattern == "" {
			continue
		}
		if got := matchArgs(t, c.pattern, false, c.args); got != c.want {
			t.Errorf("%s on %q: %v, want %v", c.pattern, c.args, got, c.want)
		}
	}
}

func TestP37_WholeMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		words   []string
		want    bool
	}{
		{"a", []string{"a"}, true},
		{"a", []string{"a", "b"}, false},
		{"a|a b", []string{"a", "b"}, true},
		{"^a", []string{"a", "b"}, false},
		{"a$", []string{"b", "a"}, false},
		{".*", []string{"b", "a"}, true},
		{".*", []string{"b\nc"}, false},
	} {
		if got := matchArgs(t, c.pattern, true, c.words...); got != c.want {
			t.Errorf("%s on %q: %v, want %v", c.pattern, c.words, got, c.want)
		}
	}
}

// The digest is protocol 5.3's; the value was computed by another program.
func TestA31_ExactForm(t *testing.T) {
	pattern := "sha256:cwd-argv:v1:" + exactDigest("/srv/ws", []shell.Word{{Text: "-u", Lit: true}}, nil)
	if pattern != "sha256:cwd-argv:v1:55bdda8f7616d16dccbd694c2e541e523295dc07757bf7137e86f71eca3b66f5" {
		t.Errorf("the digest is %s", pattern)
	}
	if !matchArgs(t, pattern, true, "-u") || matchArgs(t, pattern, true, "-u", "x") || matchArgs(t, pattern, true, "-", "u") {
		t.Error("exact arguments match wrongly")
	}
}

func TestP50_Lists(t *testing.T) {
	s := CompileSafeBins([]string{"head", "jq", "awk", "sed", "python3.12", "bash", "xargs", "env", "git", "mine", "my/x"}, nil, map[string]Profile{
		"jq": {}, "awk": {}, "python3.12": {}, "bash": {}, "xargs": {}, "env": {}, "my/x": {},
	})
	if len(s.bins) != 1 || s.bins["head"] == nil || len(s.Warnings()) != 10 {
		t.Errorf("bins %v, warnings %q", s.bins, s.Warnings())
	}
}

func TestP53_Arguments(t *testing.T) {
	s := CompileSafeBins([]string{"head", "tail", "wc", "cut", "tr", "uniq", "grep", "sort", "mine"}, nil, map[string]Profile{
		"mine": {AllowedValueFlags: []string{"-n", "--limit"}, DeniedFlags: []string{"-f", "--file"}, MaxPositional: 1},
		"sort": {AllowedValueFlags: []string{"-o"}},
	})
	for command, want := range map[string]bool{
		"head -5": true, "head -n +3": true, "head -n 5k": true, "head -n 5x": false, "head ../x": false, "head -": true, "head - -": true, "head -n": false, "head -n $x": false,
		"tail +3": true, "tail -3f": false, "tail -f": false, "tail --foll": false, "tail -n 3 -F": false, "tail --retry": false, "tail -qn3": true, "tail --lines=3": true, "tail --pid=1": false,
		"wc -l": true, "wc --files0-from=-": false, "wc --fi=-": false, "wc --lines=3": false, "cut -d, -f1,3-": true, "cut -f1 x": false, "cut --output-delimiter=/x": false,
		"tr a b": true, "tr a": true, "tr /etc b": false, "tr -d x": true, "tr -x a": false, "tr -- -d x": true, "uniq -c": true, "uniq -": false, "uniq -c x": false, "uniq --group=both": true,
		"grep -e x": true, "grep x": false, "grep -e x -r": false, "grep -nie x": true, "grep -e /etc": false, "grep -ex": true, "grep -e -f": true, "grep --color=auto -e x": true, "grep --fil=x -e y": false,
		"sort -o x": false, "sort --outp=x": false, "sort -t, -k2,2n": true, "sort -k2o": false, "sort -t ab": false, "sort --files0-from -": false, "sort -S 1M": true,
		"mine": true, "mine x": true, "mine x y": false, "mine -n 5": true, "mine -fx": false, "mine --fi x": false, "mine -": true, "mine - -": false, "mine -q": false, "mine ~/x": false, "mine ''": true,
		"head '~'": false, "head 'C:\\x'": false, "head *": false, "head {a,b}": false, "head \"$x\"": false, "head -n '5'": true,
	} {
		words := shell.Analyze(command).Calls[0].Words
		if why := s.check(words[0].Text, words[1:]); (why == "") != want {
			t.Errorf("%s: safe %v, want %v (%s)", command, why == "", want, why)
		}
	}
}

func TestP4_HostPolicy(t *testing.T) {
	e := Combine(Layers{
		Security: Full, SecuritySource: "config", Ask: AskOff, AskSource: "config",
		Host: HostPolicy{Security: Allowlist, SecuritySource: "doc", Ask: AskOnMiss, AskSource: "doc", AskFallback: Full, AskFallbackSource: "doc"},
	})
	if e.Security != (Value[Security]{Allowlist, "doc"}) || e.Ask != (Value[Ask]{AskOnMiss, "doc"}) || e.AskFallback.Value != Full {
		t.Errorf("%+v", e)
	}
	e = Combine(Layers{Security: Deny, SecuritySource: "config", Host: HostPolicy{Security: Full, SecuritySource: "doc"}})
	if e.Security.Value != Deny || e.Security.Source != "config" {
		t.Errorf("%+v", e)
	}
}

func TestP11_Unanswered(t *testing.T) {
	for _, c := range []struct {
		security, fallback Security
		satisfied          bool
		inline             string
		want               Outcome
	}{
		{Full, Full, false, "", OutcomeAllow},
		{Full, Allowlist, false, "", OutcomeDeny},
		{Full, Allowlist, true, "", OutcomeAllow},
		{Full, Deny, true, "", OutcomeDeny},
		{Allowlist, Full, false, "", OutcomeDeny},
		{Allowlist, Full, true, "", OutcomeAllow},
		{Allowlist, Allowlist, true, "", OutcomeAllow},
		{Allowlist, Deny, true, "", OutcomeDeny},
		{Full, Full, true, "code", OutcomeDeny},
	} {
		d := Decision{Outcome: OutcomeAsk, Satisfied: c.satisfied, Inline: c.inline}
		d.Effective.Security.Value, d.Effective.AskFallback.Value = c.security, c.fallback
		if got := Unanswered(d).Outcome; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestP37_HintPattern(t *testing.T) {
	for _, text := range []string{". -name *.go -exec wc -l {} +", `a\b$c^(d)|[e]/f`, ""} {
		if !matchArgs(t, "^"+quoteECMA(text)+"$", true, text) {
			t.Errorf("the pattern made for %q does not match it", text)
		}
	}
}
