package oracle

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oneCase is what the oracle needs of a case.
type oneCase struct {
	ID, Family, Command string
	Expect              struct{ Allowed bool }
}

// readCases are the judge's own cases (P-70).
func readCases(t *testing.T) []oneCase {
	t.Helper()
	var all []oneCase
	for _, name := range []string{"policy.json", "safebin.json"} {
		data, err := os.ReadFile(filepath.Join("..", "policy", "testdata", name))
		must(t, err)
		var some []oneCase
		must(t, json.Unmarshal(data, &some))
		all = append(all, some...)
	}
	return all
}

// families are the kinds of wrong allows in the cases, each with the mutation that is its
// own: it plants the fault into a command that is allowed.
var families = map[string]func(g grammar, allowed string) string{
	"chain": func(g grammar, s string) string {
		return s + g.pick("; id", " && id", " || id", "\nid", "&id", " & id", "|id", " |& id", ";\nid", "&&\nid", "\\\n;id")
	},
	"substitution": func(g grammar, s string) string {
		return s + g.pick(" $(id)", " `id`", ` "$(id)"`, " <(id)", " >(id)", " $((`id`))", " ${X:-$(id)}", " <<E\n$(id)\nE", " <<<$(id)", " $'a'$(id)", " \"`id`\"", " ${X[$(id)]}", "$(id)")
	},
	"builtin": func(g grammar, s string) string {
		return g.pick("eval ", "eval '"+s+"; id' #", "exec id; ", "source x.sh; ", ". ./x.sh; ", "trap id EXIT; ", "alias git=id\n", "enable -n echo; ", "hash -p ../bin/id git; ", "builtin ", "command ", "coproc id; ",
			"shopt -s expand_aliases; ", "set -k; ", "export PATH=.; ", "declare -f git; ", "git() { id; }; ", "function git { id; }; ", "unset PATH; ") + s
	},
	"redirection": func(g grammar, s string) string {
		return s + g.pick(" > out", " >> out", " < list0", " 2> out", " &> out", " >| out", " <> out", " 3> out", " {x}> out", " >&out", " > /dev/null > out", " >/dev/tcp/127.0.0.1/1", " <<E\nid\nE", " 2>&1 > out", ">/dev/null;id")
	},
	"environment": func(g grammar, s string) string {
		return g.pick("LD_PRELOAD=./x.so ", "PATH=. ", "PATH=.:$PATH ", "BASH_ENV=x.sh ", "GIT_PAGER=id ", "IFS=i ", "A=$(id) ", "PATH=.; ", "typeset PATH=.; ", "readonly PATH=.; ", "env PATH=. ", "env LD_PRELOAD=x ", "A[$(id)]=1 ", "A+=x ", "PS4=x ") + s
	},
	"path": func(g grammar, s string) string {
		word, rest, _ := strings.Cut(s, " ")
		return g.pick("./"+word, "../bin/id", "sub/../git", ".//git", "/proc/self/cwd/git", "link/../ls", "./ls", "/bin/../bin/id", "cd sub && ./id", "cd link/.. && ./ls", "(cd sub); ./id", "~/bin/id", "bin/"+word, "./work/../git") + " " + rest
	},
	"wrapper": func(g grammar, s string) string {
		return g.wrapper() + g.pick("id", "id; "+s, "sh -c id", "-- id", s+"; nice id", g.wrapper()+"id", "'id'", "$X", s)
	},
	"shell": func(g grammar, s string) string {
		q := strings.ReplaceAll(s, "'", `'\''`)
		return g.pick("sh -c '"+q+"; id'", "bash -lc '"+q+"' id", "sh -c id", "bash -c \""+strings.ReplaceAll(s, `"`, `\"`)+"; $0\" id", "sh x.sh", "bash -ic '"+q+"'", "sh -c '$0' id", "bash --rcfile x.sh -c '"+q+"'", "echo id | sh",
			"sh -s <x.sh", "busybox sh -c id", "sh -c \"sh -c 'id'\"", "bash -O expand_aliases -c 'alias git=id\n"+q+"'", "sh -c '"+q+"'")
	},
	"argPattern": func(g grammar, s string) string {
		return g.pick("find . -name a.txt -exec id {} +", "find . -name a.txt\\ -exec", "find . -name 'a' -delete", "find . -name a -o -exec id", "find . -name $X", "find . -name a; id", "find . -name \"a\nb\"", "find . -name a.txt", "find -name a", "find . -name *")
	},
	"inline-eval": func(g grammar, s string) string {
		return g.pick("python3 -c 'import os;os.system(\"id\")'", "awk 'BEGIN{system(\"id\")}'", "perl -e 'exec \"id\"'", "node -e 1", "sed 1e\\ id a.txt", "xargs id", "echo id | bash", "find . -exec id +", "make --eval='x:;id' x", "tar --to-command=id -xf x", "vim -c '!id'") + g.pick("", " ; "+s, " | "+s)
	},
	"leaf-option": func(g grammar, s string) string {
		return g.pick("sort -S 1k --compress-program=./x.sh", "git -c alias.st='!id' st", "git -c core.pager=id log", "tar -I id -cf x a.txt", "rg --pre id a", "git --exec-path=. x", "sort --compress-prog=id", "make -f x.mk", "git grep -O id x") + g.pick("", " | "+s, "; "+s)
	},
	"odd-text": func(g grammar, s string) string {
		at := g.r.IntN(len(s) + 1)
		return s[:at] + g.pick("\u00a0", "\u200b", "\x0b", "\x0c", "\r", "\x00", "\x7f", "\u2028", "\u202e", "\x1b", "\xff", "\u3000", "\ufeff", "\u0085", "\r\n", "＆", "；") + g.pick("", "id") + s[at:]
	},
	"everyday": func(g grammar, s string) string {
		return s + g.pick(" | sort a.txt", " | grep one", " | tee x", " | xargs id", " | head a.txt", " > x", " | less", " && rm x")
	},
	"safebin": func(g grammar, s string) string {
		return s + " | " + g.safeBin() + g.pick("", " a.txt", " -- a.txt", " ./a.txt", " -f", " $X", " *", " --x", " -o x")
	},
}

