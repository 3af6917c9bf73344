package shell

import (
	"strings"
	"testing"
	"time"
)

// words are the literal words of a call; words that are not literal stand in < >.
func words(c *Call) string {
	var list []string
	for _, w := range c.Words {
		if w.Lit {
			list = append(list, w.Text)
		} else {
			list = append(list, "<"+w.Text+">")
		}
	}
	return strings.Join(list, "|")
}

func TestP21_Calls(t *testing.T) {
	for text, want := range map[string]string{
		"git log; ls 'a b' | wc": "git|log ls|a b wc",
		"a && b || ! c":          "a b c",
		"(a; { b; })":            "a b",
		"if a; then b; elif c; then d; else e; fi": "a b c d e",
		"echo $HOME \"x$Y\" *":                     "echo|<$HOME>|<\"x$Y\">|<*>",
		"echo {a,b}":                               "echo|<{a,b}>|<{a,b}>",
		"\"a b\"/c d":                              "a b/c|d",
	} {
		s := Analyze(text)
		var got []string
		for _, c := range s.Calls {
			got = append(got, words(c))
		}
		if !s.Understood() || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q; %v", text, strings.Join(got, " "), want, s.Remarks)
		}
	}
}

func TestP12_Spans(t *testing.T) {
	for text, want := range map[string][]string{
		"a b; c  d | e":              {"a b", "c  d", "e"},
		"sh -c 'a b; c'":             {"sh -c 'a b; c'", "a b", "c"},
		"sh -c \"a \\\"b c\\\"; d\"": {"sh -c \"a \\\"b c\\\"; d\"", "a \\\"b c\\\"", "d"},
		"bash -c $'a\\tb; \\x63'":    {"bash -c $'a\\tb; \\x63'", "a\\tb", "\\x63"},
		"sh -c 'sh -c \"x y; z\"'":   {"sh -c 'sh -c \"x y; z\"'", "sh -c \"x y; z\"", "x y", "z"},
		"é 'ü'; sh -c 'ö ä'":         {"é 'ü'", "sh -c 'ö ä'", "ö ä"},
	} {
		var got []string
		var walk func(s *Script)
		walk = func(s *Script) {
			for _, c := range s.Calls {
				got = append(got, text[c.Span.Start:c.Span.End])
				if c.Inner != nil {
					walk(c.Inner)
				}
			}
		}
		walk(Analyze(text))
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestP20_Remarks(t *testing.T) {
	for text, want := range map[string]string{
		"echo $(id)":               "$(id)",
		"echo \"a `id`\"":          "`id`",
		"ls > x":                   "> x",
		"ls &":                     "&",
		"f() { ls; }":              "f() { ls; }",
		"ls; echo ${x:-y} z":       "${x:-y}",
		"sh -c 'ls $(id)'":         "$(id)",
		"ls\rid":                   "\r",
		"for i in $x; do ls; done": "$x",
	} {
		s := Analyze(text)
		remarks := s.Remarks
		for _, c := range s.Calls {
			if c.Inner != nil {
				remarks = append(remarks, c.Inner.Remarks...)
			}
		}
		if len(remarks) != 1 {
			t.Errorf("%q: remarks %v", text, remarks)
			continue
		}
		if got := text[remarks[0].Span.Start:remarks[0].Span.End]; got != want {
			t.Errorf("%q: the remark is about %q, want %q", text, got, want)
		}
	}
}

// TestP23_Directory: the directory of the last command.
func TestP23_Directory(t *testing.T) {
	for text, want := range map[string]string{
		"x":                    "",
		"cd a; x":              "a",
		"cd a && cd ../b && x": "a ../b",
		"cd -- a; x":           "a",
		"(cd a); x":            "",
		"cd a | y; x":          "",
		"{ cd a; }; x":         "a",
		"sh -c 'cd a'; x":      "",
		"cd a >/dev/null; x":   "a",
		"cd; x":                "?", "cd -; x": "?", "cd $y; x": "?", "cd ~; x": "?", "cd a b; x": "?", "cd ''; x": "?", "cd -P a; x": "?",
		"cd a || x":                    "?",
		"cd a || y; x":                 "?",
		"y && cd a; x":                 "?",
		"y && cd a && x":               "a",
		"y || cd a; x":                 "?",
		"! cd a && x":                  "?",
		"if cd a; then y; fi; x":       "?",
		"while y; do cd a; x; done":    "?",
		"for i in 1; do x; cd a; done": "?",
		"pushd a; x":                   "?",
		"\\cd a; x":                    "a",
		"cd a; cd; cd b; x":            "?",
	} {
		s := Analyze(text)
		got := "no x"
		for _, c := range s.Calls {
			if c.Words[0].Text == "x" {
				if got = strings.Join(c.Dir.Steps, " "); c.Dir.Unknown != "" {
					got = "?"
				}
			}
		}
		if got != want {
			t.Errorf("%q: x runs in %q, want %q", text, got, want)
		}
	}
}

func TestP34_Unwrap(t *testing.T) {
	for text, want := range map[string]string{
		"env a": "a", "env TERM=x LANG=y a b": "a", "env -u X a": "a", "env -uX -- a": "a", "nice a": "a", "nice -n 5 a": "a", "nice -n5 a": "a", "nice -5 a": "a",
		"nice --adjustment=5 a": "a", "timeout 5 a": "a", "timeout -k 1 -s KILL 5s a": "a", "timeout --foreground 1.5m a": "a", "stdbuf -oL -e0 a": "a",
		"chrt -i 0 a": "a", "taskset 0x3 a": "a", "taskset -c 0,1-3 a": "a", "time -pv a": "a", "ionice -c3 a": "a", "nohup -- a": "a", "setsid a": "a",
		"env": "", "env -i a": "", "env -S a": "", "env -C / a": "", "env -": "", "env - a": "", "env --unset PATH a": "", "nice": "", "nice -n a": "", "nice -x a": "",
		"timeout a": "", "timeout 5": "", "timeout 5 -a": "", "timeout -s$x 5 a": "", "timeout 5 $x": "", "stdbuf a -o": "a", "taskset -p 1": "", "taskset -a 1 a": "",
		"time -o f a": "", "setsid -f a": "", "nice '' a": "",
	} {
		s := Analyze(text)
		w, ok := Unwrap(s.Calls[len(s.Calls)-1].Words[0].Text, s.Calls[0].Words)
		if strings.HasPrefix(text, "time ") { // the keyword: ask for the program
			ok = true
			w, _ = Unwrap("time", Analyze("\\" + text).Calls[0].Words)
			s = Analyze("\\" + text)
		}
		got := ""
		if w.Why == "" {
			got = s.Calls[0].Words[w.Inner].Text
		}
		if !ok || got != want {
			t.Errorf("%q: inner %q, want %q (%s)", text, got, want, w.Why)
		}
	}
}

// TestP26_Bounded: texts made to be costly are judged soon, and what is too much is said.
func TestP26_Bounded(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, MaxText/len(s)) }
	for _, text := range []string{
		fill("("), fill("{ "), fill("a;"), fill("a|"), fill("a&&"), fill("! "), fill("if "), fill("`"), fill("$("), fill("${x:-"), fill("\"$("), fill("<<a "), fill("a=b "), fill("{a,b}"),
		fill("[["), fill("x "), fill("\\\n"), fill("'"), fill("$'"), fill("time "), fill("a[b]"), fill("#\n"), fill("case a in "), fill("function a "), fill("a() "), fill("coproc "), fill("{1..9}"),
		strings.Repeat("{1..9}", 8), "sh -c '" + fill("a;")[:MaxText-100] + "'", fill("do "), fill("[[ ! ! "), fill("$["), fill("(("), fill("a <(b) "), fill("~ "), fill(">x "),
	} {
		start := time.Now()
		s := Analyze(text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.20q took %v", text, took)
		}
		if len(s.Calls) > MaxCalls {
			t.Errorf("%.20q: %d commands", text, len(s.Calls))
		}
	}
	if s := Analyze(strings.Repeat("x", MaxText+1)); s.Understood() || s.Remarks[0].Rule != "P-26" {
		t.Error("a longer text was read")
	}
	if s := Analyze(strings.Repeat("a;", MaxCalls+1)); s.Understood() {
		t.Error("more commands were read")
	}
}

