package shell

import (
	"reflect"
	"testing"
)

// FuzzAnalyze: any text is read, twice in the same way, and all places lie in it (P-72).
func FuzzAnalyze(f *testing.F) {
	for _, text := range []string{
		"git status", "a && b || c; d | e |& f", "sh -c 'a \"b c\" | d'", `bash -lc "cd x && git \"y\""`, "if a; then b; fi", "for i in a {1..3}; do b; done",
		"a $(b) `c` <(d) ${e:-f} $((g)) \"$h\"", "cat <<E\nx\nE", "A=b c 2>&1 >/dev/null", "$'\\x41\\u00e9'", "a{b,{c,d}}e ~ * [x]", "f() { a; }", "sh -c 'sh -c \"sh -c a\"'",
		"x=$(a) b", "coproc a", "[[ a =~ b ]]", "case a in b) c;; esac", "a \\\nb #c\\\nd", "time -p a | b", "! a", "(a; b) 2>/dev/null", "\xff", "a\x00b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Analyze(text)
		checkSpans(t, s, len(text))
		if s.Understood() {
			checkTree(t, s.Root, len(s.Calls))
		}
		for _, c := range append(s.Calls, s.Hidden...) {
			useCall(c)
		}
		if again := Analyze(text); !reflect.DeepEqual(s.Remarks, again.Remarks) || len(s.Calls) != len(again.Calls) || !reflect.DeepEqual(s.Root, again.Root) {
			t.Errorf("%q is read in two ways", text)
		}
	})
}

func checkSpans(t *testing.T, s *Script, length int) {
	t.Helper()
	inside := func(what string, sp Span) {
		if sp.Start < 0 || sp.Start > sp.End || sp.End > length {
			t.Errorf("%s at %v of %d bytes of %q", what, sp, length, s.Text)
		}
	}
	for _, r := range s.Remarks {
		inside("remark", r.Span)
	}
	for _, c := range append(s.Calls, s.Hidden...) {
		inside("call", c.Span)
		for _, w := range c.Words {
			inside("word", w.Span)
		}
		for _, a := range c.Assigns {
			inside("assignment", a.Span)
		}
		for _, r := range c.Redirs {
			inside("redirection", r.Span)
		}
		if c.Inner != nil {
			checkSpans(t, c.Inner, length)
		}
	}
}

// checkTree: what was understood is whole, and names its calls once each.
func checkTree(t *testing.T, s *Stmt, calls int) {
	t.Helper()
	if s == nil {
		t.Fatal("a hole in a tree that was understood")
	}
	if s.Kind == KindCall && (s.Call < 0 || s.Call >= calls) {
		t.Errorf("call %d of %d", s.Call, calls)
	}
	for _, kid := range s.Kids {
		checkTree(t, kid, calls)
	}
}

// useCall lets every table look at the words, whatever the program is.
func useCall(c *Call) {
	for _, name := range []string{"env", "timeout", "nice", "taskset", "chrt", "stdbuf", "time"} {
		Unwrap(name, c.Words)
	}
	for _, name := range []string{"python3", "node", "perl", "sh", "awk", "make", "vim", "deno", "R", "php"} {
		InlineCode(name, c.Words)
	}
	for _, name := range []string{"git", "tar", "sed", "awk", "find", "make", "vim", "less", "xargs", "go"} {
		Carrier(name, c.Words)
	}
	SedWrites("sed", c.Words)
}

func FuzzAnsiC(f *testing.F) {
	f.Add(`a\x41\101\u00e9\n\'\q`)
	f.Fuzz(func(t *testing.T, raw string) {
		value, offsets, why := ansiC(raw)
		if why == "" && len(value) != len(offsets) {
			t.Errorf("%q: %d bytes and %d offsets", raw, len(value), len(offsets))
		}
	})
}