// TestFamilies: every family of wrong allows in the cases has a mutation of its own.
func TestFamilies(t *testing.T) {
	for _, c := range readCases(t) {
		if !c.Expect.Allowed && families[c.Family] == nil {
			t.Errorf("%s: the family %q has no mutation", c.ID, c.Family)
		}
	}
}

// tokens are what random mutations put into commands.
var tokens = []string{
	" ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")", "{ ", " }", "'", "\"", "\\", "$", "`", "$(", "${", "}", "<", ">", "2>&1", ">/dev/null", "<<E\n", "#", "*", "?", "[", "]", "~", "=", "!", "-", "--", "-c ", "id", "git", "sh -c ", "nice ",
	"env ", "cd sub && ", "if ", "; then ", "; fi", "for i in ", "; do ", "; done", "time ", "eval ", "A=b ", "\\\n", "$'", "é", "\t", "{a,b}", "coproc ", "function ", "() ", "case x in ", ";; esac", "[[ ", " ]]", "((", "))", "select ", "./", "../",
}

// mutate changes a command in one to three places.
func mutate(g grammar, s string) string {
	for range 1 + g.r.IntN(3) {
		at := g.r.IntN(len(s) + 1)
		switch g.r.IntN(6) {
		case 0, 1:
			s = s[:at] + g.pick(tokens...) + s[at:]
		case 2: // take some bytes out
			s = s[:at] + s[min(at+1+g.r.IntN(4), len(s)):]
		case 3: // a part twice
			end := min(at+1+g.r.IntN(8), len(s))
			s = s[:end] + s[at:end] + s[end:]
		case 4: // swap two words
			words := strings.Split(s, " ")
			i, k := g.r.IntN(len(words)), g.r.IntN(len(words))
			words[i], words[k] = words[k], words[i]
			s = strings.Join(words, " ")
		case 5:
			s = g.pick("sh -c "+g.quoted(s), "("+s+")", "{ "+s+"; }", "nice "+s, s+" | cat", "! "+s, "time "+s, "cd sub && "+s, "if "+s+"; then git; fi", s+" 2>&1")
		}
	}
	return s
}

// source gives one command after the other, with the family it is counted under.
type source struct {
	g     grammar
	cases []oneCase
	seeds []string // commands that were allowed
	names []string // of families
}

func newSource(t *testing.T, seed uint64) *source {
	s := &source{g: grammar{rand.New(rand.NewPCG(seed, 71))}, cases: readCases(t), seeds: []string{"git status", "ls -la | head -5", "cd sub && git log", "echo a && cat b"}}
	for name := range families {
		s.names = append(s.names, name)
	}
	return s
}

func (s *source) next() (family, command string) {
	switch n := s.g.r.IntN(10); {
	case n < 4:
		return "grammar", s.g.command()
	case n < 6:
		c := &s.cases[s.g.r.IntN(len(s.cases))]
		return "case " + c.Family, mutate(s.g, strings.ReplaceAll(c.Command, "{CWD}", "."))
	case n < 8:
		name := s.names[s.g.r.IntN(len(s.names))]
		return "plant " + name, families[name](s.g, s.g.pick(s.seeds...))
	}
	return "mutated", mutate(s.g, s.g.pick(s.seeds...))
}

// allowed feeds a command that was allowed back, so that later ones begin there.
func (s *source) allowed(command string) {
	if len(command) > 200 {
		return
	}
	if len(s.seeds) < 400 {
		s.seeds = append(s.seeds, command)
		return
	}
	s.seeds[s.g.r.IntN(len(s.seeds))] = command
}