func TestP40_SedPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"sed p": "", "sed -n 1,5p x": "", "sed 's/a/b/g;s,c,d,'": "", "sed '/x/d' e": "", "sed -e 'a e id' x": "", "sed 'a\\\ne id'": "", "sed '$!N;P;D'": "",
		"sed 's/e/w/'": "", "sed 'y/e/w/'": "", "sed ':a;N;$!ba;s/\\n/ /g'": "", "sed '1!G;h;$!d'": "", "sed -E 's/(a)e/\\1/2gI'": "", "sed -f x": "", "sed '\\,e,p'": "",
		"sed e": "runs", "sed 1e": "runs", "sed 's/a/b/e'": "runs", "sed 's/a/b/w f'": "writes", "sed 'w f'": "writes", "sed '1,/x/{e\n}'": "runs", "sed -e p -e e": "runs",
		"sed --expression=e": "runs", "sed -ne 'e id'": "runs", "sed '0~4e'": "runs", "sed 's/a/b/;e'": "runs", "sed '}e'": "runs", "sed 's/a/b'": "runs", "sed 'a x\ne'": "runs",
		"sed -i.e 's/a/b/' x": "", "sed -s -n -- e": "runs", "sed '/[/]/e'": "runs", "sed '#n\ne'": "runs", "sed 'bx;e'": "runs", "sed ':a e'": "runs", "sed 'r f\ne'": "runs",
	} {
		runs, writes, _ := sedProgram(Analyze(text).Calls[0].Words)
		got := ""
		switch {
		case runs != "":
			got = "runs"
		case writes != "":
			got = "writes"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestP22_Builtins(t *testing.T) {
	for name, want := range map[string]BuiltinKind{
		":": BuiltinHarmless, "cd": BuiltinHarmless, "[": BuiltinProgram, "kill": BuiltinProgram, ".": BuiltinOther, "eval": BuiltinOther,
		"ls": NotBuiltin, "": NotBuiltin, "e": NotBuiltin, " ": NotBuiltin, "true false": NotBuiltin,
	} {
		if got := Builtin(name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}

// TestP60_DeepPlans: what is judged can be handed on, as deep as it may be.
func TestP60_DeepPlans(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a && ", MaxCalls-1) + "a", strings.Repeat("a || a && ", MaxCalls/2-1) + "a", strings.Repeat("if a; then ", 900) + "a" + strings.Repeat("; fi", 900),
		strings.Repeat("while a; do ", 900) + "a" + strings.Repeat("; done", 900), strings.Repeat("{ ", MaxDepth) + "a" + strings.Repeat("; }", MaxDepth), strings.Repeat("( ", MaxDepth) + "a" + strings.Repeat(" )", MaxDepth),
		"if a; then a; " + strings.Repeat("elif a; then a; ", 900) + "fi",
	} {
		s := Analyze(text)
		if !s.Understood() {
			t.Errorf("%.20q: %v", text, s.Remarks)
			continue
		}
		p := &Plan{Root: s.Root, Starts: make([]Start, len(s.Calls))}
		if _, err := DecodePlan(p.Encode()); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
