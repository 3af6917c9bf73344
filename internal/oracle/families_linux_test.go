package oracle

import (
	"math/rand/v2"
	"strings"
	"testing"
)

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

// TestFamilies: every family of wrong allows in the cases has a mutation of its own, which
// changes what it is given, and there is none of a family that is gone.
func TestFamilies(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range readCases(t) {
		if c.Expect.Allowed {
			continue
		}
		seen[c.Family] = true
		if families[c.Family] == nil {
			t.Errorf("%s: the family %q has no mutation", c.ID, c.Family)
		}
	}
	g := grammar{rand.New(rand.NewPCG(1, 1))}
	for name, plant := range families {
		if !seen[name] {
			t.Errorf("no case that is refused is of the family %q", name)
		}
		made := map[string]bool{}
		for range 100 {
			made[plant(g, "git a")] = true
		}
		if delete(made, "git a"); len(made) < 8 {
			t.Errorf("%s: only %d different mutations", name, len(made))
		}
	}
}
